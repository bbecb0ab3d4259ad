"""The word lists of a language, and the checks of matched words that use them."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from re import Pattern

from remembrancer.search.language import Language

MAX_OBJECT_CHARS = 120
MAX_OBJECT_WORDS = 18
NOTHING = "(?!)"
"""A pattern that matches nothing, for lists that a language does not have."""

CAPITALISED = r"(?-i:[A-ZÀ-ÖØ-Þ])"
NAME = rf"{CAPITALISED}(?-i:[a-zß-öø-ÿ]{{1,20}}(?:-{CAPITALISED}[a-zß-öø-ÿ]+)?)"
CAMEL_CASE = re.compile(r"[A-Z][a-z]+[A-Z]")
LONG_NAME = re.compile(
    rf"(?:(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herr|Mme)\.? )?{CAPITALISED}[\w'.-]*"
    rf"(?: (?:(?:de|der|den|van|von|da|di|del|la|bin|al) ){{0,2}}{CAPITALISED}[\w'.-]*){{0,3}}"
)
UNCAPPED_NAME = re.compile(r"[^\W\d_]{2,20}(?: [^\W\d_]{2,20})?")


def read_blocks(file_name: str) -> list[tuple[str, list[str]]]:
    """Read the unindented lines of a data file, each with the indented lines below it."""
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    blocks: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(" "):
            blocks[-1][1].append(line.strip())
        elif line and not line.startswith("#"):
            blocks.append((line, []))
    return blocks


@cache
def compile_words(pattern: str) -> Pattern[str]:
    return re.compile(pattern, re.I)


class Vocabulary:
    """The lists of `vocabulary.<language>.txt`, each as a pattern that matches one of its words.

    `replacements` are the substitutions that bring a clause into the form that patterns expect, and
    `possessives` those that tell whose mum it is.
    """

    def __init__(self, language: Language) -> None:
        blocks = dict(read_blocks(f"vocabulary.{language}.txt"))
        substitutions = {name: blocks.pop(name, []) for name in ("REPLACE", "OWN")}
        self.language = language
        self._compiled: dict[str, Pattern[str]] = {}
        self.words: dict[str, str] = {"NAME": NAME}
        for name, listed in blocks.items():
            self.words[name] = f"(?:{'|'.join(' '.join(listed).split())})".replace("_", " ")
        for name, pattern in self.words.items():
            self.words[name] = self.expand(pattern)
        self.replacements = self._parse_substitutions(substitutions["REPLACE"])
        self.possessives = self._parse_substitutions(substitutions["OWN"])

    def _parse_substitutions(self, lines: list[str]) -> list[tuple[Pattern[str], str]]:
        parts = (line.partition(" =>") for line in lines)
        return [
            (compile_words(self.expand(before)), after.strip().replace("_", " "))
            for before, _, after in parts
        ]

    def expand(self, pattern: str) -> str:
        """Replace each `<LIST>` by the words of that list, which can hold other lists."""
        listed = re.compile(r"<([A-Z_ ]+)>")
        while listed.search(pattern):
            pattern = listed.sub(
                lambda found: self.list_pattern(found[1].replace(" ", "_")), pattern
            )
        return pattern

    def list_pattern(self, name: str) -> str:
        return self.words.get(name, NOTHING)

    def find_text(self, name: str) -> str:
        """The only entry of a list, as it stands; empty if there is no such list."""
        return self.words.get(name, "").removeprefix("(?:").removesuffix(")")

    def compile(self, template: str) -> Pattern[str]:
        """Compile a pattern with the words of each `<LIST>`; once for each template."""
        if template not in self._compiled:
            self._compiled[template] = compile_words(self.expand(template))
        return self._compiled[template]

    def contains(self, name: str, words: str) -> bool:
        return self.compile(rf"\b<{name}>(?!\w)").search(words) is not None

    def starts(self, name: str, words: str) -> bool:
        return self.compile(rf"<{name}>\b").match(words) is not None

    def equals(self, name: str, words: str) -> bool:
        return self.compile(f"<{name}>").fullmatch(words) is not None

    def remove(self, name: str, words: str) -> str:
        return self.compile(rf"\b<{name}>\b").sub("", words)

    def normalise(self, words: str) -> str:
        """Write out contractions and leave out filler words."""
        plain = " ".join(words.replace("’", "'").replace("‘", "'").split())
        for before, after in self.replacements:
            plain = before.sub(after, plain)
        return plain

    def add_possessive(self, words: str) -> str:
        """Write "my mum" for "mum" at the start of a clause."""
        for before, after in self.possessives:
            words = before.sub(after, words)
        return words

    def check(self, name: str, words: str) -> bool:
        """Apply the check of that name; each accepts or refuses the words of `<x>`."""
        return bool(getattr(self, name)(words))

    def is_any(self, words: str) -> bool:
        return bool(words)

    def is_lasting(self, words: str) -> bool:
        """True unless it is about the day or too long."""
        return len(words) <= 2 * MAX_OBJECT_CHARS and not self.contains("MOMENTARY", words)

    def is_complete(self, words: str) -> bool:
        """True if the words can be understood without context, also later."""
        if len(words) > MAX_OBJECT_CHARS or len(words.split()) > MAX_OBJECT_WORDS:
            return False
        bare = self.remove("RELATIVE", words)
        return not any(
            self.contains(name, text)
            for name, text in (("VAGUE", words), ("DANGLING", bare), ("MOMENTARY", words))
        )

    def is_name(self, words: str) -> bool:
        """True if the words can name a person or a pet."""
        if self.starts("NO_NAME", words) or self.equals("NATIONALITY", words):
            return False
        return LONG_NAME.fullmatch(words) is not None

    def is_given_name(self, words: str) -> bool:
        return self.is_name(words) and not self.starts("NO_GIVEN_NAME", words)

    def is_introduced_name(self, words: str) -> bool:
        """True for a name that cannot be a nationality, a faith or an occupation instead."""
        others = ["NATURE", "DIET", "LANGUAGE", "FORMAT"]
        if self.language is Language.GERMAN:  # where occupations have a capital, too
            others.append("TRADE")
        return self.is_given_name(words) and not any(self.equals(name, words) for name in others)

    def is_name_in_any_case(self, words: str) -> bool:
        """Like `is_name`, but also accepts names without capitals."""
        uncapped = UNCAPPED_NAME.fullmatch(words) and not self.starts("NO_NAME", words)
        return bool(uncapped) or self.is_name(words)

    def is_place(self, words: str) -> bool:
        """True if the words can name a town or a country, judged by spelling."""
        if CAMEL_CASE.match(words) or self.starts("NO_PLACE", words) or re.search(r"\d", words):
            return False
        fits = self.compile(rf"(?:<PLACE_PREFIX> )*{CAPITALISED}.*").fullmatch(words)
        return fits is not None and self.is_complete(words)

    def is_kind_of_home(self, words: str) -> bool:
        return self.is_complete(words) and self.equals("KIND_OF_HOME", words)

    def is_home(self, words: str) -> bool:
        return self.is_place(words) or self.is_kind_of_home(words)

    def is_trade(self, words: str) -> bool:
        """True if the words describe a person by occupation, study or nature."""
        head = self._find_head(words)
        if not head or len(head.split()) > 5 or self.contains("NO_TRADE", head):
            return False
        parts = head.split()
        ends = (" ".join(parts[at : at + size]) for at in (0, -1, -2) for size in (1, 2))
        if "NOUN_FIRST" not in self.words:
            ends = (" ".join(parts[-size:]) for size in (1, 2))
        return any(self.equals("TRADE", end) for end in ends) and self.is_complete(words)

    def _find_head(self, words: str) -> str:
        """The noun with the adjectives before it, without what follows it."""
        bare = self.compile("^<ARTICLE> ").sub("", words)
        return self.compile(r"(?: <AFTER_HEAD>\b|,).*").sub("", bare)

    def is_occupation(self, words: str) -> bool:
        """True for an occupation for a living, of which most people have only one."""
        return self.is_trade(words) and not self.contains("NO_LIVING", self._find_head(words))

    def is_workplace(self, words: str) -> bool:
        fits = words[:1].isupper() or self.starts("WORKPLACE", words)
        return fits and not self.starts("NO_WORKPLACE", words) and self.is_complete(words)

    def is_employer(self, words: str) -> bool:
        return words.removeprefix("the ")[:1].isupper() and self.is_workplace(words)

    def is_study(self, words: str) -> bool:
        return self.is_complete(words) and self.starts("SUBJECT_OF_STUDY", words)

    def is_liked(self, words: str) -> bool:
        """True for a thing in general; false for something just talked about."""
        passing = self.starts("POINTING", words) or self.contains("PASSING", words)
        return self.is_complete(words) and not passing

    def is_favourite(self, words: str) -> bool:
        fits = self.is_complete(words) and len(words.split()) <= 8
        return fits and not self.starts("VAGUE_START", words)

    def is_substantial(self, words: str) -> bool:
        """True if a goal is more than a good intention."""
        fits = self.is_complete(words) and len(words.split()) >= 3
        return fits and not self.contains("GOOD_INTENT", words)

    def is_group(self, words: str) -> bool:
        return self.is_complete(words) and self.equals("A_GROUP", words)

    def is_step(self, words: str) -> bool:
        """True for an important step in life, false for an errand."""
        slight = self.contains("TRIVIAL", words) or self.contains("GOOD_INTENT", words)
        return self.is_complete(words) and len(words.split()) >= 2 and not slight

    def is_journey(self, words: str) -> bool:
        """True for a place that someone travelled to, false for an outing."""
        return self.is_place(words) and not self.contains("TRIVIAL", words)

    def is_resolve(self, words: str) -> bool:
        """True if a decision is about more than the day."""
        return self.is_substantial(words) and not self.starts("PASSING_RESOLVE", words)
