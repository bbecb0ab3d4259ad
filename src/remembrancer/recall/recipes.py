"""How candidates become an order: recipes that score what the searches found. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from remembrancer.profiles import RecallPolicy
from remembrancer.types import Record

SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that a search found, with its rank (from 1) and score in each of them."""

    record: Record
    effective_confidence: float
    semantic_rank: int | None = None
    similarity: float | None = None
    keyword_rank: int | None = None
    bm25: float | None = None
    score_parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score, higher being better, and the parts it is made of."""

    candidate: Candidate
    score: float
    score_parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankingContext:
    """What a recipe needs to know besides the candidates."""

    recall: RecallPolicy
    importance_max: float
    pool: int
    now: datetime


Recipe = Callable[[Candidate, RankingContext], Mapping[str, float]]
"""A way to score: the named parts whose sum is the score."""


def reciprocal_rank(rank: int | None, ranking: RankingContext) -> float:
    """1 / (k + rank); what a search did not find ranks just after everything it may find."""
    return 1 / (ranking.recall.rrf_k + (rank if rank is not None else ranking.pool + 1))


def days_since(moment: datetime, now: datetime) -> float:
    """How many days ago, never negative."""
    return max(0.0, (now - moment).total_seconds() / SECONDS_PER_DAY)


def last_used_at(record: Record) -> datetime:
    """When a memory was last recalled, or else recorded."""
    return record.recalled_at or record.recorded_at


def score_rrf(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """Reciprocal rank fusion: agreement between the two searches counts, not their scores."""
    return {
        "semantic": reciprocal_rank(candidate.semantic_rank, ranking),
        "keyword": reciprocal_rank(candidate.keyword_rank, ranking),
    }


def score_nudged(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """Similarity decides; importance (on a scale of five) and recent use nudge."""
    nudges = ranking.recall.nudges
    fifths = 5 * candidate.record.importance / ranking.importance_max
    idle = days_since(last_used_at(candidate.record), ranking.now)
    return {
        "distance": -(1 - (candidate.similarity or 0.0)),
        "importance": nudges.importance * fifths,
        "recency": nudges.recency * math.exp(-idle / nudges.recency_days),
    }


def score_composite(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """Relevance, importance, recency and confidence, each from 0 to 1, weighted."""
    weights = ranking.recall.weights
    best = 2 / (ranking.recall.rrf_k + 1)
    idle = days_since(last_used_at(candidate.record), ranking.now)
    recency = math.exp(-idle / ranking.recall.nudges.recency_days)
    return {
        "relevance": weights.relevance * sum(score_rrf(candidate, ranking).values()) / best,
        "importance": weights.importance * candidate.record.importance / ranking.importance_max,
        "recency": weights.recency * recency,
        "confidence": weights.confidence * candidate.effective_confidence,
    }


def score_evidence(candidate: Candidate, ranking: RankingContext) -> Mapping[str, float]:
    """How well it answers the question, told by all signals together; some kinds count more."""
    weight = ranking.recall.kind_weights.get(candidate.record.kind, 1.0)
    return {name: weight * part for name, part in candidate.score_parts.items()}


RECIPES: Mapping[str, Recipe] = {
    "evidence": score_evidence,
    "rrf": score_rrf,
    "nudged": score_nudged,
    "composite": score_composite,
}


def rank_candidates(candidates: Sequence[Candidate], ranking: RankingContext) -> list[Scored]:
    """The candidates by the profile's recipe, best first, equal ones by id."""
    recipe = RECIPES[ranking.recall.recipe]
    scored = []
    for candidate in candidates:
        parts = recipe(candidate, ranking)
        scored.append(Scored(candidate, sum(parts.values()), parts))
    return sorted(scored, key=lambda one: (-one.score, one.candidate.record.id))
