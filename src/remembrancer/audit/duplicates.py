"""Which memories say the same as a more trusted one. Arithmetic over vectors, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import Dedup
from remembrancer.search.terms import fingerprint
from remembrancer.types import Fact, Record

BLOCK = 512
"""How many memories are compared with all others at once."""

ROUNDING = 1e-6

Vectors = Mapping[str, NDArray[np.float32]]
Apart = Callable[[Record, Record], bool]
"""Whether two memories are known to be about different things, however alike they look."""


def repeated(
    records: Sequence[Record], vectors: Vectors, dedup: Dedup, apart: Apart
) -> dict[str, str]:
    """By the id of each memory that says the same as one before it: the id of that one.

    The records are of one scope and in the order of trust, so that what stands comes first.
    """
    found = _by_words(records, apart)
    facts = [one for one in records if isinstance(one, Fact) and one.id in vectors]
    close = _by_meaning([one for one in facts if one.id not in found], vectors, dedup, apart)
    known = {one.id: one for one in records}
    for one, other in found.items():
        # What it repeats in words may itself repeat something else by its meaning.
        first = close.get(other, other)
        if not apart(known[one], known[first]):
            close[one] = first
    return close


def _by_words(records: Sequence[Record], apart: Apart) -> dict[str, str]:
    standing: dict[tuple[str, str], list[Record]] = {}
    found: dict[str, str] = {}
    for one in records:
        same = standing.setdefault((one.kind, fingerprint(one.content)), [])
        first = next((other for other in same if not apart(one, other)), None)
        if first is None:
            same.append(one)
        else:
            found[one.id] = first.id
    return found


def _by_meaning(
    facts: Sequence[Fact], vectors: Vectors, dedup: Dedup, apart: Apart
) -> dict[str, str]:
    if len(facts) < 2:
        return {}
    matrix = np.stack([vectors[one.id] for one in facts])
    stands = np.ones(len(facts), dtype=np.bool_)
    found: dict[str, str] = {}
    for start in range(0, len(facts), BLOCK):
        end = min(start + BLOCK, len(facts))
        scores = matrix[start:end] @ matrix[:end].T
        close = np.tril(scores >= dedup.threshold - ROUNDING, start - 1)
        for row in np.flatnonzero(close.any(axis=1)).tolist():
            this = start + row
            for other in np.flatnonzero(close[row] & stands[:end]).tolist():
                alike = dedup.met_by(round(float(scores[row, other]), 6))
                if alike and not apart(facts[this], facts[other]):
                    found[facts[this].id] = facts[other].id
                    stands[this] = False
                    break
    return found
