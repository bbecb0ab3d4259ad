"""The only source of "now", always in UTC, so that time can be set in tests and demos."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Something that can tell the time."""

    def now(self) -> datetime:
        """The current moment, with its zone set to UTC."""
        ...


class SystemClock:
    """The computer's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, at: datetime) -> None:
        self._at = as_utc(at)

    def now(self) -> datetime:
        return self._at

    def advance(self, by: timedelta) -> datetime:
        """Go forward (or back) and return the new time."""
        self._at += by
        return self._at


class OffsetClock:
    """The computer's clock, so far behind that it can be moved forward to the present."""

    def __init__(self, behind: timedelta) -> None:
        self._behind = behind

    def now(self) -> datetime:
        return datetime.now(UTC) - self._behind

    def advance(self, by: timedelta) -> datetime:
        """Go forward (or back) and return the new time."""
        self._behind -= by
        return self.now()


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC; a moment without a zone is taken to be UTC already."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)
