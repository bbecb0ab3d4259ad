"""Computes the confidence of team facts. No I/O."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DOUBT_FACTOR = 0.6
"""Each contributor multiplies the doubt by this factor."""

APPROVED_DOUBT = 0.3
"""The doubt about an approved fact with one contributor; of a pending one it is `DOUBT_FACTOR`."""

CONFLICT_FACTOR = 0.7
"""Each conflicting fact multiplies the confidence by this factor."""

DAILY_RETENTION = math.exp(-0.004)
SECONDS_PER_DAY = 86_400


def team_confidence(contributors: int, conflicts: int = 0, *, approved: bool = False) -> float:
    """It rises with each contributor and falls with each conflict."""
    first_doubt = APPROVED_DOUBT if approved else DOUBT_FACTOR
    corroborated = 1 - first_doubt * DOUBT_FACTOR ** (max(contributors, 1) - 1)
    return round(corroborated * CONFLICT_FACTOR**conflicts, 6)


def decay_confidence(
    confidence: NDArray[np.float64], days: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The confidences after so many days without confirmation."""
    retained: NDArray[np.float64] = DAILY_RETENTION ** days.clip(min=0)
    return confidence * retained
