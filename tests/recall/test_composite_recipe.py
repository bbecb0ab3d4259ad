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


@pytest.mark.parametrize("recipe", ["composite", "evidence", "rrf", "nudged"])
def test_M4_maturity_weighs_in_every_recipe(
    recipe: str, open_memory: Callable[..., Remembrancer]
) -> None:
    """Of rules that fit equally, the proven one comes first and the candidate last."""
    me = open_memory("agents", profile_overrides={"recall": {"recipe": recipe}}).for_user("ada")
    ids = [
        me.remember(f"Greet {name} before the weather report.", kind="rule").memory.id
        for name in ("Ada", "Bob", "Eve")
    ]
    for one, steps in zip(ids, (0, 1, 2), strict=True):
        for _ in range(steps):
            me.promote(one)

    found = me.recall("the weather report", used=False)

    assert [one.memory.id for one in found] == ids[::-1]
    extra = [one.why.parts.get("maturity", 0.0) for one in found]
    assert extra[0] > 0 == extra[1] > extra[2]
    for one in found:
        assert one.score == pytest.approx(sum(one.why.parts.values()))
    (best,) = me.recall("the weather report", used=False, limit=1)
    assert best.memory.id == ids[2], "the limit counts after the weight"
    listed = me.context().text.splitlines()
    shown = [one for one in listed if one.startswith("- Greet")]
    assert ["proven" in one for one in shown] == [True, False, False]
    assert "candidate" in shown[-1]


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
