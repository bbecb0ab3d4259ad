"""Readers that turn patterns of date words into periods. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from remembrancer.learn.details.calendar_days import (
    add_months,
    add_units,
    find_holiday,
    find_nth_weekday,
    make_day,
)
from remembrancer.learn.details.date_words import DateWord
from remembrancer.learn.details.said_period import (
    PeriodRole,
    SaidPeriod,
    build_period,
    day_period,
    month_period,
    pair_ranges,
    year_period,
)

VAGUE_DAYS = 120
"""How far "recently" or "soon" may be from the day it is said."""

RECENT_DAYS = 92
"""How long ago "from November" may have begun."""

NEAR_DAYS, FAR_DAYS = 183, 275
"""From how far on a month without a year is read against the tense of the verbs."""

UNIT_DAYS = {"day": 1.0, "week": 7.0, "weekend": 7.0, "month": 30.44, "year": 365.25}
UNIT_SLACK = {"day": 0, "week": 4, "weekend": 2, "month": 15, "year": 60}
"""Days by which a count of a unit may be wrong."""


@dataclass(frozen=True, slots=True)
class ReadingFrame:
    """The day of the turn, its months and tense, and the role of the words before a period."""

    today: date
    months: tuple[int, ...]
    is_past: bool
    role: PeriodRole = PeriodRole.ON


Reader = Callable[[Sequence[DateWord], ReadingFrame], list[SaidPeriod]]


def _read_day_month(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    day = int(next(one.value for one in tokens if one.kind in "dn"))
    return _read_days((day, day), tokens, frame)


def _read_day_range(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    first, last = (int(one.value) for one in tokens if one.kind in "dn")
    return _read_days((first, last), tokens, frame)


def _read_days(
    days: tuple[int, int], tokens: Sequence[DateWord], frame: ReadingFrame
) -> list[SaidPeriod]:
    month = int(next(one.value for one in tokens if one.kind == "m"))
    years = _list_years(tokens, frame)
    found = [build_period(make_day(year, month, one) for one in days) for year in years]
    return _choose([one for one in found if one], tokens, frame)


def _read_month(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    month = int(next(one.value for one in tokens if one.kind == "m"))
    found = [month_period(year, month) for year in _list_years(tokens, frame)]
    return _choose(found, tokens, frame)


def _read_lone_day(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "The 15th": of a month that is mentioned, else of this, the last or the next month."""
    day, today = int(tokens[0].value), frame.today
    if not tokens[0].is_digit:
        return []
    near = [add_months(today.replace(day=1), step) for step in (-1, 0, 1)]
    named = [date(today.year + step, one, 1) for one in frame.months for step in (-1, 0, 1)]
    found = [build_period([make_day(one.year, one.month, day)]) for one in near]
    wanted = [build_period([make_day(one.year, one.month, day)]) for one in named]
    return _nearest([one for one in found if one], today) + _follow_tense(
        _nearest([one for one in wanted if one], today), frame
    )


