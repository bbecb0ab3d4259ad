"""Computes the confidence of team facts and detects contradictions. No I/O."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from remembrancer.search.terms import extract_query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DOUBT_FACTOR = 0.6
"""Each contributor multiplies the doubt by this factor."""

CONFLICT_FACTOR = 0.7
"""Each conflicting fact multiplies the confidence by this factor."""

MIN_APPROVED_CONFIDENCE = 0.7
"""Lower limit for facts that a reviewer or enough contributors have approved."""

MIN_TOPIC_OVERLAP = 0.6
"""Share of common terms from which two texts have the same topic."""

DAILY_RETENTION = math.exp(-0.004)
SECONDS_PER_DAY = 86_400

_NUMBER_PATTERN = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION_PATTERN = re.compile(r"\b(?:no|not|never|nor|none|without|cannot|\w+n['’]t)\b", re.I)


def team_confidence(contributors: int, conflicts: int = 0, *, approved: bool = False) -> float:
    corroborated = 1 - DOUBT_FACTOR ** max(contributors, 1)
    minimum = MIN_APPROVED_CONFIDENCE if approved else 0.0
    return round(max(corroborated, minimum) * CONFLICT_FACTOR**conflicts, 6)


def decay_confidence(
    confidence: NDArray[np.float64], days: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The confidences after so many days without confirmation."""
    retained: NDArray[np.float64] = DAILY_RETENTION ** days.clip(min=0)
    return confidence * retained


def is_contradiction(one: str, other: str) -> bool:
    """True if two texts have the same topic and differ in a number or a negation."""
    numbers = set(_NUMBER_PATTERN.findall(one)), set(_NUMBER_PATTERN.findall(other))
    topics = _topic_terms(one), _topic_terms(other)
    if not topics[0] or len(topics[0] & topics[1]) / len(topics[0] | topics[1]) < MIN_TOPIC_OVERLAP:
        return False
    negated = len(_NEGATION_PATTERN.findall(one)) % 2 != len(_NEGATION_PATTERN.findall(other)) % 2
    return negated or (bool(numbers[0] and numbers[1]) and numbers[0] != numbers[1])


def _topic_terms(text: str) -> set[str]:
    """The terms of a text without numbers and negations."""
    bare = _NEGATION_PATTERN.sub(" ", _NUMBER_PATTERN.sub(" ", text))
    return set(extract_query_terms(bare))
