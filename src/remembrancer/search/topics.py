"""Finds the everyday topics and the kinship words of a text, in four languages. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import combinations

from remembrancer.search.terms import extract_terms, fold
from remembrancer.search.word_tables import load_tables

MIN_PART_CHARS = 4
"""The shortest word that is looked for within another."""

MAX_WORD_CHARS = 40
EDGE_CHARS = "\"'.,;:!?()[]{}«»“”„‘’…¿¡|/*"


@cache
def _load_words() -> Mapping[str, frozenset[str]]:
    """The topics of each word as it is written in the file, with its stars."""
    found: dict[str, set[str]] = defaultdict(set)
    for topic, table in load_tables(__package__, "topics.toml").items():
        for word in str(table["words"]).split():
            found[word].add(topic)
    return {word: frozenset(topics) for word, topics in found.items()}


@cache
def _load_kinship() -> tuple[Mapping[str, str], Mapping[str, list[str]]]:
    """The relation that each kinship word names, and the relations that a wider one covers."""
    tables = load_tables(__package__, "kinship.toml")
    relations: dict[str, str] = tables["words"]
    words = {word: name for name, words in relations.items() for word in words.split()}
    return words, tables["includes"]


@lru_cache(maxsize=4096)
def find_topics(text: str) -> frozenset[str]:
    """The topics that the words of a text belong to."""
    return frozenset().union(*map(_topics_of_word, split_words(text)))


def list_needed_topics(topic: str) -> frozenset[str]:
    """The topics of the facts that a question on this topic should not do without."""
    return _list_topics(topic, "needs")


def list_asked_topics(topic: str) -> frozenset[str]:
    """The topics of the facts that help with a question on this topic."""
    return _list_topics(topic, "asks")


@cache
def _list_topics(topic: str, name: str) -> frozenset[str]:
    named = load_tables(__package__, "topics.toml")[topic].get(name)
    return frozenset(named) if isinstance(named, list) else frozenset()


@cache
def list_words(topic: str) -> frozenset[str]:
    """The search terms of a topic's words."""
    words = str(load_tables(__package__, "topics.toml")[topic]["words"]).replace("*", "")
    return frozenset(extract_terms(words))


def find_relations(text: str) -> frozenset[str]:
    """The relations that the kinship words of a text name."""
    known, _ = _load_kinship()
    tokens = (token.split("-") if token not in known else [token] for token in _iter_tokens(text))
    return frozenset(known[word] for words in tokens for word in words if word in known)


def widen_relations(relations: frozenset[str]) -> frozenset[str]:
    """The relations, and those that they cover: children are sons and daughters."""
    _, covered = _load_kinship()
    return relations.union(*(covered.get(name, ()) for name in relations))


@lru_cache(maxsize=4096)
def split_words(text: str) -> tuple[str, ...]:
    """The folded words of a text; a hyphenated word counts whole and in parts."""
    tokens = (_split_token(token) for token in _iter_tokens(text))
    return tuple(dict.fromkeys(word for words in tokens for word in words))


def _iter_tokens(text: str) -> Iterator[str]:
    for token in fold(text).replace("’", "'").replace("_", " ").split():
        yield token.strip(EDGE_CHARS).removesuffix("'s")[:MAX_WORD_CHARS]


def _split_token(word: str) -> list[str]:
    parts = [part for part in word.replace("'", "-").replace("/", "-").split("-") if part]
    return [word, *parts] if len(parts) > 1 else parts


@lru_cache(maxsize=16_384)
def _topics_of_word(word: str) -> frozenset[str]:
    known = _load_words()
    forms = [word, *(f"{word[:end]}*" for end in range(2, len(word) + 1))]
    spans = combinations(range(len(word) + 1), 2)
    parts = [f"*{word[a:b]}*" for a, b in spans if b - a >= MIN_PART_CHARS]
    tails = [f"*{word[start:]}" for start in range(len(word) - MIN_PART_CHARS + 1)]
    hits = (known[form] for form in (*forms, *parts, *tails) if form in known)
    return frozenset[str]().union(*hits)
