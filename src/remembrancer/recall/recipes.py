"""How candidates become an order: recipes that score what the searches found. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from remembrancer.profiles import Recall
from remembrancer.types import Record

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that a search found, with its rank (from 1) and score in each of them."""

    record: Record
    effective_confidence: float
    semantic_rank: int | None = None
    similarity: float | None = None
    keyword_rank: int | None = None
    bm25: float | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score, higher being better, and the parts it is made of."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a recipe needs to know besides the candidates."""

    recall: Recall
    importance_max: float
    pool: int
    now: datetime


Recipe = Callable[[Candidate, Setting], Mapping[str, float]]
"""A way to score: the named parts whose sum is the score."""


def reciprocal_rank(rank: int | None, setting: Setting) -> float:
    """1 / (k + rank); what a search did not find ranks just after everything it may find."""
    return 1 / (setting.recall.rrf_k + (rank if rank is not None else setting.pool + 1))


def days_since(moment: datetime, now: datetime) -> float:
    """How many days ago, never negative."""
    return max(0.0, (now - moment).total_seconds() / DAY)


def last_used(record: Record) -> datetime:
    """When a memory was last recalled, or else recorded."""
    return record.recalled_at or record.recorded_at


def rrf(candidate: Candidate, setting: Setting) -> Mapping[str, float]:
    """Reciprocal rank fusion: agreement between the two searches counts, not their scores."""
    return {
        "semantic": reciprocal_rank(candidate.semantic_rank, setting),
        "keyword": reciprocal_rank(candidate.keyword_rank, setting),
    }


def nudged(candidate: Candidate, setting: Setting) -> Mapping[str, float]:
    """Similarity decides; importance (on a scale of five) and recent use nudge."""
    nudges = setting.recall.nudges
    fifths = 5 * candidate.record.importance / setting.importance_max
    idle = days_since(last_used(candidate.record), setting.now)
    return {
        "distance": -(1 - (candidate.similarity or 0.0)),
        "importance": nudges.importance * fifths,
        "recency": nudges.recency * math.exp(-idle / nudges.recency_days),
    }


def composite(candidate: Candidate, setting: Setting) -> Mapping[str, float]:
    """Relevance, importance, recency and confidence, each from 0 to 1, weighted."""
    weights = setting.recall.weights
    best = 2 / (setting.recall.rrf_k + 1)
    idle = days_since(last_used(candidate.record), setting.now)
    recency = math.exp(-idle / setting.recall.nudges.recency_days)
    return {
        "relevance": weights.relevance * sum(rrf(candidate, setting).values()) / best,
        "importance": weights.importance * candidate.record.importance / setting.importance_max,
        "recency": weights.recency * recency,
        "confidence": weights.confidence * candidate.effective_confidence,
    }


def evidence(candidate: Candidate, setting: Setting) -> Mapping[str, float]:
    """How well it answers the question, told by all signals together; some kinds count more."""
    weight = setting.recall.kind_weights.get(candidate.record.kind, 1.0)
    return {name: weight * part for name, part in candidate.evidence.items()}


RECIPES: Mapping[str, Recipe] = {
    "evidence": evidence,
    "rrf": rrf,
    "nudged": nudged,
    "composite": composite,
}


def rank(candidates: Sequence[Candidate], setting: Setting) -> list[Scored]:
    """The candidates by the profile's recipe, best first, equal ones by id."""
    recipe = RECIPES[setting.recall.recipe]
    scored = []
    for candidate in candidates:
        parts = recipe(candidate, setting)
        scored.append(Scored(candidate, sum(parts.values()), parts))
    return sorted(scored, key=lambda one: (-one.score, one.candidate.record.id))
