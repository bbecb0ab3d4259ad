"""The only source of "now", always in UTC, so that tests and demos can set the time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current moment in UTC."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that only moves by `advance`."""

    def __init__(self, at: datetime) -> None:
        self._at = as_utc(at)

    def now(self) -> datetime:
        return self._at

    def advance(self, by: timedelta) -> datetime:
        """Move forward (or back) and return the new time."""
        self._at += by
        return self._at


class OffsetClock:
    """The system clock minus an offset, which `advance` reduces."""

    def __init__(self, behind: timedelta) -> None:
        self._behind = behind

    def now(self) -> datetime:
        return datetime.now(UTC) - self._behind

    def advance(self, by: timedelta) -> datetime:
        """Move forward (or back) and return the new time."""
        self._behind -= by
        return self.now()


def end_bare_date(value: Any) -> Any:
    """The text `2026-05-03` as the last moment of that day; other values stay as they are."""
    try:
        day = date.fromisoformat(value)
    except (TypeError, ValueError):
        return value
    return datetime.combine(day, time.max).isoformat()


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC; without a time zone it is taken as UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)
