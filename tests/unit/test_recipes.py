"""Scores of the rank-based recipes, to the digit, without a store."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import pytest

from remembrancer.profiles import CompositeWeights, Nudges, RecallPolicy
from remembrancer.recall.recipes import (
    Candidate,
    RankingContext,
    Scored,
    days_since,
    last_used_at,
    reciprocal_rank,
    score_composite,
    score_nudged,
    score_rrf,
)
from tests.support.records import NOW, make_fact

DAY = timedelta(days=1)
RANKING = RankingContext(RecallPolicy(), importance_max=10, pool=50, now=NOW)


def test_reciprocal_rank_uses_k_60() -> None:
    assert reciprocal_rank(1, RANKING) == 1 / 61
    assert reciprocal_rank(20, RANKING) == 1 / 80


def test_a_search_that_missed_a_memory_adds_nothing() -> None:
    assert reciprocal_rank(None, RANKING) == 0
    far = Candidate(make_fact(), 1.0, semantic_rank=40, keyword_rank=40)
    one = Candidate(make_fact(), 1.0, semantic_rank=1)
    assert sum(score_rrf(far, RANKING).values()) == 2 / 100
    assert sum(score_rrf(one, RANKING).values()) == 1 / 61


def test_the_composite_ranks_what_a_search_missed_after_the_whole_pool() -> None:
    missed = score_composite(Candidate(make_fact(), 1.0, semantic_rank=1), RANKING)
    assert missed["relevance"] == pytest.approx(0.4 * (1 / 61 + 1 / 111) / (2 / 61))


def test_rrf_prefers_agreement_over_one_first_place() -> None:
    both = Candidate(make_fact(), 1.0, semantic_rank=3, keyword_rank=3)
    one = Candidate(make_fact(), 1.0, semantic_rank=1)
    assert sum(score_rrf(both, RANKING).values()) > sum(score_rrf(one, RANKING).values())


def test_nudges_are_small_beside_similarity() -> None:
    policy = RecallPolicy(nudges=Nudges(importance=0.02, recency=0.05, recency_days=30))
    ranking = replace(RANKING, recall=policy)
    parts = score_nudged(Candidate(make_fact(importance=10), 1.0, 1, 0.8), ranking)
    assert parts["distance"] == pytest.approx(-0.2)
    assert parts["importance"] == pytest.approx(0.02 * 5)
    assert parts["recency"] == pytest.approx(0.05)


@pytest.mark.feature("A7")
def test_frequent_use_slows_the_decay_of_recency_within_its_cap() -> None:
    def boost(recalls: int, days: int) -> float:
        fact = replace(make_fact(), recall_count=recalls, recalled_at=NOW - days * DAY)
        return score_nudged(Candidate(fact, 1.0, 1, 0.8), RANKING)["recency"]

    assert boost(0, 30) == boost(1, 30) == pytest.approx(0.05 / math.e)
    assert boost(1, 30) < boost(5, 30) < boost(500, 30) < 0.05
    assert boost(1_000_000, 0) == pytest.approx(0.05)


def test_recency_decays_from_the_last_use() -> None:
    old = make_fact(at=NOW - 90 * DAY)
    used = replace(old, recalled_at=NOW - DAY)
    assert last_used_at(old) == old.recorded_at
    assert last_used_at(used) == NOW - DAY
    ranking = replace(RANKING, recall=RecallPolicy(nudges=Nudges(recency_days=30)))
    unused = score_composite(Candidate(old, 1.0, 1, 0.9), ranking)["recency"]
    fresh = score_composite(Candidate(used, 1.0, 1, 0.9), ranking)["recency"]
    weight = ranking.recall.weights.recency
    assert unused == pytest.approx(weight * math.exp(-3))
    assert fresh == pytest.approx(weight * math.exp(-1 / 30))


def test_composite_of_a_perfect_memory_is_the_sum_of_the_weights() -> None:
    weights = CompositeWeights(relevance=0.4, importance=0.3, recency=0.2, confidence=0.1)
    ranking = replace(RANKING, recall=RecallPolicy(weights=weights))
    best = Candidate(make_fact(importance=10), 1.0, semantic_rank=1, keyword_rank=1)
    assert sum(score_composite(best, ranking).values()) == pytest.approx(1.0)


def test_days_are_never_negative() -> None:
    assert days_since(NOW + DAY, NOW) == 0.0
    assert days_since(NOW - 36 * DAY / 24, NOW) == 1.5


def test_a_score_is_the_sum_of_its_parts() -> None:
    scored = Scored.from_parts(Candidate(make_fact(), 1.0), {"words": 0.25, "nod": -0.5})
    assert scored.score == -0.25
