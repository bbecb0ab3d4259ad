"""Nearest neighbours by vector: the in-memory index first, then the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from remembrancer.store.contract import (
    Embedding,
    Filter,
    Hit,
    Position,
    Reader,
)
from remembrancer.types import (
    Record,
)

if TYPE_CHECKING:
    from remembrancer.search.index import Index
    from remembrancer.search.ranked import Floats


def nearest(reader: Reader, query: Embedding, wanted: Filter, limit: int) -> list[Hit]:
    """The most similar memories that pass, with their exact similarity to the query."""
    from remembrancer.search.ranked import best_first
    from remembrancer.search.signals import NOWHERE

    index = reader.index(query.model)
    scores = similar(reader, index, query)
    passing: dict[str, Record] = {}
    for batch in best_first(index, scores, wanted.kinds, 4 * limit, above=NOWHERE):
        passing |= reader.passing([index.ids[place] for place in batch], wanted)
        if len(passing) >= 2 * limit:
            break
    else:
        passing |= _others(reader, index, scores, wanted) if index.overflows else {}
    exact = reader.similarities(query, list(passing))
    return sorted(exact, key=lambda hit: (-hit.score, hit.id))[:limit]


def _others(reader: Reader, index: Index, scores: Floats, wanted: Filter) -> dict[str, Record]:
    """What passes of the documents whose vectors are neither in memory nor among the nearest."""
    from remembrancer.search.ranked import BATCH, best_first
    from remembrancer.search.signals import NOWHERE

    found: dict[str, Record] = {}
    for batch in best_first(index, -scores, wanted.kinds, BATCH, above=-NOWHERE - 1e-6):
        found |= reader.passing([index.ids[place] for place in batch], wanted)
    return found


def similar(
    reader: Reader, index: Index, query: Embedding | None, *, as_evidence: bool = False
) -> Floats:
    """How similar each document is to the query, by vectors in memory and beyond."""
    from remembrancer.search.signals import similarity

    scores = similarity(index, query.vector if query else None, as_evidence=as_evidence)
    for hit in reader.beyond(query) if query and index.overflows else ():
        # What was stored after the index was read is not in it.
        if (place := index.places.get(hit.id, len(index))) < len(index):
            scores[place] = max(scores[place], hit.score)
    return scores


def everything(reader: Reader, wanted: Filter, page: int = 1000) -> Iterator[Record]:
    """All memories that pass a filter, newest first."""
    after: Position | None = None
    while found := reader.find(wanted, page, after):
        yield from found
        if len(found) < page:
            return
        after = Position(found[-1].recorded_at, found[-1].id)
