"""Arithmetic on days of the calendar. No I/O."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

DAYS_OF_UNIT = {"day": 1, "week": 7, "weekend": 7}


def make_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def add_months(day: date, months: int) -> date:
    years, index = divmod(day.month - 1 + months, 12)
    year = min(max(day.year + years, 1), 9998)
    return date(year, index + 1, min(day.day, monthrange(year, index + 1)[1]))


def add_units(day: date, unit: str, count: int) -> date:
    if unit in ("month", "year"):
        return add_months(day, count * (12 if unit == "year" else 1))
    return day + timedelta(DAYS_OF_UNIT[unit] * count)


def find_nth_weekday(year: int, month: int, weekday: int, number: int) -> date | None:
    first = date(year, month, 1)
    return make_day(year, month, 1 + (weekday - first.weekday()) % 7 + 7 * (number - 1))


def find_holiday(rule: str, year: int) -> date:
    """The day of a rule in the data: "12-25", "4th 3 11" or "easter 49"."""
    name, *numbers = rule.split()
    if name == "easter":
        return _find_easter(year) + timedelta(int(numbers[0]))
    if numbers:
        number, weekday, month = int(name[0]), int(numbers[0]), int(numbers[1])
        return find_nth_weekday(year, month, weekday, number) or date(year, month, 1)
    return date.fromisoformat(f"{year}-{rule}")


def _find_easter(year: int) -> date:
    """Easter Sunday by the Gregorian rule of Butcher."""
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (
        19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15
    ) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
