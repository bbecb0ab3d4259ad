"""How far a team fact is believed, and whether two contradict each other. Arithmetic on values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from remembrancer.search.terms import query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DOUBT = 0.6
"""What is left of the doubt with each person who says the same."""

CONTESTED = 0.7
"""What is left of the confidence with each fact that says otherwise."""

APPROVED = 0.7
"""The least confidence of what was approved, by a reviewer or by enough voices."""

LEFT_PER_DAY = math.exp(-0.004)
DAY = 86_400

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(r"\b(?:no|not|never|nor|none|without|cannot|\w+n['’]t)\b", re.I)


def confidence_of(contributors: int, conflicts: int = 0, *, approved: bool = False) -> float:
    """How far a fact is believed that so many say, when so many facts say otherwise."""
    said = 1 - DOUBT ** max(contributors, 1)
    return round(max(said, APPROVED if approved else 0.0) * CONTESTED**conflicts, 6)


def aged(confidence: NDArray[np.float64], days: NDArray[np.float64]) -> NDArray[np.float64]:
    """The confidence that is left of facts so many days after someone last said so."""
    left: NDArray[np.float64] = LEFT_PER_DAY ** days.clip(min=0)
    return confidence * left


def contradict(one: str, other: str) -> bool:
    """Whether two texts speak of the same and differ in a number or a "not"."""
    numbers = set(_NUMBER.findall(one)), set(_NUMBER.findall(other))
    same = _topic(one), _topic(other)
    if not same[0] or len(same[0] & same[1]) / len(same[0] | same[1]) < 0.6:
        return False
    negated = len(_NEGATION.findall(one)) % 2 != len(_NEGATION.findall(other)) % 2
    return negated or (bool(numbers[0] and numbers[1]) and numbers[0] != numbers[1])


def _topic(text: str) -> set[str]:
    """The words of a text without its numbers and its "not"."""
    bare = _NEGATION.sub(" ", _NUMBER.sub(" ", text))
    return set(query_terms(bare))
