"""M6: 0.4 relevance + 0.3 importance / 10 + 0.2 recency + 0.1 effective confidence, per agent."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer

pytestmark = pytest.mark.feature("M6")


@pytest.fixture
def store(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("agents")


def test_M6_the_score_is_the_weighted_sum(store: Remembrancer, clock: ManualClock) -> None:
    me = store.for_user("ada")
    me.remember("The kettle is violet.", importance=8, permanence="volatile", confidence=0.9)
    clock.advance(timedelta(days=10))

    (found,) = me.recall("violet kettle")

    relevance = (1 / 61 + 1 / 61) / (2 / 61)
    recency = math.exp(-10 / 30)
    believed = 0.9 * math.exp(-0.03 * 10)
    expected = 0.4 * relevance + 0.3 * 0.8 + 0.2 * recency + 0.1 * believed
    assert found.score == pytest.approx(expected, abs=1e-6)
    assert found.why.recipe == "composite"
    assert set(found.why.parts) == {"relevance", "importance", "recency", "confidence"}


def test_M6_what_matters_more_comes_first_among_equals(store: Remembrancer) -> None:
    me = store.for_user("ada")
    me.remember("The blue cup is on the left shelf.", subject="cup", predicate="one", importance=2)
    me.remember("The blue cup is on the right shelf.", subject="cup", predicate="two", importance=9)

    found = me.recall("where is the blue cup?")

    assert [one.memory.importance for one in found] == [9, 2]


def test_M6_an_agent_may_have_weights_of_its_own(
    open_memory: Callable[..., Remembrancer],
) -> None:
    only_importance = {"relevance": 0, "importance": 1, "recency": 0, "confidence": 0}
    butler = {"recall": {"weights": only_importance}}
    store = open_memory("agents", agents={"butler": butler})
    store.for_user("ada").remember("The kettle is violet.", importance=7)

    (usual,) = store.for_user("ada").recall("violet kettle")
    (own,) = store.for_user("ada", agent="butler").recall("violet kettle")

    assert own.score == pytest.approx(0.7)
    assert usual.score > own.score - 1
    assert usual.why.parts["relevance"] > 0
    assert own.why.parts["relevance"] == 0
