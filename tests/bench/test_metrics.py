"""The measures against values worked out by hand, and what must hold for any ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.metrics import averages, intervals, session_scores, share, turn_scores

ids = st.integers(0, 30).map(str)
golds = st.lists(ids, min_size=1, max_size=6)
rankings = st.lists(ids, max_size=20)


def test_turns_are_scored_as_by_hand() -> None:
    scores = turn_scores(["a", "b"], ["x", "a", "y", "z", "v", "w", "b"])

    assert scores["R@1"] == 0
    assert scores["R@5"] == 0.5
    assert scores["R@10"] == 1
    assert (scores["any@1"], scores["any@5"]) == (0, 1)
    assert (scores["all@5"], scores["all@10"]) == (0, 1)
    assert scores["MRR"] == 0.5
    assert scores["nDCG@10"] == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(8)) / (1 + 1 / math.log2(3))
    )


def test_a_gold_turn_beyond_the_depth_does_not_count() -> None:
    ranked = [str(place) for place in range(20)]

    assert turn_scores(["10"], ranked)["R@10"] == 0
    assert turn_scores(["9"], ranked)["R@10"] == 1
    assert turn_scores(["10"], ranked)["nDCG@10"] == 0
    assert turn_scores(["10"], ranked)["MRR"] == pytest.approx(1 / 11)


def test_nothing_returned_scores_nothing() -> None:
    assert set(turn_scores(["a"], []).values()) == {0.0}
    assert set(session_scores(["a"], []).values()) == {0.0}


def test_sessions_count_at_their_first_place() -> None:
    ranked = ["s1", "s1", "s2", "s1", "s3", "s4", "s5", "s6"]

    assert session_scores(["s5"], ranked)["any@5"] == 1
    assert session_scores(["s5", "s6"], ranked)["all@5"] == 0
    assert session_scores(["s5", "s6"], ranked)["all@10"] == 1


def test_averages_are_in_percent() -> None:
    assert averages([{"R@1": 1.0}, {"R@1": 0.0}, {"R@1": 0.5}]) == {"R@1": pytest.approx(50)}
    assert averages([]) == {}
    assert intervals([]) == {}


def test_an_interval_narrows_with_more_questions() -> None:
    few = [{"R@1": float(number % 2)} for number in range(20)]

    low, high = intervals(few)["R@1"]
    nearer, farther = intervals(few * 50)["R@1"]

    assert low < nearer < 50 < farther < high
    # Half the questions right: the normal approximation gives 50 ± 1.96 · 50 / √n.
    assert high - low == pytest.approx(2 * 1.96 * 50 / math.sqrt(20), rel=0.15)


def test_the_share_leaves_out_who_said_nothing() -> None:
    assert share([True, False, None, False]) == pytest.approx(100 / 3)
    assert share([None, None]) is None
    assert share([]) is None


@given(golds, rankings)
def test_scores_are_shares_that_grow_with_depth(gold: list[str], ranked: list[str]) -> None:
    scores = turn_scores(gold, ranked)

    assert all(0 <= score <= 1 + 1e-9 for score in scores.values())
    for name in ("R", "any", "all"):
        assert scores[f"{name}@1"] <= scores[f"{name}@5"] <= scores[f"{name}@20"]
    for depth in (1, 5, 10, 20):
        assert scores[f"all@{depth}"] <= scores[f"R@{depth}"] <= scores[f"any@{depth}"]
    assert (scores["MRR"] > 0) == bool({*gold} & {*ranked})


@given(golds)
def test_the_gold_itself_is_a_perfect_ranking(gold: list[str]) -> None:
    scores = turn_scores(gold, gold)

    assert scores["R@10"] == scores["MRR"] == 1
    assert scores["nDCG@10"] == pytest.approx(1)


@given(golds, rankings)
def test_returning_a_turn_twice_gains_nothing(gold: list[str], ranked: list[str]) -> None:
    assert turn_scores(gold, ranked) == turn_scores(gold, list(dict.fromkeys(ranked)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_average_lies_in_its_range_and_its_interval_is_repeatable(values: list[float]) -> None:
    questions = [{"R@1": value} for value in values]

    low, high = intervals(questions)["R@1"]

    assert 100 * min(values) - 1e-6 <= low <= high <= 100 * max(values) + 1e-6
    assert intervals(questions) == intervals(questions)
