"""Tells whether two similar statements can be the same one. No I/O.

Vectors cannot: "flies out on Monday" and "flies back on Friday" are neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from remembrancer.search.terms import extract_terms
from remembrancer.search.word_tables import load_tables

_WORD = re.compile(r"[\w'’-]*\w")
_NUMBER = re.compile(r"\d|und(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:z|ß|ss)ig$|^veinti")


def can_be_the_same(new: str, old: str) -> bool:
    """False if names, numbers, days, directions or negations differ, or their order does."""
    same_words = sorted(_telling_words(new)) == sorted(_telling_words(old))
    return same_words and _in_same_order(new, old) and not _are_opposite(new, old)


def adds_nothing(new: str, old: str) -> bool:
    """True if every word of the new statement is in the old one."""
    return set(extract_terms(new)) <= set(extract_terms(old))


def is_calendar_word(word: str) -> bool:
    """True for the name of a day, of a month or of a time of day."""
    return word.casefold() in _load_lists()["days"]


def is_number_word(word: str) -> bool:
    """True for a number in words, such as "three" or "twice"."""
    return word.casefold() in _load_lists()["numbers"]


def _telling_words(text: str) -> list[str]:
    """The names, numbers, days, directions and negations of a text, in order."""
    words = _WORD.findall(text.replace("’", "'"))
    return [
        word.casefold()
        for number, word in enumerate(words)
        if _is_listed(word.casefold()) or (number and word[:1].isupper())
    ]


def _is_listed(word: str) -> bool:
    """True for a number, and for a word of the lists; "twenty-one" has two of them."""
    if _NUMBER.search(word):
        return True
    return not _load_words().isdisjoint((word, *word.split("-")))


def _are_opposite(new: str, old: str) -> bool:
    """True if one says "left" where the other says "right"."""
    mine, theirs = (set(_WORD.findall(text.casefold())) for text in (new, old))
    for sides in _load_opposites():
        first = {number for number, side in enumerate(sides) if side & mine}
        second = {number for number, side in enumerate(sides) if side & theirs}
        if first and second and first != second:
            return True
    return False


def _in_same_order(new: str, old: str) -> bool:
    """Compare the order of the words that both texts have."""
    mine, theirs = extract_terms(new), extract_terms(old)
    shared = set(mine) & set(theirs)
    return [one for one in mine if one in shared] == [one for one in theirs if one in shared]


@cache
def _load_words() -> frozenset[str]:
    return frozenset().union(*_load_lists().values())


@cache
def _load_lists() -> Mapping[str, frozenset[str]]:
    lists = {name: text for name, text in _load().items() if name != "opposites"}
    return {name: frozenset(text.split()) for name, text in lists.items()}


@cache
def _load_opposites() -> tuple[tuple[frozenset[str], ...], ...]:
    lines = _load()["opposites"].strip().splitlines()
    return tuple(tuple(frozenset(side.split()) for side in line.split("/")) for line in lines)


def _load() -> Mapping[str, str]:
    return load_tables(__package__, "likeness.toml")
