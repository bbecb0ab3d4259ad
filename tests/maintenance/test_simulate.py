"""M3: a simulation tells what will fade and expire, and when; the sweeps agree with it exactly."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.maintenance.simulate import Forecast, Simulation
from remembrancer.memory import Memory
from remembrancer.types import ConfidenceBand, Kind, Permanence, Status

pytestmark = pytest.mark.feature("M3")

DAY = timedelta(days=1)
MOMENT = timedelta(milliseconds=2)
"""SQLite counts the time between two moments in milliseconds."""


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    strict = {"decay": {"recall_at": 0.6, "expire_below": 0.5}}
    return open_fake(agents={"strict": strict})


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def filled(me: Memory, clock: ManualClock) -> None:
    """Memories of every permanence, of different ages and confidence, some with a time to live."""
    for number, permanence in enumerate(Permanence):
        for confidence in (1.0, 0.5, 0.2, 0.1, 0.04):
            me.remember(
                f"Fact {number} of {confidence} lasts.",
                permanence=permanence,
                confidence=confidence,
            )
            clock.advance(0.37 * DAY)
    me.remember("The fair is on for a while.", ttl_days=12.5)
    me.remember("Always knock.", kind="rule", permanence="volatile")
    me.remember("We talked about boats.", kind="episode")
    me.remember("We talked about rafts.", kind="episode", permanence="ephemeral", ttl_days=80)
    me.remember("Strictly speaking.", scope="strict", permanence="volatile")
    me.forget(me.remember("Nobody needs this.").memory.id)


def forecast(found: Simulation, memory_id: str) -> Forecast:
    return next(one for one in found.forecasts if one.id == memory_id)


def test_M3_the_dates_are_those_of_the_formula(me: Memory, clock: ManualClock) -> None:
    tea = me.remember("Ada drinks tea.", permanence="standard").memory
    name = me.remember("Her name is Ada.", permanence="permanent").memory
    fair = me.remember("The fair is on.", ttl_days=30).memory

    found = me.simulate(400)

    # 1 × exp(−0.008 × days) is below 0.2 after 201.18 days, below 0.05 after 374.47.
    told = forecast(found, tea.id)
    assert told.fades_at is not None
    assert told.expires_at is not None
    assert (told.fades_at - clock.now()) / DAY == pytest.approx(201.1797, abs=1e-4)
    assert (told.expires_at - clock.now()) / DAY == pytest.approx(374.4665, abs=1e-4)
    assert forecast(found, fair.id).expires_at == fair.expires_at
    assert name.id not in {one.id for one in found.forecasts}
    assert [one.id for one in found.forecasts] == [fair.id, tea.id]
    assert [one.id for one in me.simulate(200).forecasts] == [fair.id]


def test_M3_the_series_has_a_count_for_each_day(me: Memory, clock: ManualClock) -> None:
    me.remember("Ada drinks tea.", permanence="ephemeral")
    me.remember("Her name is Ada.", permanence="permanent")

    series = me.simulate(31).series

    # Ephemeral: below 0.2 after 16.09 days, below 0.05 after 29.96.
    assert [one.at for one in series] == [clock.now() + day * DAY for day in range(32)]
    counts = [(one.recalled, one.fading, one.expired) for one in series]
    assert counts == [(2, 0, 0)] * 17 + [(1, 1, 0)] * 13 + [(1, 0, 1)] * 2


def test_M3_the_sweeps_agree_on_every_day(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    filled(me, clock)
    found = me.simulate(400)
    start = clock.now()
    records = [one for kind in Kind for one in me.list(kinds=[kind], limit=1000).items]
    records += me.list(status="expired", limit=1000).items

    for day in (0, 1, 6, 7, 8, 12, 13, 16, 17, 24, 30, 53, 81, 99, 101, 150, 202, 300, 375, 400):
        clock.advance(start + day * DAY - clock.now())
        store.run_job("decay_sweep", tenant=tenant)
        store.run_job("episode_cleanup", tenant=tenant)
        now = {one.id: me.get(one.id) for one in records}
        ended = {one for one, record in now.items() if record.status is Status.EXPIRED}
        told = {
            one.id
            for one in found.forecasts
            if one.expires_at is not None and one.expires_at <= clock.now()
        }
        assert ended == told, f"day {day}"
        count = found.series[day]
        assert count.expired == len(ended)
        assert count.recalled + count.fading + count.expired == len(records)


def test_M3_the_sweep_agrees_to_the_moment(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    tea = me.remember("Ada drinks tea.", permanence="volatile").memory
    told = forecast(me.simulate(), tea.id)
    assert told.fades_at is not None
    assert told.expires_at is not None

    clock.advance(told.fades_at - timedelta(microseconds=1) - clock.now())
    assert me.standing(tea) is ConfidenceBand.RECALLED
    clock.advance(timedelta(microseconds=1))
    assert me.standing(tea) is ConfidenceBand.FADING

    clock.advance(told.expires_at - MOMENT - clock.now())
    assert store.run_job("decay_sweep", tenant=tenant).changed == 0
    clock.advance(2 * MOMENT)
    assert store.run_job("decay_sweep", tenant=tenant).changed == 1


def test_M3_standing_agrees_with_the_series(me: Memory, clock: ManualClock) -> None:
    for number, permanence in enumerate(Permanence):
        for confidence in (1.0, 0.2, 0.05, 0.01):
            me.remember(
                f"Fact {number} of {confidence}.", permanence=permanence, confidence=confidence
            )
    records = [*me.list(limit=100).items, *me.list(status="expired").items]
    series = me.simulate(365).series

    for day in (0, 1, 5, 16, 17, 30, 54, 100, 201, 202, 365):
        clock.advance(series[day].at - clock.now())
        standings = [me.standing(one) for one in records]
        assert standings.count(ConfidenceBand.RECALLED) == series[day].recalled
        assert standings.count(ConfidenceBand.FADING) == series[day].fading
        assert standings.count(ConfidenceBand.EXPIRED) == series[day].expired


def test_M3_looking_ahead_changes_nothing(
    me: Memory, clock: ManualClock, stored: Callable[[], object]
) -> None:
    filled(me, clock)
    before = stored()

    me.simulate(3650)

    assert stored() == before


def test_M3_it_looks_at_no_more_than_the_principal_may_see(store: Remembrancer, me: Memory) -> None:
    me.remember("Ada drinks tea.", scope="cook")
    me.remember("Ada writes Python.", scope="coder")

    found = store.for_user("ada", agent="coder").simulate()

    assert [one.content for one in found.forecasts] == ["Ada writes Python."]
    assert store.for_user("bob").simulate().series[0].recalled == 0


def test_M3_more_memories_than_a_page_are_all_counted(
    me: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.maintenance.simulate.PAGE_SIZE", 3)
    for number in range(10):
        me.remember(f"Fact number {number}.")

    assert me.simulate(1).series[0].recalled == 10


@pytest.mark.parametrize("days", [0, -1, 3661])
def test_M3_the_days_have_bounds(me: Memory, days: int) -> None:
    with pytest.raises(InvalidInput, match="from 1 to 3660"):
        me.simulate(days)
