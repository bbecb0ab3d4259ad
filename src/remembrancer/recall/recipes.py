"""Scores candidates by their ranks, importance, recency and confidence. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from remembrancer.profiles import Nudges, RecallPolicy
from remembrancer.types import Mode, Record, Rule

SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that was found, with its rank (from 1) and score in each search."""

    record: Record
    effective_confidence: float
    semantic_rank: int | None = None
    similarity: float | None = None
    keyword_rank: int | None = None
    bm25: float | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score, higher being better, and the terms that add up to it."""

    candidate: Candidate
    score: float
    score_parts: Mapping[str, float]

    @classmethod
    def from_parts(cls, candidate: Candidate, score_parts: Mapping[str, float]) -> Scored:
        return cls(candidate, sum(score_parts.values()), score_parts)


@dataclass(frozen=True, slots=True)
class RankingContext:
    """Everything but the candidate that a score depends on.

    `pool` is how many memories each search returns.
    """

    recall: RecallPolicy
    importance_max: float
    pool: int
    now: datetime
    mode: Mode = Mode.HYBRID


LOWEST_SCORES = {"nudged": -1.0}
"""The score of a memory that nothing speaks for, where it is not 0."""


def add_maturity(
    score_parts: Mapping[str, float], record: Record, recall: RecallPolicy
) -> Mapping[str, float]:
    """The terms, with one more for a rule: its maturity weighs all that speaks for it."""
    extra = maturity_weight(record, recall) - 1
    if not extra:
        return score_parts
    merit = sum(score_parts.values()) - LOWEST_SCORES.get(recall.recipe, 0.0)
    return {**score_parts, "maturity": extra * max(0.0, merit)}


def maturity_weight(record: Record, recall: RecallPolicy) -> float:
    """The weight of a rule by its maturity; 1 for other memories."""
    return recall.maturity_weights.get(record.maturity, 1.0) if isinstance(record, Rule) else 1.0


Score = Callable[[Candidate, RankingContext], Mapping[str, float]]
"""Returns the named terms whose sum is the score."""


def reciprocal_rank(rank: int | None, ranking: RankingContext) -> float:
    """1 / (k + rank), and 0 for a memory that the search did not find."""
    return 0.0 if rank is None else 1 / (ranking.recall.rrf_k + rank)


def days_since(moment: datetime, now: datetime) -> float:
    """Days from `moment` to `now`, never negative."""
    return max(0.0, (now - moment).total_seconds() / SECONDS_PER_DAY)


def last_used_at(record: Record) -> datetime:
    return record.recalled_at or record.recorded_at


def score_rrf(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """Reciprocal rank fusion: agreement between the two searches counts, not their scores."""
    ranks = {"semantic": candidate.semantic_rank, "keyword": candidate.keyword_rank}
    made = {"semantic", "keyword"} if ranking.mode is Mode.HYBRID else {ranking.mode}
    return {name: reciprocal_rank(rank, ranking) for name, rank in ranks.items() if name in made}


def _decay_days(record: Record, nudges: Nudges) -> float:
    """The days over which the boost of the last use decays; one recall leaves them as they are."""
    return nudges.recency_days * (1 + math.log(max(1, record.recall_count)))


def score_nudged(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """Similarity, raised a little by importance (on a scale of five) and by recent use.

    The more often a memory was recalled, the slower the boost of its last use decays.
    """
    nudges = ranking.recall.nudges
    fifths = 5 * candidate.record.importance / ranking.importance_max
    idle = days_since(last_used_at(candidate.record), ranking.now)
    return {
        "distance": -(1 - (candidate.similarity or 0.0)),
        "importance": nudges.importance * fifths,
        "recency": nudges.recency * math.exp(-idle / _decay_days(candidate.record, nudges)),
    }


def score_composite(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """Weighted sum of relevance, importance, recency and confidence, each from 0 to 1."""
    weights = ranking.recall.weights
    best = 2 / (ranking.recall.rrf_k + 1)
    found = (candidate.semantic_rank, candidate.keyword_rank)
    # A memory that a search did not find ranks after the whole pool.
    ranks = (ranking.pool + 1 if rank is None else rank for rank in found)
    fused = sum(reciprocal_rank(rank, ranking) for rank in ranks)
    idle = days_since(last_used_at(candidate.record), ranking.now)
    recency = math.exp(-idle / ranking.recall.nudges.recency_days)
    return {
        "relevance": weights.relevance * fused / best,
        "importance": weights.importance * candidate.record.importance / ranking.importance_max,
        "recency": weights.recency * recency,
        "confidence": weights.confidence * candidate.effective_confidence,
    }
