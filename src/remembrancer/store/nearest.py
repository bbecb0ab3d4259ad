"""Finds nearest neighbours by vector: the in-memory index first, then the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from remembrancer.store.contract import Embedding, Filter, Hit, Position, Reader
from remembrancer.types import Record

if TYPE_CHECKING:
    from remembrancer.search.index import Index
    from remembrancer.search.shortlist import Floats


def find_nearest(reader: Reader, query: Embedding, criteria: Filter, limit: int) -> list[Hit]:
    """The most similar memories that match, with their exact similarity to the query."""
    from remembrancer.search.shortlist import iter_by_score
    from remembrancer.search.signals import NO_SIMILARITY

    index = reader.load_index(query.model)
    scores = score_similarity(reader, index, query)
    matches: dict[str, Record] = {}
    for batch in iter_by_score(index, scores, criteria.kinds, 4 * limit, above=NO_SIMILARITY):
        matches |= reader.matching([index.ids[position] for position in batch], criteria)
        if len(matches) >= 2 * limit:
            break
    else:
        matches |= _load_unindexed(reader, index, scores, criteria) if index.overflows else {}
    exact = reader.compute_similarities(query, list(matches))
    return sorted(exact, key=lambda hit: (-hit.score, hit.id))[:limit]


def _load_unindexed(
    reader: Reader, index: Index, scores: Floats, criteria: Filter
) -> dict[str, Record]:
    """Matching memories whose vectors are neither in the index nor among the nearest outside it."""
    from remembrancer.search.shortlist import BATCH_SIZE, iter_by_score
    from remembrancer.search.signals import NO_SIMILARITY

    found: dict[str, Record] = {}
    for batch in iter_by_score(
        index, -scores, criteria.kinds, BATCH_SIZE, above=-NO_SIMILARITY - 1e-6
    ):
        found |= reader.matching([index.ids[position] for position in batch], criteria)
    return found


def score_similarity(
    reader: Reader, index: Index, query: Embedding | None, *, discount_requests: bool = False
) -> Floats:
    """The similarity of each document to the query, by vectors in memory and outside it."""
    from remembrancer.search.signals import compute_similarity

    scores = compute_similarity(
        index, query.vector if query else None, discount_requests=discount_requests
    )
    for hit in reader.nearest_outside_index(query) if query and index.overflows else ():
        # Documents stored after the index was read are not in it.
        if (position := index.places.get(hit.id, len(index))) < len(index):
            scores[position] = max(scores[position], hit.score)
    return scores


def iter_records(reader: Reader, criteria: Filter, page_size: int = 1000) -> Iterator[Record]:
    """All memories that match, newest first, read page by page."""
    after: Position | None = None
    while found := reader.find(criteria, page_size, after):
        yield from found
        if len(found) < page_size:
            return
        after = Position(found[-1].recorded_at, found[-1].id)
