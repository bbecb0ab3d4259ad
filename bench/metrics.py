"""How good a ranking is: pure functions of ids, shares from 0 to 1, averages in percent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Scores = Mapping[str, float]

TURN_DEPTHS = (1, 5, 10, 20)
SESSION_DEPTHS = (5, 10)
RESAMPLES = 2000


def recall_at(depth: int, gold: Sequence[str], ranked: Sequence[str]) -> float:
    """The share of the gold ids that are among the first `depth`."""
    return len({*gold} & {*ranked[:depth]}) / len({*gold})


def any_at(depth: int, gold: Sequence[str], ranked: Sequence[str]) -> float:
    return float(recall_at(depth, gold, ranked) > 0)


def all_at(depth: int, gold: Sequence[str], ranked: Sequence[str]) -> float:
    return float({*gold} <= {*ranked[:depth]})


def reciprocal_rank(gold: Sequence[str], ranked: Sequence[str]) -> float:
    """One over the place of the first gold id; nothing if none was returned."""
    places = (place for place, id in enumerate(ranked, 1) if id in gold)
    return 1 / next(places, math.inf)


def ndcg_at(depth: int, gold: Sequence[str], ranked: Sequence[str]) -> float:
    """Gains discounted by the logarithm of the place, as a share of the best possible order."""
    gains = [1 / math.log2(place + 2) for place in range(depth)]
    gained = sum(gain for gain, id in zip(gains, ranked, strict=False) if id in gold)
    return gained / sum(gains[: len({*gold})])


def turn_scores(gold: Sequence[str], ranked: Sequence[str]) -> dict[str, float]:
    """Every measure of one question's turns."""
    ranked = once(ranked)
    scores = {f"R@{depth}": recall_at(depth, gold, ranked) for depth in TURN_DEPTHS}
    scores |= {f"any@{depth}": any_at(depth, gold, ranked) for depth in TURN_DEPTHS}
    scores |= {f"all@{depth}": all_at(depth, gold, ranked) for depth in TURN_DEPTHS}
    return scores | {"MRR": reciprocal_rank(gold, ranked), "nDCG@10": ndcg_at(10, gold, ranked)}


def session_scores(gold: Sequence[str], ranked: Sequence[str]) -> dict[str, float]:
    """Every measure of one question's sessions, ranked by the first of their returned turns."""
    ranked = once(ranked)
    scores = {f"any@{depth}": any_at(depth, gold, ranked) for depth in SESSION_DEPTHS}
    return scores | {f"all@{depth}": all_at(depth, gold, ranked) for depth in SESSION_DEPTHS}


def once(ranked: Sequence[str]) -> list[str]:
    """The ids at their best place only."""
    return list(dict.fromkeys(ranked))


def averages(questions: Sequence[Scores]) -> dict[str, float]:
    """The mean over the questions of every measure, in percent."""
    if not questions:
        return {}
    means = 100 * _table(questions).mean(axis=0)
    return {name: float(mean) for name, mean in zip(questions[0], means, strict=True)}


def intervals(questions: Sequence[Scores], seed: int = 0) -> dict[str, tuple[float, float]]:
    """Where 95 % of the averages lie when the questions are drawn again, with repetition."""
    if not questions:
        return {}
    count = len(questions)
    drawn = np.random.default_rng(seed).multinomial(count, [1 / count] * count, RESAMPLES)
    means = 100 * (drawn / count) @ _table(questions)
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    bounds = zip(questions[0], low, high, strict=True)
    return {name: (float(below), float(above)) for name, below, above in bounds}


def share(outcomes: Sequence[bool | None]) -> float | None:
    """How many were true, in percent; None where nobody said."""
    said = [outcome for outcome in outcomes if outcome is not None]
    return 100 * sum(said) / len(said) if said else None


def _table(questions: Sequence[Scores]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([list(scores.values()) for scores in questions], dtype=np.float64)
