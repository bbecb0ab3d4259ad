"""A clock that leaps must not make jobs delete: they wait until it has been steady for a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import remembrancer
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.maintenance.clock_watch import STEADY_FOR, Sighting, judge
from remembrancer.memory import Memory
from remembrancer.transfer import rotation
from remembrancer.types import Status
from tests.support.opening import NOON, Open

pytestmark = pytest.mark.feature("M12")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR, DAY, YEAR = timedelta(hours=1), timedelta(days=1), timedelta(days=365)


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    """A store whose clock has been seen; backups are off, as nothing here needs them."""
    store = open_memory(jobs={"backup": ""})
    store.tick()
    return store


def wait_with_ticks(store: Remembrancer, clock: ManualClock, days: int) -> None:
    """Let time pass as a server would, whose jobs look at the clock all the time."""
    for _ in range(days * 4):
        clock.advance(6 * HOUR)
        store.tick()


@pytest.mark.parametrize("leap", [40 * DAY, YEAR, 10 * YEAR])
def test_a_leap_forward_destroys_nothing(
    store: Remembrancer, me: Memory, clock: ManualClock, leap: timedelta
) -> None:
    trashed = me.remember("Ada's old phone number is 555 0100.").memory
    me.delete(trashed.id)
    kept = me.remember("Ada had pea soup for lunch.", permanence="ephemeral").memory

    clock.advance(leap)
    store.tick()
    clock.advance(HOUR)
    store.tick()
    clock.advance(-leap - HOUR)
    store.tick()

    assert me.restore(trashed.id).memory.status is Status.ACTIVE
    assert me.get(kept.id).status is Status.ACTIVE


def test_what_a_wrong_clock_made_expire_comes_back_when_it_is_right_again(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    kept = me.remember("Ada lives in Bern.", subject="user", predicate="lives_in").memory
    moved = me.remember("Ada works at Acme.", subject="user", predicate="works_at").memory
    soon = me.remember("Ada's parcel comes tomorrow.", ttl_days=1).memory

    clock.advance(10 * YEAR)
    store.run_job("decay_sweep", tenant=tenant)
    assert me.get(kept.id).status is Status.EXPIRED
    new = me.remember("Ada works at Initech.", subject="user", predicate="works_at").memory
    clock.advance(-10 * YEAR)
    wait_with_ticks(store, clock, 2)

    assert me.get(kept.id).status is Status.ACTIVE
    assert me.fact("user", "lives_in") == me.get(kept.id)
    assert me.fact("user", "works_at") == me.get(new.id)
    assert me.get(moved.id).status is not Status.ACTIVE
    assert me.get(soon.id).status is Status.EXPIRED


def test_a_machine_that_was_off_for_a_month_empties_its_trash_a_day_later(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    trashed = me.remember("Ada's old phone number is 555 0100.").memory
    me.delete(trashed.id)

    clock.advance(35 * DAY)
    store.tick()
    assert not has_purged(me, trashed.id)
    wait_with_ticks(store, clock, 2)
    assert has_purged(me, trashed.id)


def test_without_a_leap_nothing_waits(store: Remembrancer, me: Memory, clock: ManualClock) -> None:
    trashed = me.remember("Ada's old phone number is 555 0100.").memory
    me.delete(trashed.id)
    for _ in range(5):
        clock.advance(7 * DAY)
        store.tick()
    assert has_purged(me, trashed.id)


def test_a_job_that_is_asked_for_and_an_erasure_do_not_wait(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    trashed = me.remember("Ada's old phone number is 555 0100.").memory
    me.delete(trashed.id)
    clock.advance(YEAR)
    store.tick()
    assert not has_purged(me, trashed.id)

    store.run_job("trash_purge", tenant=tenant)
    assert has_purged(me, trashed.id)
    me.remember("Ada lives in Bern.")
    store.erase("ada")
    assert me.list().items == ()


def test_jobs_that_ran_or_were_running_while_the_clock_was_ahead_run_again(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    system = me._call.store.system
    clock.advance(10 * YEAR)
    store.tick()
    assert system.acquire_lease("tidy", system.get_lease("tidy"), "killed", clock.now() + HOUR)
    clock.advance(-10 * YEAR)
    wait_with_ticks(store, clock, 3)

    finished = [one.finished_at for one in store.schedule() if one.cron]
    assert all(at is not None and at <= clock.now() for at in finished)


def test_a_conversation_that_was_due_while_the_clock_was_ahead_is_learned_from(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    clock.advance(10 * YEAR)
    me.append([{"role": "user", "content": "I live in Bern."}], "talk")
    me.close("talk")
    clock.advance(-10 * YEAR)

    store.run_job("learn", tenant=tenant)

    assert len(me.list().items) == 1


def test_backups_from_a_clock_that_was_ahead_are_the_first_to_go(
    me: Memory, clock: ManualClock, tmp_path: Path
) -> None:
    store, noon = me._call.store, clock.now()
    for at in (noon, noon + 10 * YEAR, noon + DAY):
        rotation.add_backup(store, tmp_path, at, 2)

    kept = [one.name for one in rotation.list_backups(tmp_path)]
    assert kept == [rotation.backup_name(noon), rotation.backup_name(noon + DAY)]


def test_no_backup_is_deleted_after_a_leap(clock: ManualClock, tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"user": "ada", "store": {"path": str(tmp_path / "memory"), "backup_retention": 1}}
    )
    with remembrancer.open(settings=settings, clock=clock) as store:
        store.for_user("ada").remember("Ada lives in Bern.")
        store.tick()
        store.run_job("backup")
        for leap in (10 * YEAR, -30 * YEAR):
            clock.advance(leap)
            store.run_job("backup")
        assert len(rotation.list_backups(store.settings.backup_directory())) == 3


def test_a_board_that_starts_in_1970_until_it_knows_the_time_makes_nothing_wait() -> None:
    seen = judge(Sighting(), NOON)
    seen = judge(seen, EPOCH)
    assert seen.waits_until == EPOCH + STEADY_FOR
    assert judge(seen, NOON + HOUR) == Sighting(NOON + HOUR)


def test_a_clock_that_stays_back_is_believed_after_a_day() -> None:
    ahead = Sighting(NOON + 10 * YEAR, NOON + 10 * YEAR + DAY)
    seen = judge(ahead, NOON)
    assert seen == Sighting(ahead.at, NOON + STEADY_FOR)
    assert judge(seen, NOON + 23 * HOUR) == seen
    assert judge(seen, NOON + STEADY_FOR) == Sighting(NOON + STEADY_FOR)


@pytest.mark.parametrize("correction", [-HOUR, -timedelta(seconds=1), 7 * DAY])
def test_small_corrections_are_no_leap(correction: timedelta) -> None:
    assert judge(Sighting(NOON), NOON + correction) == Sighting(NOON + correction)


def has_purged(me: Memory, memory_id: str) -> bool:
    """True if nothing is left of a memory, also for whoever asks the store itself."""
    call = me._call
    with call.store.open_reader(call.owner) as reader:
        return reader.get(memory_id) is None
