"""The memories at a glance: what the counts are of, and that looking changes nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from tests.support.opening import Open
from tests.support.plans import plans


def test_memories_are_counted_by_how_far_they_are_believed(me: Memory, clock: ManualClock) -> None:
    me.remember("Ada reads Dune.", permanence="volatile")
    me.remember("Ada was born in London.", permanence="permanent")
    assert me.survey().confidence == (0, 0, 0, 0, 0, 2)
    clock.advance(timedelta(days=25))
    assert me.survey().confidence == (0, 0, 1, 0, 0, 1)


def test_what_fades_next_comes_first_and_what_never_fades_is_not_there(
    me: Memory, clock: ManualClock
) -> None:
    me.remember("Ada was born in London.", permanence="permanent")
    slow = me.remember("Ada plays chess.", permanence="standard").memory
    fast = me.remember("Ada reads Dune.", permanence="volatile").memory
    assert [one.id for one in me.survey().fading] == [fast.id, slow.id]
    clock.advance(timedelta(days=50))
    assert [one.id for one in me.survey().fading] == [fast.id, slow.id]


def test_growth_is_told_week_by_week(me: Memory, clock: ManualClock) -> None:
    me.remember("Ada plays chess.")
    clock.advance(timedelta(days=15))
    me.remember("Ada reads Dune.")
    me.remember("Ada drinks tea.")
    assert me.survey().growth[-3:] == (1, 0, 2)


def test_rules_are_counted_by_what_came_of_them(me: Memory) -> None:
    good = me.remember("Answer in one sentence.", kind="rule").memory
    me.remember("Show the units of every number.", kind="rule")
    me.helpful(good.id)
    effect = me.survey().effect
    assert (effect.helping, effect.untried, effect.doubtful) == (1, 1, 0)


def test_whoever_only_looks_does_not_recall(me: Memory) -> None:
    kept = me.remember("Ada drinks tea in the afternoon.").memory
    assert me.recall("What does Ada drink?", used=False)
    me._call.services.usage.flush()
    assert me.get(kept.id).recall_count == 0


def test_listings_can_be_of_one_permanence_or_one_conversation(me: Memory) -> None:
    me.remember("Ada reads Dune.", permanence="volatile")
    born = me.remember("Ada was born in London.", permanence="permanent", session_id="monday")
    assert [one.id for one in me.list(permanences=["permanent"]).items] == [born.memory.id]
    assert [one.id for one in me.list(session="monday").items] == [born.memory.id]


def test_an_event_and_several_memories_can_be_asked_for(me: Memory) -> None:
    made = me.remember("Ada drinks tea.")
    assert made.event is not None
    assert me.event(made.event.id).changes[0].memory_id == made.memory.id
    assert set(me.several([made.memory.id, "fact_01kjq3v4rxe8fy0zkb5t5f3m2a", "nonsense"])) == {
        made.memory.id
    }
    with pytest.raises(NotFound):
        me.event("event_01kjq3v4rxe8fy0zkb5t5f3m2a")


def test_what_is_hardly_believed_can_be_listed_and_forgotten_alone(
    me: Memory, clock: ManualClock
) -> None:
    faint = me.remember("Ada reads Dune.", permanence="volatile").memory
    born = me.remember("Ada was born in London.", permanence="permanent").memory
    clock.advance(timedelta(days=50))
    assert [one.id for one in me.list(confidence_below=0.5).items] == [faint.id]
    assert [one.id for one in me.list(minimum_confidence=0.5).items] == [born.id]
    assert me.list(minimum_confidence=0.3, confidence_below=0.5).items == ()
    me.forget_all(confidence_below=0.5)
    assert [one.id for one in me.list().items] == [born.id]


def test_scopes_are_told_with_how_much_is_in_each(me: Memory) -> None:
    me.remember("Ada plays chess.")
    me.forget(me.remember("The oven runs hot.", scope="kitchen").memory.id)
    me.remember("The oven is cold.", scope="kitchen")
    assert me.scopes() == {"global": 1, "kitchen": 1}


@pytest.mark.feature("M14")
def test_an_isolated_agent_counts_its_own_events(open_memory: Open, clock: ManualClock) -> None:
    apart = {"scopes": {"visibility": "isolated", "write": "own"}}
    store = open_memory("agents", profile_overrides=apart)
    health, finance = (store.for_user("ada", agent=one) for one in ("health", "finance"))
    health.remember("Weighs 80 kg")
    clock.advance(timedelta(hours=1))
    before = clock.now()
    clock.advance(timedelta(hours=1))
    health.remember("Weighs 79 kg on Monday")

    assert health.stats().events == len(health.activity().items) == 2
    assert health.stats(as_of=before).events == 1
    assert finance.stats().events == len(finance.activity().items) == 0


@pytest.mark.feature("M14")
def test_stats_tell_when_the_episodes_of_an_agent_were_consolidated(
    open_memory: Open,
    model: ModelEndpoint,
    models: dict[str, Any],
    clock: ManualClock,
    tenant: str,
) -> None:
    store = open_memory("agents", models=models)
    health, finance = (store.for_user("ada", agent=one) for one in ("health", "finance"))
    model.script = plans({})
    times = []
    for me in (health, finance):
        me.remember("Spoke of nothing new.", kind="episode")
        clock.advance(timedelta(hours=1))
        store.run_job("consolidate", tenant=tenant)
        times.append(clock.now())

    assert health.stats().consolidated_at == times[0]
    assert finance.stats().consolidated_at == times[1]
    assert store.for_user("ada").stats().consolidated_at == times[1]
    assert store.for_user("ada", agent="cook").stats().consolidated_at is None
    assert finance.stats(as_of=times[0]).consolidated_at is None
