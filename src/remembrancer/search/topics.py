"""Finds the everyday topics of a text, in four languages. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import combinations

from remembrancer.search.concepts import read_words
from remembrancer.search.terms import extract_terms
from remembrancer.search.word_tables import load_tables
from remembrancer.search.words import split_words

MIN_PART_CHARS = 4
"""The shortest word that is looked for within another."""


@cache
def _load_words() -> Mapping[str, frozenset[str]]:
    """The topics of each word as it is written in the file, with its stars."""
    found: dict[str, set[str]] = defaultdict(set)
    for topic, table in load_tables(__package__, "topics.toml").items():
        for word in str(table["words"]).split():
            found[word].add(topic)
    return {word: frozenset(topics) for word, topics in found.items()}


@lru_cache(maxsize=4096)
def find_topics(text: str) -> frozenset[str]:
    """The topics that the words of a text belong to, or the concepts that they stand for."""
    return frozenset().union(
        *(
            _topics_of_word(word) | _topics_of_concepts(concepts)
            for word, concepts in read_words(text)
        )
    )


@lru_cache(maxsize=4096)
def _topics_of_concepts(concepts: frozenset[str]) -> frozenset[str]:
    """The topics that all concepts of a word have: "cook" is on food, not on jobs."""
    topics = [frozenset().union(*map(_topics_of_word, split_words(one))) for one in concepts]
    return frozenset.intersection(*topics) if topics else frozenset()


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


@lru_cache(maxsize=16_384)
def _topics_of_word(word: str) -> frozenset[str]:
    known = _load_words()
    forms = [word, *(f"{word[:end]}*" for end in range(2, len(word) + 1))]
    spans = combinations(range(len(word) + 1), 2)
    parts = [f"*{word[a:b]}*" for a, b in spans if b - a >= MIN_PART_CHARS]
    tails = [f"*{word[start:]}" for start in range(len(word) - MIN_PART_CHARS + 1)]
    hits = (known[form] for form in (*forms, *parts, *tails) if form in known)
    return frozenset[str]().union(*hits)
