"""Searching an index by words alone, for tests that look at one signal at a time."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.search.shortlist import iter_by_score
from remembrancer.search.signals import compute_bm25
from remembrancer.store.contract import Filter, Hit, Reader


def by_words(reader: Reader, terms: Sequence[str], wanted: Filter, limit: int) -> list[Hit]:
    """The best by BM25 among what passes the filter."""
    index = reader.load_index("any")
    scores, _ = compute_bm25(index, terms)
    found: list[Hit] = []
    for batch in iter_by_score(index, scores, wanted.kinds, limit, above=0.0):
        ids = [index.ids[place] for place in batch]
        passing = reader.matching(ids, wanted)
        found += [
            Hit(one, round(float(scores[index.places[one]]), 6)) for one in ids if one in passing
        ]
    return found[:limit]
