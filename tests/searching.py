"""Searching an index by words alone, for tests that look at one signal at a time."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.search.ranked import best_first
from remembrancer.search.signals import bm25
from remembrancer.store.contract import Filter, Hit, Reader


def by_words(reader: Reader, terms: Sequence[str], wanted: Filter, limit: int) -> list[Hit]:
    """The best by BM25 among what passes the filter."""
    index = reader.index("any")
    scores, _ = bm25(index, terms)
    found: list[Hit] = []
    for batch in best_first(index, scores, wanted.kinds, limit, above=0.0):
        ids = [index.ids[place] for place in batch]
        passing = reader.passing(ids, wanted)
        found += [
            Hit(one, round(float(scores[index.places[one]]), 6)) for one in ids if one in passing
        ]
    return found[:limit]