def _read_lone_range(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "From the 20th to the 24th"."""
    starts = _read_lone_day(tokens[:1], frame)
    return list(pair_ranges(starts, _read_lone_day(tokens[-1:], frame)))


def _read_nth_weekday(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "The second Tuesday", of a month that is named or near."""
    number, weekday = int(tokens[0].value), int(tokens[1].value)
    today = frame.today
    if any(one.kind == "m" for one in tokens):
        months = [one.first for one in _read_month(tokens[2:], frame)]
    else:
        months = [add_months(today.replace(day=1), step) for step in (-1, 0, 1)]
    found = [
        build_period([find_nth_weekday(one.year, one.month, weekday, number)]) for one in months
    ]
    return [one for one in found if one]


def _read_weekday(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    weekday = int(next(one.value for one in tokens if one.kind == "w"))
    ahead = (weekday - frame.today.weekday()) % 7
    monday = frame.today - timedelta(frame.today.weekday())
    before, after = frame.today + timedelta((ahead or 7) - 7), frame.today + timedelta(ahead or 7)
    before = before if ahead else frame.today - timedelta(7)
    match _modifier(tokens):
        case "l":
            days = [before, monday + timedelta(weekday - 7)]
        case "x":
            days = [after, monday + timedelta(weekday + 7)]
        case "t":
            days = [monday + timedelta(weekday), after]
        case _:
            days = [before, after, *([] if ahead else [frame.today])]
    return [SaidPeriod(one, one) for one in dict.fromkeys(days)]


def _read_relative_unit(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "Last month", "next week", "this year"."""
    unit = str(next(one.value for one in tokens if one.kind == "u"))
    step = {"l": -1, "x": 1}.get(_modifier(tokens), 0)
    today = frame.today
    if unit == "day":
        return [day_period(today + timedelta(step))]
    if unit == "month":
        month = add_months(today.replace(day=1), step)
        return [replace(month_period(month.year, month.month), any_day=True)]
    if unit == "year":
        return [replace(year_period(today.year + step), any_day=True)]
    monday = today + timedelta(7 * step - today.weekday())
    first = monday + timedelta(5) if unit == "weekend" else monday
    last = [day_period(first - timedelta(7), first - timedelta(6))] if unit == "weekend" else []
    return [
        replace(day_period(first, monday + timedelta(6)), any_day=True),
        *(last if step < 0 else []),
    ]


def _read_weekend(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "At the weekend": the last or the coming one; other units alone say no time."""
    if tokens[0].value != "weekend":
        return []
    saturday = frame.today + timedelta(5 - frame.today.weekday())
    days = [saturday - timedelta(7), saturday]
    return [SaidPeriod(one, one + timedelta(1), any_day=True) for one in days]


def _read_ago(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    return _count_units(tokens, frame.today, -1)


def _read_ahead(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    return _count_units(tokens, frame.today, 1)


def _read_elapsed(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "Since three weeks", "the last two months"."""
    return [replace(one, role=PeriodRole.SINCE) for one in _count_units(tokens, frame.today, -1)]


def _read_duration(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "For three weeks": up to now, or from now on."""
    since = [replace(one, role=PeriodRole.SINCE) for one in _count_units(tokens, frame.today, -1)]
    until = [replace(one, role=PeriodRole.UNTIL) for one in _count_units(tokens, frame.today, 1)]
    return since + until


def _count_units(tokens: Sequence[DateWord], today: date, sign: int) -> list[SaidPeriod]:
    unit = str(next(one.value for one in tokens if one.kind == "u"))
    count = int(next((one.value for one in tokens if one.kind in "ny"), 0))
    if not count:
        return _read_uncounted(unit, today, sign)
    if count * UNIT_DAYS[unit] > 366 * 120:
        return []
    day = add_units(today, unit, sign * count)
    slack = UNIT_SLACK[unit] or count // 5
    whole = {"month": month_period(day.year, day.month), "year": year_period(day.year)}
    return [SaidPeriod(day, day, slack=slack), *([whole[unit]] if unit in whole else [])]


def _read_uncounted(unit: str, today: date, sign: int) -> list[SaidPeriod]:
    """ "Years ago": any time from one to twenty."""
    near, far = add_units(today, unit, sign), add_units(today, unit, sign * 20)
    return [SaidPeriod(min(near, far), max(near, far), any_day=True)]


def _read_relative_day(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    return [day_period(frame.today + timedelta(int(tokens[0].value)))]


def _read_age_today(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """ "35 today": born on this day."""
    today = _read_relative_day(tokens[1:], frame)
    born = make_day(frame.today.year - int(tokens[0].value), frame.today.month, frame.today.day)
    return [*today, day_period(born)] if born and tokens[1].value == 0 else today


def _read_season(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    month = int(next(one.value for one in tokens if one.kind == "s"))
    found = [
        SaidPeriod(first, add_months(first, 3) - timedelta(1), any_day=True)
        for first in (date(year, month, 1) for year in _list_years(tokens, frame))
    ]
    return _choose(found, tokens, frame)


def _read_holiday(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    rule = str(next(one.value for one in tokens if one.kind == "h"))
    found = [day_period(find_holiday(rule, year)) for year in _list_years(tokens, frame)]
    chosen = _choose(found, tokens, frame)
    slack = 1 if frame.role is PeriodRole.ON else 0
    return [replace(one, slack=slack) for one in chosen]


def _read_year(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    return [year_period(int(tokens[0].value))]


def _read_literal(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    """A date in digits; of "3/4" both readings."""
    parts = [int(one) for one in re.findall(r"\d+", str(tokens[0].value))]
    match parts:
        case [year, month, day] if year > 31:
            days = [make_day(year, month, day)]
        case [year, month] if year > 31:
            return [month_period(year, month)] if 1 <= month <= 12 else []
        case [first, second, year]:
            full = year if year > 99 else 2000 + year
            days = [make_day(full, second, first), make_day(full, first, second)]
        case [first, second]:
            years = _list_years(tokens, frame)
            both = ((second, first), (first, second))
            days = [make_day(year, *one) for one in both for year in years]
        case _:
            days = []
    found = [day_period(one) for one in sorted(one for one in days if one)]
    return found if len(parts) > 2 else _nearest(found, frame.today)


def _read_vague(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[SaidPeriod]:
    around = timedelta(VAGUE_DAYS)
    return [SaidPeriod(frame.today - around, frame.today + around, any_day=True, is_vague=True)]


_YEAR_CODE = r"(?:y|[lxt]u|u[lxt])?"
READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"w?[dn][jb][dn]m{_YEAR_CODE}", _read_day_range),
        (r"m[dn][jb][dn]y?", _read_day_range),
        (rf"w?[dn]m{_YEAR_CODE}", _read_day_month),
        (rf"w?m[dn](?!u){_YEAR_CODE}", _read_day_month),
        (rf"dw(?:i?m{_YEAR_CODE}|[lxt]u)?", _read_nth_weekday),
        (rf"[lxt]?m(?:[lx](?!u))?{_YEAR_CODE}", _read_month),
        (r"[lxt]*w[lx]?", _read_weekday),
        (r"n?ug", _read_ago),
        (r"[vk]n?u", _read_ago),
        (r"i[lxt]?nu[lx]?", _read_ahead),
        (r"fv?nu", _read_elapsed),
        (r"lnu|nul", _read_elapsed),
        (r"xnu|nux", _read_ahead),
        (r"[lxt]u|u[lx]|(?<=[pqz])u", _read_relative_unit),
        (r"nr", _read_age_today),
        (r"r", _read_relative_day),
        (rf"[lxt]?s(?:[lx](?!u))?{_YEAR_CODE}", _read_season),
        (rf"[lxt]?h(?:[lx](?!u))?{_YEAR_CODE}", _read_holiday),
        (r"nu", _read_duration),
        (r"D", _read_literal),
        (r"d[jb]d", _read_lone_range),
        (r"d(?!u)", _read_lone_day),
        (r"y", _read_year),
        (r"V", _read_vague),
        (r"u", _read_weekend),
    )
)


RANGE_READERS = (_read_day_range, _read_lone_range)


def _modifier(tokens: Sequence[DateWord]) -> str:
    return next((one.kind for one in tokens if one.kind in "lxt"), "")


def _list_years(tokens: Sequence[DateWord], frame: ReadingFrame) -> list[int]:
    """The year that is named, or the years around the turn."""
    year = frame.today.year
    named = [int(one.value) for one in tokens if one.kind == "y"]
    if named:
        return named
    if any(one.kind == "u" for one in tokens):
        return [year + {"l": -1, "x": 1}.get(_modifier(tokens), 0)]
    return [year - 1, year, year + 1]


def _choose(
    periods: list[SaidPeriod], tokens: Sequence[DateWord], frame: ReadingFrame
) -> list[SaidPeriod]:
    """Of the same period in several years, those that are meant."""
    if any(one.kind in "yu" for one in tokens):
        return periods
    past = [one for one in periods if one.first <= frame.today]
    future = [one for one in periods if one.last >= frame.today]
    match _modifier(tokens):
        case "l":
            return past[-2:]
        case "x":
            return future[:2]
        case "t":
            return [one for one in periods if frame.today.year in (one.first.year, one.last.year)]
    if frame.role is PeriodRole.SINCE:
        return past[-1:]
    if frame.role is PeriodRole.FROM:
        recent = frame.today - timedelta(RECENT_DAYS)
        return [one for one in past[-1:] if one.first >= recent] + future[:1]
    return _follow_tense(_nearest(periods, frame.today), frame)


def _follow_tense(periods: list[SaidPeriod], frame: ReadingFrame) -> list[SaidPeriod]:
    """Of a past and a future reading, leave out one that is far away against the tense."""
    if len(periods) < 2:
        return periods
    past, future = periods
    if frame.is_past and (future.first - frame.today).days > FAR_DAYS:
        return [past]
    is_past = frame.is_past and frame.role is PeriodRole.ON
    if not is_past and (frame.today - past.last).days > NEAR_DAYS:
        return [future]
    return periods


def _nearest(periods: list[SaidPeriod], today: date) -> list[SaidPeriod]:
    """The last period that has begun, and the next that has not ended."""
    past = [one for one in periods if one.first <= today]
    future = [one for one in periods if one.last >= today]
    return list(dict.fromkeys(past[-1:] + future[:1]))
