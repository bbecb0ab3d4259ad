"""Reads what an English statement says: its content words, amounts, bounds and negations.

Articles, pronouns of the team and auxiliary verbs say nothing and are left out. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from remembrancer.agreement.amounts import Amount, read_amount
from remembrancer.agreement.lexicon import (
    MAX_PHRASE_WORDS,
    Entry,
    Phrase,
    find_negation,
    is_phrase_start,
    look_up,
    stem,
)
from remembrancer.agreement.sentence_words import split_statement
from remembrancer.agreement.word_sets import load_bounds, load_modals, load_sets

MAX_WORDS = 120
SPANS = ("minute", "month")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a statement says: a word, a phrase or an amount.

    `marker` is the preposition before it; `is_light` is true for words that can be left out.
    """

    text: str
    stems: tuple[str, ...] = ()
    entry: Entry | None = None
    amount: Amount | None = None
    marker: str = ""
    is_name: bool = False
    is_light: bool = False


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """What a statement says, in order."""

    terms: tuple[Term, ...]
    negations: int = 0
    bounds: frozenset[str] = frozenset()
    modal: str = ""
    is_passive: bool = False
    skeleton: tuple[str, ...] = ()
    """The stems of all words but articles, to compare their order."""


@lru_cache(maxsize=4096)
def parse_statement(text: str, single: frozenset[Phrase] = frozenset()) -> ParsedStatement:
    """Read up to 120 words of a statement; the words of `single` phrases are read one by one."""
    return _Reader(split_statement(text)[:MAX_WORDS], single).read()


class _Reader:
    """Reads words from left to right."""

    def __init__(self, words: Sequence[str], single: frozenset[Phrase]) -> None:
        self._words = words
        self._single = single
        self._folded = [word.casefold() for word in words]
        self._stems = [stem(word) for word in self._folded]
        self._at = 0
        self._found: list[Term] = []
        self._negations = 0
        self._bounds: set[str] = set()
        self._marker = ""

    def read(self) -> ParsedStatement:
        while self._at < len(self._words):
            self._at += self._read_next()
        tables = load_sets()
        silent = tables["articles"] | tables["members"]
        skeleton = [
            stem for word, stem in zip(self._folded, self._stems, strict=True) if word not in silent
        ]
        modal = self._find_modal()
        self._turn_bounds()
        return ParsedStatement(
            tuple(self._found),
            self._negations,
            frozenset(self._bounds),
            modal,
            _is_passive(self._folded),
            tuple(skeleton),
        )

    def _find_modal(self) -> str:
        """The first word for a duty or a permission, unless something is negated."""
        for at, word in enumerate(self._words if not self._negations else ()):
            is_verb = word not in ("have", "has") or self._words[at + 1 : at + 2] == ["to"]
            modal = load_modals().get(word) if is_verb else None
            if modal:
                return modal
        return ""

    def _turn_bounds(self) -> None:
        """Read "not more than" as "at most"."""
        for bound, turned in (("more", "most"), ("less", "least")):
            if bound in self._bounds and self._negations % 2:
                self._bounds = self._bounds - {bound} | {turned}
                self._negations -= 1

    def _read_next(self) -> int:
        """Read what begins here; returns how many words it takes."""
        for reader in (self._read_bound, self._read_number, self._read_negation, self._read_phrase):
            if taken := reader():
                return taken
        return self._read_word()

    def _read_bound(self) -> int:
        """Read a limit of what follows: "at least", "up to", "only"."""
        for phrase, bound in load_bounds().items():
            end = self._at + len(phrase)
            if tuple(self._folded[self._at : end]) == phrase and self._can_bound(bound, end):
                self._bounds.add(bound)
                return len(phrase)
        return 0

    def _can_bound(self, bound: str, end: int) -> bool:
        """True if a limit of an amount stands before one: "over 80 percent", not "over Kafka"."""
        if bound == "only":
            return not load_sets()["conditions"] & set(self._folded[end : end + 3])
        if bound not in ("more", "less", "about"):
            return True
        found = read_amount(self._folded[end:])
        return found is not None and not (found.amount.unit in SPANS and self._is_over(end))

    def _is_over(self, end: int) -> bool:
        """True for "over three years": while they last."""
        return self._folded[end - 1] == "over"

    def _read_number(self) -> int:
        found = read_amount(self._folded[self._at :])
        if found is None or self._is_pronoun_one(found.length):
            return 0
        self._add(Term(self._folded[self._at], amount=found.amount))
        return found.length

    def _is_pronoun_one(self, length: int) -> bool:
        """True for "one" where it does not count: "the Ghent one", "one must pay"."""
        if self._folded[self._at] != "one" or length > 1:
            return False
        following = self._folded[self._at + 1 : self._at + 2]
        return not following or following[0] in load_sets()["auxiliaries"]

    def _read_negation(self) -> int:
        for length in self._phrase_lengths():
            phrase = tuple(self._stems[self._at : self._at + length])
            positive = find_negation(phrase)
            if positive is not None and not self._is_name_here(length):
                self._negations += 1
                self._add_positive(positive)
                return length
        return 0

    def _add_positive(self, positive: tuple[str, ...]) -> None:
        silent = load_sets()["silent"]
        if positive and not silent.issuperset(positive):
            self._add_phrase(positive)

    def _read_phrase(self) -> int:
        for length in self._phrase_lengths():
            phrase = tuple(self._stems[self._at : self._at + length])
            if length > 1 and phrase not in self._single and look_up(phrase) is not None:
                self._add_phrase(phrase)
                return length
        return 0

    def _phrase_lengths(self) -> Iterator[int]:
        longest = min(MAX_PHRASE_WORDS, len(self._words) - self._at)
        following = self._folded[self._at + 1 :]
        is_before_amount = self._folded[self._at] in load_sets()["prepositions"] and (
            read_amount(following) is not None
        )
        if is_phrase_start(self._stems[self._at]) and not is_before_amount:
            yield from range(longest, 1, -1)
        yield 1

    def _read_word(self) -> int:
        folded, is_name = self._folded[self._at], self._is_name_here(1)
        tables = load_sets()
        if not is_name and folded in tables["prepositions"]:
            self._marker = folded
            return 1
        if not is_name and (folded in tables["articles"] or folded in tables["members"]):
            return 1
        if not is_name and folded in tables["auxiliaries"]:
            self._marker = ""
            return 1
        self._add_phrase((self._stems[self._at],), text=folded, is_name=is_name)
        return 1

    def _is_name_here(self, length: int) -> bool:
        """True for a word with a capital, a digit or an underscore that is no plain word."""
        if length > 1:
            return False
        word = self._words[self._at]
        if re.search(r"[\d_/*#@]", word) or re.search(r"[a-z][A-Z]", word):
            return True
        return word[:1].isupper()

    def _add_phrase(self, stems: tuple[str, ...], *, text: str = "", is_name: bool = False) -> None:
        light = load_sets()["light"]
        is_light = not is_name and " ".join(stems) in light
        self._add(
            Term(text or " ".join(stems), stems, look_up(stems), is_name=is_name, is_light=is_light)
        )

    def _add(self, word: Term) -> None:
        self._found.append(replace(word, marker=self._marker))
        if not word.is_light:
            self._marker = ""


def _is_passive(folded: Sequence[str]) -> bool:
    """True if a form of "be" or "get" stands before a participle."""
    tables = load_sets()
    for at, word in enumerate(folded):
        if word not in tables["be"]:
            continue
        for number in range(at + 1, min(at + 4, len(folded))):
            if folded[number].endswith(("ed", "en")) or folded[number] in tables["participles"]:
                return True
    return False
