"""Picks the facts of an index that are worth loading for a prompt: arithmetic over arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from remembrancer.search.index import KINDS, Index
from remembrancer.search.language import FUNCTION_WORDS
from remembrancer.search.past import list_time_words
from remembrancer.search.postings import inverse_document_frequency
from remembrancer.search.terms import STOP_WORDS, WORD_PATTERN, encode_term, extract_terms, fold
from remembrancer.search.topics import list_words
from remembrancer.types import Kind

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

MAX_POOL = 96
"""The most facts that are loaded and judged one by one."""

TOPIC_HIT = 0.3
"""What a word of an asked topic counts when the pool is chosen."""

_PLAIN_WORDS = STOP_WORDS | {fold(word) for each in FUNCTION_WORDS.values() for word in each}


def extract_content_terms(text: str) -> list[str]:
    """The distinct terms of a prompt without function words, numbers and words for time."""
    words = (word for word in WORD_PATTERN.findall(fold(text)) if not word.isdigit())
    telling = [one for one in words if one not in _PLAIN_WORDS and one not in list_time_words()]
    return list(dict.fromkeys(extract_terms(" ".join(telling))))


def list_fact_places(index: Index) -> Places:
    """The places of all facts; cached until documents are added."""
    found = index.cache.get("fact_places")
    if found is None:
        code = KINDS.index(Kind.FACT)
        found = index.cache["fact_places"] = np.flatnonzero(index.kinds.values == code)
    return cast(Places, found)


def score_words(index: Index, terms: Sequence[str], facts: Places) -> Floats:
    """The share of the terms, weighted by rarity, that each document has."""
    scores, total = np.zeros(len(index), dtype=np.float32), 0.0
    for term in terms:
        documents, _ = index.words.find(encode_term(term))
        having = np.intersect1d(documents, facts)
        weight = inverse_document_frequency(len(having), len(facts))
        scores[having] += np.float32(weight)
        total += weight
    return scores / np.float32(total) if total else scores


def choose_pool(
    index: Index, similarity: Floats, words: Floats, topics: frozenset[str]
) -> list[int]:
    """The places of all facts, or of the most promising if there are many."""
    facts = list_fact_places(index)
    if len(facts) <= MAX_POOL:
        return cast("list[int]", facts.tolist())
    promise = np.maximum(similarity, 0) + words
    for code in frozenset[int]().union(*map(_encode_words, topics)):
        documents, _ = index.words.find(code)
        promise[documents] += np.float32(TOPIC_HIT)
    top = facts[np.argpartition(-promise[facts], MAX_POOL)[:MAX_POOL]]
    return cast("list[int]", np.sort(top).tolist())


@cache
def _encode_words(topic: str) -> frozenset[int]:
    return frozenset(map(encode_term, list_words(topic)))


def find_user_names(index: Index) -> frozenset[str]:
    """The name of the user, if all turns by a user with a name have the same one."""
    found = index.cache.get("user_names")
    if found is None:
        said = index.speakers.values[index.by_user.values & (index.sessions.values >= 0)]
        names = {index.speaker_names[number] for number in np.unique(said).tolist() if number}
        found = frozenset(names) if len(names) == 1 else frozenset()
        index.cache["user_names"] = found
    return cast("frozenset[str]", found)
