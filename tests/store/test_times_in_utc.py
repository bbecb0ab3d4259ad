"""P17: all times are stored in UTC, whatever zone they were given in."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, text

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import AsOf

pytestmark = pytest.mark.feature("P17")

ZONES = [
    ZoneInfo("Asia/Tokyo"),
    ZoneInfo("America/St_Johns"),
    ZoneInfo("Pacific/Kiritimati"),
    timezone(timedelta(hours=-11, minutes=-30)),
    UTC,
    None,
]
MOMENT = datetime(2026, 1, 31, 20, 15, 30, 123456, tzinfo=UTC)
A_MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake().for_user("ada")


def told_in(zone: Any, moment: datetime = MOMENT) -> datetime:
    """The same moment as a clock in that zone shows it; without a zone it is UTC already."""
    return moment.astimezone(zone) if zone is not None else moment.replace(tzinfo=None)


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_P17_a_time_given_in_any_zone_is_kept_as_the_same_moment_in_utc(
    zone: Any, me: Memory, superuser: Engine | None, stored: Callable[[], Any]
) -> None:
    end = MOMENT + timedelta(days=400)
    written = me.remember("Something.", valid_from=told_in(zone), valid_until=told_in(zone, end))

    read = me.get(written.memory.id)
    assert (read.valid_from, read.valid_until) == (MOMENT, end)
    assert read.valid_from.utcoffset() == timedelta(0)
    assert written.memory == read
    (row,) = [row for row in stored()["facts"] if row["id"] == read.id]
    if superuser is None:
        assert row["valid_from"] == "2026-01-31T20:15:30.123456Z"
    else:
        assert row["valid_from"] == MOMENT


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_P17_looking_back_takes_a_time_in_any_zone(
    zone: Any, me: Memory, clock: ManualClock
) -> None:
    me.remember("Something.")
    then = clock.now()
    clock.advance(timedelta(hours=1))
    me.forget("Something.")
    tick = timedelta(microseconds=1)

    assert len(me.list(as_of=told_in(zone, then)).items) == 1
    assert len(me.list(as_of=AsOf(known=told_in(zone, clock.now() - tick))).items) == 1
    assert me.list(as_of=AsOf(known=told_in(zone, clock.now()))).items == ()
    assert me.list(as_of=told_in(zone, then - tick)).items == ()


def test_P17_a_clock_that_was_set_in_another_zone_tells_utc(
    open_fake: Callable[..., Remembrancer],
) -> None:
    clock = ManualClock(MOMENT.astimezone(ZoneInfo("Asia/Tokyo")))

    assert clock.now() == MOMENT
    assert clock.now().tzinfo is UTC


def test_P17_every_moment_in_every_table_is_utc(
    me: Memory, clock: ManualClock, superuser: Engine | None, stored: Callable[[], Any]
) -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    one = me.remember("One.", valid_from=told_in(tokyo), ttl_days=3).memory
    two = me.remember("Two.", kind="rule").memory
    me.link(one.id, two.id)
    clock.advance(timedelta(hours=1))
    me.update(one.id, "Three.", valid_from=told_in(tokyo))
    me.forget("Three.")
    me.undo()

    if superuser is not None:
        _assert_no_column_is_without_zone(superuser)
        return
    moments = [
        (table, name, value)
        for table, rows in stored().items()
        for row in rows
        for name, value in row.items()
        if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value)
    ]
    assert len(moments) > 20
    assert [one for one in moments if not A_MOMENT.match(one[2])] == []


def test_P17_the_changes_of_events_are_in_utc_too(me: Memory, clock: ManualClock) -> None:
    ends = told_in(ZoneInfo("Asia/Tokyo"), clock.now() + timedelta(days=9))
    memory = me.remember("One.", valid_until=ends).memory
    event = me.forget(memory.id).event

    assert event is not None
    (change,) = event.changes
    assert change.before is not None
    assert change.before["valid_until"] == "2026-03-11T12:00:00+00:00"


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_P17_the_servers_own_zone_makes_no_difference(me: Memory, superuser: Engine) -> None:
    memory = me.remember("One.", valid_from=MOMENT).memory
    with superuser.connect() as connection:
        connection.execute(text("SET timezone = 'Asia/Tokyo'"))
        seen = connection.execute(
            text("SELECT valid_from FROM facts WHERE id = :id"), {"id": memory.id}
        ).scalar_one()

    assert seen == MOMENT


def _assert_no_column_is_without_zone(engine: Engine) -> None:
    query = text(
        "SELECT data_type, count(*) FROM information_schema.columns "
        "WHERE table_schema = 'public' AND data_type LIKE 'timestamp%' GROUP BY 1"
    )
    with engine.connect() as connection:
        kinds = {row[0]: row[1] for row in connection.execute(query)}
    assert list(kinds) == ["timestamp with time zone"]
