"""Restates English clauses of a user in the third person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from remembrancer.learn.rules.patterns import load_rules
from remembrancer.search.language import Language
from remembrancer.text_format import add_verb_ending

FORMS = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "i'm": "they're", "i've": "they've", "i'll": "they'll", "i'd": "they'd",
    "we're": "they're", "we've": "they've", "we'll": "they'll", "we'd": "they'd",
}  # fmt: skip
FIRST_PERSON = re.compile(
    r"\b(?:I'(?:m|ve|ll|d)|we'(?:re|ve|ll|d)|I|me|my|mine|myself|we|us|our|ours|ourselves)\b"
)
AGREEMENT = re.compile(r"\bthey (am|was)\b")
NEGATION = re.compile(r"\b(?:do|did) not\b")
"""The verb after it has no ending."""

JOINED = r"(?:^|(?<= ))(?:and|or|but|then|plus)(?: then)? (?:<ADVERB> )*(?P<verb><VERB>)(?![\w'-])"
OBJECT = r" (?:it|them|him|her|me|us|my|our|his|their|an?|the|this|that|every|each|no|two|\d+)\b"
PLACE = r" (?:back|home|on|to|at|in|out|from|as|for)\b"
INFINITIVE = r"(?:.* )?to (?:<ADVERB> )*<VERB>"
OTHER_CLAUSE = re.compile(
    r"\b(?:to|who|which|that|when|while|if|because|since|what|how|where|why|whether|let|make|help"
    r"|see|watch|hear|I|we|you|they|he|she|it's)\b"
)
"""Words behind which a verb can have another subject, or no ending."""

IRREGULAR = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes", "was": "was"}
MAX_ADVERBS = 2


@dataclass(frozen=True, slots=True)
class _VerbPhrase:
    """What an English speaker says of themselves: "I do not just | cook | and bake"."""

    adverbs: str
    verb: str
    others: str

    @property
    def is_negated(self) -> bool:
        return NEGATION.search(self.adverbs) is not None


@dataclass(frozen=True, slots=True)
class _JoinedVerb:
    """A word that "and" joins to a verb, and that can be a verb, too."""

    start: int
    verb: str
    is_sure: bool
    is_likely: bool


def replace_pronouns(words: str) -> str:
    """Replace "I", "my" and the like by "they", "their" and the like."""
    restated = FIRST_PERSON.sub(lambda found: FORMS[found[0].lower()], words)
    return AGREEMENT.sub(lambda verb: "they are" if verb[1] == "am" else "they were", restated)


def restate(plain: str) -> str | None:
    """Restate a sentence in the third person; None if a verb is not known for sure.

    A subject "I" or "we" is left out.
    """
    if plain.partition(" ")[0] not in ("I", "we"):
        return replace_pronouns(plain[:1].lower() + plain[1:])
    said = _split_verb_phrase(plain)
    joined = _list_joined(said)
    counts = {"both", "all"} & set(said.adverbs.split())
    if not is_verb(said.verb) or not all(one.is_sure for one in joined):
        return None
    if counts and plain.startswith("we "):
        return None
    others = said.others
    for one in reversed(joined):
        end = one.start + len(one.verb)
        others = f"{others[: one.start]}{conjugate(one.verb)}{others[end:]}"
    verb = said.verb if said.is_negated else conjugate(said.verb)
    adverbs = said.adverbs.replace("do not", "does not")
    return f"{adverbs}{verb}{' ' if others else ''}{replace_pronouns(others)}"


def leaves_verb_bare(plain: str, content: str) -> bool:
    """True if a content in the third person has "work" as it was in "I live and work here"."""
    if plain.partition(" ")[0] not in ("I", "we"):
        return False
    likely = [one.verb for one in _list_joined(_split_verb_phrase(plain)) if one.is_likely]
    return any(conjugate(one) not in content for one in likely)


def _split_verb_phrase(plain: str) -> _VerbPhrase:
    rest = plain.partition(" ")[2]
    before = load_rules(Language.ENGLISH).vocabulary.compile("(?:<ADVERB> )*").match(rest)
    adverbs = before[0] if before else ""
    verb, _, others = rest[len(adverbs) :].partition(" ")
    return _VerbPhrase(adverbs, verb, others)


def _list_joined(said: _VerbPhrase) -> list[_JoinedVerb]:
    """The joined verbs that need an ending; those of "to cook and bake" need none."""
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    is_modal = vocabulary.equals("MODAL", said.verb)
    is_bare = is_modal or said.is_negated
    joined: list[_JoinedVerb] = []
    start = len(said.others.partition(" ")[0]) if is_modal else 0
    for found in vocabulary.compile(JOINED).finditer(said.others):
        between = said.others[start : found.start()].strip(" ,")
        verb, start = found["verb"], found.end()
        goes_for_both = is_bare and not between and not found[0].startswith("but")
        if goes_for_both or vocabulary.compile(INFINITIVE).fullmatch(between):
            continue
        has_object = vocabulary.compile(OBJECT).match(said.others, start) is not None
        is_pure = vocabulary.equals("PURE_VERB", verb)
        is_verb_here = not between or has_object or is_pure
        has_place = vocabulary.compile(PLACE).match(said.others, start) is not None
        is_unclear = is_bare or OTHER_CLAUSE.search(f"{said.verb} {between}") is not None
        is_sure = is_verb_here and not is_unclear
        is_likely = is_verb_here or has_place or said.is_negated
        joined.append(_JoinedVerb(found.start("verb"), verb, is_sure, is_likely))
    return joined


def is_verb(word: str) -> bool:
    """True for a known verb, and for what can only be a past tense."""
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    return vocabulary.equals("VERB", word) or vocabulary.equals("UNCHANGED", word)


def conjugate(verb: str) -> str:
    """The third person of a verb, which can be followed by more words; past tense stays."""
    first, gap, rest = verb.lower().partition(" ")
    if first in IRREGULAR:
        return IRREGULAR[first] + gap + rest
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    if vocabulary.equals("UNCHANGED", first) or first.endswith("s"):
        return verb
    return f"{add_verb_ending(first)}{gap}{rest}"


def list_first_persons(words: str) -> Iterator[str]:
    """What a person may have said, for a statement about them that does not name them."""
    told = words.split()
    for at, word in enumerate(told[: MAX_ADVERBS + 1]):
        before = " ".join([*told[:at], ""]).lower()
        for verb in _list_bases(word.lower()):
            yield f"I {before}{' '.join([verb, *told[at + 1 :]])}"
    yield f"My {words[:1].lower()}{words[1:]}"


def _list_bases(word: str) -> list[str]:
    """What may be the verb whose third person a word is."""
    regular = (word, word[:-1], word[:-2], f"{word[:-3]}y")
    return [one for one in (*IRREGULAR, *regular) if one and conjugate(one) == word]
