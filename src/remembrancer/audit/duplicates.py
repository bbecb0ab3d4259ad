"""Finds memories that duplicate a more trusted one, by text and by vectors. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import DedupPolicy
from remembrancer.search.terms import fingerprint
from remembrancer.types import Fact, Record

BLOCK_SIZE = 512
"""Memories compared with all others in one matrix product."""

ROUNDING_TOLERANCE = 1e-6

VectorsById = Mapping[str, NDArray[np.float32]]
IsDistinct = Callable[[Record, Record], bool]
"""Returns True for two memories that must not be merged, however similar they are."""


def find_duplicates(
    records: Sequence[Record], vectors: VectorsById, dedup: DedupPolicy, is_distinct: IsDistinct
) -> dict[str, str]:
    """Map the id of each duplicate to the id of the memory that is kept.

    The records must be of one scope and sorted by trust, the most trusted first.
    """
    found = _find_same_words(records, is_distinct)
    facts = [one for one in records if isinstance(one, Fact) and one.id in vectors]
    close = _find_same_meaning(
        [one for one in facts if one.id not in found], vectors, dedup, is_distinct
    )
    known = {one.id: one for one in records}
    for one, other in found.items():
        # The memory with the same words can itself be a duplicate by meaning.
        first = close.get(other, other)
        if not is_distinct(known[one], known[first]):
            close[one] = first
    return close


def _find_same_words(records: Sequence[Record], is_distinct: IsDistinct) -> dict[str, str]:
    kept_by_words: dict[tuple[str, str], list[Record]] = {}
    found: dict[str, str] = {}
    for one in records:
        same = kept_by_words.setdefault((one.kind, fingerprint(one.content)), [])
        first = next((other for other in same if not is_distinct(one, other)), None)
        if first is None:
            same.append(one)
        else:
            found[one.id] = first.id
    return found


def _find_same_meaning(
    facts: Sequence[Fact], vectors: VectorsById, dedup: DedupPolicy, is_distinct: IsDistinct
) -> dict[str, str]:
    if len(facts) < 2:
        return {}
    matrix = np.stack([vectors[one.id] for one in facts])
    is_kept = np.ones(len(facts), dtype=np.bool_)
    found: dict[str, str] = {}
    for start in range(0, len(facts), BLOCK_SIZE):
        end = min(start + BLOCK_SIZE, len(facts))
        scores = matrix[start:end] @ matrix[:end].T
        close = np.tril(scores >= dedup.threshold - ROUNDING_TOLERANCE, start - 1)
        for row in np.flatnonzero(close.any(axis=1)).tolist():
            this = start + row
            for other in np.flatnonzero(close[row] & is_kept[:end]).tolist():
                alike = dedup.is_met_by(round(float(scores[row, other]), 6))
                if alike and not is_distinct(facts[this], facts[other]):
                    found[facts[this].id] = facts[other].id
                    is_kept[this] = False
                    break
    return found
