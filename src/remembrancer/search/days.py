"""Finds the days that a text names, as "9 March", "the 29th" or "next week". No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import cache, lru_cache

from remembrancer.search.language import Language, detect_language
from remembrancer.search.terms import fold
from remembrancer.search.word_tables import load_tables

WEEK = 7
SATURDAY = 5
MAX_MONTH_GAP = 6
"""How many months before the present a month without a year lies at most."""

Day = tuple[int, int | None]
"""A day of the month, and the month if it is named."""

_BARE_DAY = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)\b"
    r"|\b(?:am|vom|zum|den|del|el|el dia|le|du|au) (\d{1,2})\b(?!\s*(?:[:%\d]|h\b|kg\b|euro))"
)
_WEEK_OF = re.compile(r"\b(?:week of|woche (?:vom|ab)|semana del|semaine du)\b")


@lru_cache(maxsize=4096)
def find_days(text: str) -> frozenset[Day]:
    """The days that a text names, in whatever year."""
    plain, months = fold(text), _load_months()
    found = [
        (one["first"] or one["last"], one["after"] or one["before"]) for one in _find_dated(plain)
    ]
    full = {(int(day), months[month]) for day, month in found}
    bare = {int(one[1] or one[2]) for one in _BARE_DAY.finditer(plain)}
    return frozenset(full) | {(day, None) for day in bare - {day for day, _ in full}}


def find_asked_days(text: str, now: datetime) -> frozenset[date]:
    """The days of the present and the future that a prompt asks about."""
    plain, today = fold(text).replace("’", "'"), now.date()
    named = {one for day in find_days(text) if (one := _next_date(day, today)) is not None}
    if _WEEK_OF.search(plain):
        named = {one for first in named for one in _list_days(first, WEEK)}
    spoken = (_list_spoken(name, today) for name in _find_words(plain, text))
    return frozenset(named.union(*spoken))


def _find_words(plain: str, text: str) -> list[str]:
    language = detect_language(text)
    tables = load_tables(__package__, "coming.toml")
    patterns = [tables[one] for one in ([language] if language else Language)]
    return [
        name
        for each in patterns
        for name, words in each.items()
        if re.search(rf"\b(?:{words})\b", plain)
    ]


def _list_spoken(name: str, today: date) -> Iterable[date]:
    """The days of "today", "this week" and the like."""
    monday = today - timedelta(days=today.weekday())
    match name:
        case "today":
            return [today]
        case "tomorrow":
            return [today + timedelta(days=1)]
        case "this_week":
            return _list_days(monday, WEEK)
        case "next_week":
            return _list_days(monday + timedelta(days=WEEK), WEEK)
        case _:
            return _list_days(monday + timedelta(days=SATURDAY), 2)


def _list_days(first: date, count: int) -> list[date]:
    return [first + timedelta(days=number) for number in range(count)]


def _next_date(day: Day, today: date) -> date | None:
    """The date of a day: in this month if it names none, else nearest to the present."""
    number, month = day
    year = today.year
    if month is not None and (month - today.month) < -MAX_MONTH_GAP:
        year += 1
    try:
        return date(year, month or today.month, number)
    except ValueError:
        return None


def is_same_day(day: Day, asked: date) -> bool:
    """True if a named day, perhaps without its month, can be that date."""
    return day[0] == asked.day and day[1] in (None, asked.month)


@cache
def _load_months() -> Mapping[str, int]:
    """The number of each month by its name, and by its first three letters."""
    tables = load_tables(__package__, "past.toml")
    return {
        form: number
        for language in Language
        for number, name in enumerate(tables[language]["months"].split(), 1)
        for form in (name, name[:3])
    }


def _find_dated(plain: str) -> Iterable[re.Match[str]]:
    return _dated_pattern().finditer(plain)


@cache
def _dated_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_load_months(), key=len, reverse=True))
    return re.compile(
        rf"\b(?P<first>\d{{1,2}})(?:st|nd|rd|th|er|\.)?(?: of| de)? (?P<after>{names})\b"
        rf"|\b(?P<before>{names}) (?P<last>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    )
