"""Tells whether two similar statements can be the same one. No I/O.

Vectors cannot: "flies out on Monday" and "flies back on Friday" are neighbours.
"""

from __future__ import annotations

import re
from functools import cache

from remembrancer.search.terms import extract_terms
from remembrancer.search.word_tables import load_tables

_WORD = re.compile(r"[\w'’-]*\w")
_DIGITS = re.compile(r"\d")


def can_be_the_same(new: str, old: str) -> bool:
    """False if names, numbers, days, directions or negations differ, or their order does."""
    same_words = sorted(_telling_words(new)) == sorted(_telling_words(old))
    return same_words and _in_same_order(new, old)


def adds_nothing(new: str, old: str) -> bool:
    """True if every word of the new statement is in the old one."""
    return set(extract_terms(new)) <= set(extract_terms(old))


def _telling_words(text: str) -> list[str]:
    """The names, numbers, days, directions and negations of a text, in order."""
    words = _WORD.findall(text.replace("’", "'"))
    lists = _load_words()
    return [
        word.casefold()
        for number, word in enumerate(words)
        if _DIGITS.search(word) or word.casefold() in lists or (number and word[:1].isupper())
    ]


def _in_same_order(new: str, old: str) -> bool:
    """Compare the order of the words that both texts have."""
    mine, theirs = extract_terms(new), extract_terms(old)
    shared = set(mine) & set(theirs)
    return [one for one in mine if one in shared] == [one for one in theirs if one in shared]


@cache
def _load_words() -> frozenset[str]:
    lists = load_tables(__package__, "likeness.toml").values()
    return frozenset(word for words in lists for word in words.split())
