"""Finds the things that a person says they parted with. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remembrancer.learn.wording.word_list import load_word_lists
from remembrancer.search.language import Language

MIN_THING_CHARS = 4

_CLAUSE = re.compile(r"[^.,;!?…\n]+")
_TOKEN = re.compile(r"[\w'-]*\w'?")


def find_parted_words(said: str, languages: frozenset[Language]) -> Iterator[str]:
    """The last word of each thing: "Golf" in "I sold the old Golf", not in "Golf clubs"."""
    parted = load_word_lists("change.toml")["parted"]
    for clause in _CLAUSE.findall(said):
        for found in parted.find_all(clause, languages):
            yield from _find_after(clause[found.end() :], languages)
            yield from _find_before(clause[: found.start()], languages)


def _find_after(rest: str, languages: frozenset[Language]) -> Iterator[str]:
    """The thing right after the verb, if nothing follows that makes it another thing."""
    tokens = _split_tokens(rest)
    while tokens and _is_listed("determiner", tokens[0], languages):
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[0][0].isupper() and tokens[1][0].isupper():
        tokens = tokens[1:]
    if tokens and (len(tokens) == 1 or _is_listed("follows", tokens[1], languages)):
        yield from _strip_elision(tokens[0])


def _find_before(start: str, languages: frozenset[Language]) -> Iterator[str]:
    """The thing before the verb: "the Golf got stolen", "den Golf habe ich verkauft"."""
    tokens = _split_tokens(start)
    while tokens and _is_listed("follows", tokens[-1], languages):
        tokens = tokens[:-1]
    if not tokens:
        return
    before = tokens[:-1]
    while before and before[-1][0].isupper() and not _is_listed("follows", before[-1], languages):
        before = before[:-1]
    while before and _is_listed("determiner", before[-1], languages):
        before = before[:-1]
    if not before or _is_listed("follows", before[-1], languages):
        yield from _strip_elision(tokens[-1])


def _strip_elision(token: str) -> Iterator[str]:
    word = re.sub(r"^[ldLD]'|'s?$", "", token)
    if len(word) >= MIN_THING_CHARS:
        yield word


def _split_tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.replace("l'", "l' "))


def _is_listed(name: str, token: str, languages: frozenset[Language]) -> bool:
    patterns = load_word_lists("change.toml")[name].patterns
    return any(one in languages and patterns[one].fullmatch(token) for one in patterns)
