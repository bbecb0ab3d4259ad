"""Parses cron expressions of five fields and computes when they are next due. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from remembrancer.errors import InvalidSetting

CRON_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day", 1, 31),
    ("month", 1, 12),
    ("weekday", 0, 7),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """The minutes, hours, days, months and weekdays (0 and 7 are Sunday) when a job is due."""

    expression: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    @classmethod
    def parse(cls, expression: str) -> Cron:
        """Parse an expression such as `0 */6 * * *`."""
        parts = expression.split()
        if len(parts) != len(CRON_FIELDS):
            raise InvalidSetting(
                f"{expression!r} is not a cron expression: it needs five fields, "
                "minute hour day month weekday, such as '0 3 * * *'."
            )
        fields = zip(parts, CRON_FIELDS, strict=True)
        sets = [_parse_field(part, *limits) for part, limits in fields]
        sets[4] = frozenset(day % 7 for day in sets[4])
        return cls(expression, *sets)

    def next_after(self, moment: datetime) -> datetime:
        """The first due minute after `moment`."""
        at = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = at + timedelta(days=366 * 8)
        while at < last:
            if at.month not in self.months or not self._is_due_on(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at += timedelta(minutes=1)
            else:
                return at
        raise InvalidSetting(f"{self.expression!r} is never due.")

    def _is_due_on(self, at: datetime) -> bool:
        """Cron's rule: if both the day and the weekday are restricted, either is enough."""
        by_day = at.day in self.days
        by_weekday = at.isoweekday() % 7 in self.weekdays
        if len(self.days) < 31 and len(self.weekdays) < 7:
            return by_day or by_weekday
        return by_day and by_weekday


def _parse_field(text: str, name: str, low: int, high: int) -> frozenset[int]:
    """The values of a field: `*`, `5`, `1-5`, `*/10`, `8-18/2`, or several with commas."""
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            start, end = (low, high) if span == "*" else (int(first), int(last if dash else first))
            stride = int(step) if step else 1
        except ValueError:
            start, end, stride = low, low - 1, 1
        if step and span != "*" and not dash:
            end = high
        if not low <= start <= end <= high or stride < 1:
            raise InvalidSetting(f"{text!r} is not a {name}: use {low} to {high}, *, a-b or */n.")
        values.update(range(start, end + 1, stride))
    return frozenset(values)
