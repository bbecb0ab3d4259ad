"""A period that words for a time may mean, and which days follow from it. No I/O."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from remembrancer.learn.extracted_fact import Dates


class PeriodRole(StrEnum):
    """How a period bounds a fact."""

    ON = "on"
    SINCE = "since"
    FROM = "from"
    UNTIL = "until"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class SaidPeriod:
    """A reading of words for a time.

    `any_day` is True if each day of it may be meant, not only its first and its last. `slack` is
    by how many days it may be off. A vague one ("recently") counts only if there is no other.
    """

    first: date
    last: date
    role: PeriodRole = PeriodRole.ON
    any_day: bool = False
    slack: int = 0
    is_vague: bool = False

    @property
    def dates(self) -> Dates:
        match self.role:
            case PeriodRole.ON:
                return Dates(self.first, self.last)
            case PeriodRole.SINCE | PeriodRole.FROM:
                return Dates(self.first, None)
            case PeriodRole.AFTER:
                return Dates(self.last + timedelta(1), None)
            case PeriodRole.UNTIL:
                return Dates(None, self.last)
            case PeriodRole.BEFORE:
                return Dates(None, self.first - timedelta(1))

    def allows_start(self, day: date) -> bool:
        """True if a fact may begin on a day."""
        if self.role in (PeriodRole.UNTIL, PeriodRole.BEFORE):
            return False
        if self.role is PeriodRole.AFTER:
            return abs((day - self.last).days) <= 1 + self.slack
        return self._is_near(day, self.first)

    def allows_end(self, day: date, start: date | None) -> bool:
        """True if a fact may end on a day: an old one may end when a new one starts."""
        match self.role:
            case PeriodRole.ON | PeriodRole.UNTIL:
                return self._is_near(day, self.first) or self._is_near(day, self.last)
            case PeriodRole.BEFORE:
                return self._is_near(day, self.first - timedelta(1)) or day == self.first
            case _:
                older = day != start
                return older and (
                    self._is_near(day, self.first) or day == self.first - timedelta(1)
                )

    def _is_near(self, day: date, meant: date) -> bool:
        slack = timedelta(self.slack)
        if self.any_day:
            return self.first - slack <= day <= self.last + slack
        return meant - slack <= day <= meant + slack


def pair_ranges(starts: Iterable[SaidPeriod], ends: Sequence[SaidPeriod]) -> tuple[SaidPeriod, ...]:
    """Each start with the next end after it."""
    found: list[SaidPeriod] = []
    for start in starts:
        later = [one for one in ends if one.last >= start.first]
        if later:
            end = min(later, key=lambda one: one.last)
            slack = max(start.slack, end.slack)
            found.append(SaidPeriod(start.first, end.last, slack=slack))
    return tuple(found)


def build_period(days: Iterable[date | None]) -> SaidPeriod | None:
    """A period of days that all exist, else None."""
    found = list(days)
    known = [one for one in found if one]
    return SaidPeriod(known[0], known[-1]) if known and len(known) == len(found) else None


def day_period(first: date, last: date | None = None) -> SaidPeriod:
    return SaidPeriod(first, last or first)


def month_period(year: int, month: int) -> SaidPeriod:
    return SaidPeriod(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def year_period(year: int) -> SaidPeriod:
    return SaidPeriod(date(year, 1, 1), date(year, 12, 31))
