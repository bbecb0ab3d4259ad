"""Which memories say the same as a more trusted one. Arithmetic over vectors, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import DedupPolicy
from remembrancer.search.terms import fingerprint
from remembrancer.types import Fact, Record

BLOCK_SIZE = 512
"""How many memories are compared with all others at once."""

ROUNDING_TOLERANCE = 1e-6

VectorsById = Mapping[str, NDArray[np.float32]]
IsDistinct = Callable[[Record, Record], bool]
"""Whether two memories are known to be about different things, however alike they look."""


def find_duplicates(
    records: Sequence[Record], vectors: VectorsById, dedup: DedupPolicy, is_distinct: IsDistinct
) -> dict[str, str]:
    """By the id of each memory that says the same as one before it: the id of that one.

    The records are of one scope and in the order of trust, so that what stands comes first.
    """
    found = _find_same_words(records, is_distinct)
    facts = [one for one in records if isinstance(one, Fact) and one.id in vectors]
    close = _find_same_meaning(
        [one for one in facts if one.id not in found], vectors, dedup, is_distinct
    )
    known = {one.id: one for one in records}
    for one, other in found.items():
        # What it repeats in words may itself repeat something else by its meaning.
        first = close.get(other, other)
        if not is_distinct(known[one], known[first]):
            close[one] = first
    return close


def _find_same_words(records: Sequence[Record], is_distinct: IsDistinct) -> dict[str, str]:
    standing: dict[tuple[str, str], list[Record]] = {}
    found: dict[str, str] = {}
    for one in records:
        same = standing.setdefault((one.kind, fingerprint(one.content)), [])
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
    stands = np.ones(len(facts), dtype=np.bool_)
    found: dict[str, str] = {}
    for start in range(0, len(facts), BLOCK_SIZE):
        end = min(start + BLOCK_SIZE, len(facts))
        scores = matrix[start:end] @ matrix[:end].T
        close = np.tril(scores >= dedup.threshold - ROUNDING_TOLERANCE, start - 1)
        for row in np.flatnonzero(close.any(axis=1)).tolist():
            this = start + row
            for other in np.flatnonzero(close[row] & stands[:end]).tolist():
                alike = dedup.is_met_by(round(float(scores[row, other]), 6))
                if alike and not is_distinct(facts[this], facts[other]):
                    found[facts[this].id] = facts[other].id
                    stands[this] = False
                    break
    return found
