"""M12: a daily decay sweep and episode cleanup; both are in the activity, and can be undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import NotUndoable
from remembrancer.memory import Memory
from remembrancer.store.contract import Patch
from remembrancer.types import Action, Backlog, ConfidenceBand, Episode, Record, Status

pytestmark = pytest.mark.feature("M12")

DAY = timedelta(days=1)


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("agents", profile_overrides={"episodes": {"cap": 5}})


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def consolidated(me: Memory, episode: Record) -> None:
    """As if consolidation had been through with it."""
    call = me._call
    with call.store.open_writer(call.owner) as writer:
        event = call.new_event(Action.CONFIRMED, call.now())
        writer.apply(event, [Patch(episode.id, {"backlog": Backlog.DONE})])


def happened(me: Memory, number: int) -> Record:
    return me.remember(f"Episode number {number} happened.", kind="episode").memory


def statuses(me: Memory, episodes: list[Record]) -> list[Status]:
    return [me.get(one.id).status for one in episodes]


def test_M12_the_sweep_ends_what_nobody_believes_any_more(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    lunch = me.remember("Lunch was pea soup.", permanence="ephemeral").memory
    name = me.remember("Her name is Ada.", permanence="permanent").memory
    clock.advance(30 * DAY)  # exp(-0.1 × 30) is just below 0.05
    assert me.standing(lunch) is ConfidenceBand.EXPIRED

    outcome = store.run_job("decay_sweep", tenant=tenant)

    assert (outcome.changed, outcome.people) == (1, 1)
    assert me.get(lunch.id).status is Status.EXPIRED
    assert me.get(name.id).status is Status.ACTIVE
    (event,) = [one for one in me.activity().items if one.action is Action.EXPIRED]
    assert (event.surface, [change.memory_id for change in event.changes]) == ("jobs", [lunch.id])
    assert store.run_job("decay_sweep", tenant=tenant).changed == 0


def faded(me: Memory) -> list[set[str]]:
    """The memories of each event of fading, oldest first."""
    events = [one for one in me.activity(limit=200).items if one.action is Action.FADED]
    return [{change.memory_id for change in one.changes} for one in reversed(events)]


def test_M12_a_sweep_says_how_many_memories_faded(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    me.remember("Lunch was pea soup.", permanence="ephemeral")
    clock.advance(17 * DAY)

    result = store.run_job("decay_sweep", tenant=tenant)

    assert (result.changed, result.note) == (0, "1 memory faded")
    assert store.run_job("decay_sweep", tenant=tenant).note is None


def test_M12_fading_is_logged_once_each_time_it_happens(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    soup = me.remember("Lunch was pea soup.", permanence="ephemeral").memory
    cold = me.remember("Ada has a cold.", permanence="volatile").memory
    doubtful = me.remember("Perhaps Ada sings.", confidence=0.1).memory

    def sweep(days: float) -> list[set[str]]:
        clock.advance(days * DAY)
        store.run_job("decay_sweep", tenant=tenant)
        return faded(me)

    assert sweep(16) == []  # exp(-1.6) = 0.202
    assert sweep(1) == [{soup.id}]
    assert sweep(1) == [{soup.id}], "once"
    me.confirm(soup.id)
    assert sweep(17) == [{soup.id}, {soup.id}], "and again after a confirmation"
    assert sweep(30) == [{soup.id}, {soup.id}, {cold.id}]
    assert me.get(soup.id).status is Status.EXPIRED
    assert me.get(doubtful.id).status is Status.ACTIVE, "it began below the threshold"
    newest = next(one for one in me.activity().items if one.action is Action.FADED)
    assert newest.surface == "jobs"
    assert newest.id in {one.id for one in me.history(cold.id).events}
    with pytest.raises(NotUndoable):
        me.undo(newest.id)


def test_M12_agents_see_what_faded_and_ended_in_their_scope_and_the_person_sees_all(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    health, cook = (store.for_user("ada", agent=name) for name in ("health", "cook"))
    cold = health.remember("Ada has a cold.", scope="health", permanence="ephemeral").memory
    soup = cook.remember("Lunch was pea soup.", scope="cook", permanence="ephemeral").memory
    for days in (17, 14):
        clock.advance(days * DAY)
        store.run_job("decay_sweep", tenant=tenant)

    def swept(one: Memory) -> list[tuple[Action, str]]:
        found = [each for each in one.activity().items if each.surface == "jobs"]
        return sorted((each.action, each.changes[0].memory_id) for each in found)

    assert swept(health) == [(Action.EXPIRED, cold.id), (Action.FADED, cold.id)]
    assert swept(cook) == [(Action.EXPIRED, soup.id), (Action.FADED, soup.id)]
    assert swept(me) == sorted([*swept(health), *swept(cook)])
    ended = next(one for one in health.activity().items if one.action is Action.EXPIRED)
    health.undo(ended.id)
    assert statuses(me, [cold, soup]) == [Status.ACTIVE, Status.EXPIRED]


def test_M12_a_sweep_applies_new_thresholds_to_old_rules(
    store: Remembrancer,
    me: Memory,
    open_fake: Callable[..., Remembrancer],
    clock: ManualClock,
    tenant: str,
) -> None:
    rule = me.remember("Skip the greeting", kind="rule").memory
    me.harmful(rule.id, "Ada felt snubbed")
    clock.advance(DAY)
    assert store.run_job("decay_sweep", tenant=tenant).changed == 0
    strict = open_fake("agents", profile_overrides={"rules": {"invert_at_harms": 1}})

    assert strict.run_job("decay_sweep", tenant=tenant).changed == 1

    (warning,) = me.list(kinds=["rule"]).items
    assert warning.content == (
        "ANTI-PATTERN: Do NOT skip the greeting. This caused problems because: Ada felt snubbed."
    )
    event = me.activity().items[0]
    assert (event.action, event.surface) == (Action.INVERTED, "jobs")
    assert strict.run_job("decay_sweep", tenant=tenant).changed == 0

    me.undo(event.id)

    assert strict.run_job("decay_sweep", tenant=tenant).changed == 0, "as the person wants it"
    assert me.get(rule.id).status is Status.ACTIVE
    clock.advance(DAY)
    strict.for_user("ada").harmful(rule.id)
    assert me.get(rule.id).status is Status.SUPERSEDED


def test_M12_a_sweep_that_changes_nothing_leaves_no_entry(
    store: Remembrancer, me: Memory, tenant: str
) -> None:
    me.remember("Her name is Ada.")
    happened(me, 1)
    for job in ("decay_sweep", "episode_cleanup"):
        store.run_job(job, tenant=tenant)

    assert len(me.activity().items) == 2


def test_M12_reading_does_not_wait_for_the_sweep(me: Memory, clock: ManualClock) -> None:
    lunch = me.remember("Lunch was pea soup.", permanence="ephemeral").memory
    clock.advance(29 * DAY)
    assert [one.id for one in me.list().items] == [lunch.id]
    assert me.standing(lunch) is ConfidenceBand.FADING
    assert me.recall("pea soup") == []
    assert [one.memory.id for one in me.recall("pea soup", minimum_confidence=0)] == [lunch.id]
    assert me.stats().fading == 1

    clock.advance(DAY)

    assert me.list().items == ()
    assert [one.id for one in me.list(status="expired").items] == [lunch.id]
    assert me.recall("pea soup", minimum_confidence=0) == []
    assert me.stats().fading == 0


def test_M12_confirming_restores_what_was_swept(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    lunch = me.remember("Lunch was pea soup.", permanence="ephemeral").memory
    clock.advance(40 * DAY)
    store.run_job("decay_sweep", tenant=tenant)

    me.confirm(lunch.id)

    assert me.get(lunch.id).status is Status.ACTIVE
    assert me.confidence(me.get(lunch.id)) == 1.0
    assert [one.memory.id for one in me.recall("pea soup")] == [lunch.id]


def test_M12_a_sweep_can_be_undone_as_a_whole_but_not_by_accident(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    lunches = [
        me.remember(f"Lunch {number} was soup.", permanence="ephemeral").memory
        for number in range(3)
    ]
    said = me.remember("Her name is Ada.", permanence="permanent")
    clock.advance(40 * DAY)
    store.run_job("decay_sweep", tenant=tenant)
    swept = me.activity().items[0]

    me.undo(swept.id)

    assert {one.id for one in me.list().items} == {one.id for one in (*lunches, said.memory)}
    assert store.run_job("decay_sweep", tenant=tenant).changed == 0
    clock.advance(40 * DAY)
    assert store.run_job("decay_sweep", tenant=tenant).changed == 3
    assert me.undo().memory.id == said.memory.id


def test_M12_episodes_live_for_seven_days(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    episode = happened(me, 1)
    clock.advance(7 * DAY - timedelta(microseconds=1))
    assert store.run_job("episode_cleanup", tenant=tenant).changed == 0
    clock.advance(timedelta(microseconds=1))

    assert store.run_job("episode_cleanup", tenant=tenant).changed == 1

    assert me.get(episode.id).status is Status.EXPIRED
    assert me.activity().items[0].action is Action.EXPIRED


def test_M12_beyond_the_cap_the_oldest_go_but_none_that_waits_to_be_consolidated(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    episodes = []
    for number in range(8):
        episodes.append(happened(me, number))
        clock.advance(timedelta(minutes=1))
    for one in episodes[1:5]:
        consolidated(me, one)

    assert store.run_job("episode_cleanup", tenant=tenant).changed == 3

    assert statuses(me, episodes) == [
        Status.ACTIVE,  # the oldest of all, but nobody has learned from it yet
        *[Status.EXPIRED] * 3,
        *[Status.ACTIVE] * 4,
    ]
    assert me.activity().items[0].action is Action.EVICTED


def test_M12_what_waits_to_be_consolidated_stays_even_beyond_the_cap(
    store: Remembrancer, me: Memory, tenant: str
) -> None:
    episodes = [happened(me, number) for number in range(9)]

    assert store.run_job("episode_cleanup", tenant=tenant).changed == 0

    assert set(statuses(me, episodes)) == {Status.ACTIVE}
    assert me.stats().backlog == 9
    assert all(isinstance(one, Episode) for one in episodes)


def test_M12_agents_with_rules_of_their_own_are_swept_by_them(
    open_fake: Callable[..., Remembrancer], clock: ManualClock, tenant: str
) -> None:
    store = open_fake("default", agents={"archivist": {"decay": {"applies_to": "none"}}})
    kept = store.for_user("ada", agent="archivist").remember("An old fact.", permanence="ephemeral")
    lost = store.for_user("ada", agent="cook").remember("A soup.", permanence="ephemeral")
    clock.advance(60 * DAY)

    assert store.run_job("decay_sweep", tenant=tenant).changed == 1

    me = store.for_user("ada")
    assert me.get(kept.memory.id).status is Status.ACTIVE
    assert me.get(lost.memory.id).status is Status.EXPIRED
