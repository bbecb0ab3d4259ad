"""Quoted words within the turn they are from, and the words two texts share. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from remembrancer.learn.wording.word_list import straighten
from remembrancer.search.language import FUNCTION_WORDS
from remembrancer.search.sentences import SENTENCE_END_PATTERN
from remembrancer.search.terms import extract_terms

MIN_STEM_CHARS = 4
"""Characters that two forms of one word must share: "broke", "broken"."""

_FILLER = "one ones thing things"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote, and the words around it: of its sentence, and of the whole turn."""

    quote: str
    before: str = ""
    after: str = ""
    earlier: str = ""
    later: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.before}{self.quote}{self.after}"


def find_passage(quote: str, turn: str) -> Passage:
    """Find a quote in a turn, ignoring case and spacing; alone if the turn does not contain it."""
    words, text = straighten(quote).strip(), straighten(turn)
    pattern = r"\s+".join(re.escape(one) for one in _WORD.findall(words))
    found = re.search(pattern, text, re.IGNORECASE) if words else None
    if found is None:
        return Passage(words)
    start, end = _find_sentence(text, found.start(), found.end())
    return Passage(
        found[0],
        before=text[start : found.start()],
        after=text[found.end() : end],
        earlier=text[:start],
        later=text[found.end() :],
    )


def find_terms(text: str) -> frozenset[str]:
    """The terms of a text without the function words of any language."""
    return frozenset(one for one in extract_terms(straighten(text)) if one not in _function_terms())


def shared_terms(terms: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """The terms that are, perhaps in another form, among the others."""
    known = list(others)
    return frozenset(one for one in terms if any(_is_alike(one, other) for other in known))


def _find_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The borders of the sentences that a span is part of."""
    borders = [(one.start(), one.end()) for one in SENTENCE_END_PATTERN.finditer(text)]
    first = max((after for _, after in borders if after <= start), default=0)
    last = min((before for before, _ in borders if before >= end), default=len(text))
    return first, last


def _is_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= MIN_STEM_CHARS and long.startswith(short))


@cache
def _function_terms() -> frozenset[str]:
    words = " ".join(word for known in FUNCTION_WORDS.values() for word in known)
    return frozenset(extract_terms(f"{words} {_FILLER}"))
