"""How far a team fact is believed, and whether two contradict each other. Arithmetic on values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from remembrancer.search.terms import extract_query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DOUBT_FACTOR = 0.6
"""What is left of the doubt with each person who says the same."""

CONFLICT_FACTOR = 0.7
"""What is left of the confidence with each fact that says otherwise."""

MIN_APPROVED_CONFIDENCE = 0.7
"""The least confidence of what was approved, by a reviewer or by enough voices."""

DAILY_RETENTION = math.exp(-0.004)
SECONDS_PER_DAY = 86_400

_NUMBER_PATTERN = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION_PATTERN = re.compile(r"\b(?:no|not|never|nor|none|without|cannot|\w+n['’]t)\b", re.I)


def team_confidence(contributors: int, conflicts: int = 0, *, approved: bool = False) -> float:
    """How far a fact is believed that so many say, when so many facts say otherwise."""
    said = 1 - DOUBT_FACTOR ** max(contributors, 1)
    return round(
        max(said, MIN_APPROVED_CONFIDENCE if approved else 0.0) * CONFLICT_FACTOR**conflicts, 6
    )


def decay_confidence(
    confidence: NDArray[np.float64], days: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The confidence that is left of facts so many days after someone last said so."""
    left: NDArray[np.float64] = DAILY_RETENTION ** days.clip(min=0)
    return confidence * left


def is_contradiction(one: str, other: str) -> bool:
    """Whether two texts speak of the same and differ in a number or a "not"."""
    numbers = set(_NUMBER_PATTERN.findall(one)), set(_NUMBER_PATTERN.findall(other))
    same = _topic_terms(one), _topic_terms(other)
    if not same[0] or len(same[0] & same[1]) / len(same[0] | same[1]) < 0.6:
        return False
    negated = len(_NEGATION_PATTERN.findall(one)) % 2 != len(_NEGATION_PATTERN.findall(other)) % 2
    return negated or (bool(numbers[0] and numbers[1]) and numbers[0] != numbers[1])


def _topic_terms(text: str) -> set[str]:
    """The words of a text without its numbers and its "not"."""
    bare = _NEGATION_PATTERN.sub(" ", _NUMBER_PATTERN.sub(" ", text))
    return set(extract_query_terms(bare))
