"""Finds dates and periods in a query by patterns. English only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from remembrancer.clock import as_utc

MAX_SCANNED_CHARS = 2_000
"""Characters of a query that are read."""

LOOKBEHIND_CHARS = 40
"""Characters before a date in which modifiers such as "since" are looked for."""

MAX_WINDOWS = 50
MAX_WINDOWS_PER_DATE = 10

MIN_MOMENT, MAX_MOMENT = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

MONTHS = (
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()

PERIODS = (
    {name: (number, 1) for number, name in enumerate(MONTHS, 1)}
    | {name[:3]: (number, 1) for number, name in enumerate(MONTHS, 1)}
    | {f"q{number}": (3 * number - 2, 3) for number in (1, 2, 3, 4)}
    | {"spring": (3, 3), "summer": (6, 3), "autumn": (9, 3), "fall": (9, 3), "winter": (12, 3)}
    | {"sept": (9, 1)}
)
"""The first month of each season, and its length in months."""

AMBIGUOUS_NAMES = frozenset("april june august summer autumn winter".split())
"""Also names of people and things: a date only after a word such as "in" or "the"."""

UNAMBIGUOUS_MONTHS = frozenset(MONTHS) - AMBIGUOUS_NAMES - {"march", "may"}

UNITS = {
    "day": (1.0, 1.0),
    "night": (1.0, 1.0),
    "week": (7.0, 4.0),
    "weekend": (7.0, 4.0),
    "month": (30.44, 12.0),
    "year": (365.25, 60.0),
}
"""Days per unit, and the error in days of people who count in it."""

COUNTS = (
    {word: float(number) for number, word in enumerate(NUMBERS, 1)}
    | {"a": 1.0, "an": 1.0, "half a": 0.5, "few": 3.0, "a few": 3.0, "several": 4.0}
    | {f"{article}couple{of}": 2.0 for article in ("", "a ") for of in ("", " of")}
)
DAY_PARTS = {
    "yesterday": (-24, 0),
    "last night": (-6, 6),
    "today": (0, 24),
    "this morning": (0, 12),
    "this afternoon": (12, 18),
    "this evening": (17, 24),
    "tonight": (17, 30),
    "tomorrow": (24, 48),
}
"""Start and end of each part of the day, in hours after midnight."""

RELATIVE_STEPS = {"last": -1, "previous": -1, "this": 0, "next": 1}
NON_EVENT_WORDS = frozenset("it last next that then this".split())


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _compile(pattern: str) -> re.Pattern[str]:
    # Without ASCII, "ſeptember" would match and be in no table.
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_NOT_COUNTING = (
    r"\b(?![.,:/]?\d|%| (?:people|feet|km|kg|kcal)\b"
    r"| (?-i:(?!(?:was|is|has|does|this|as|us|vs)\b)[a-z]+s\b))"
)
"""Words that follow a year, unlike the number in "2000 steps"."""

_PERIOD = _any_of(PERIODS)
_COUNT = rf"(?P<count>{_any_of(COUNTS)}|\d{{1,4}})"
_UNIT = rf"(?P<unit>{_any_of(UNITS)})"
_WITHIN = (
    r"\b(?:in|during|since|until|till|throughout|early|mid|late|(?:start|beginning|middle|end) of)"
)
_UP_TO = "as of|as at|up to|no later than"

DATE_HINT = _compile(
    rf"\d|\b(?:{_any_of({name[:3] for name in MONTHS + WEEKDAYS})}|spring|summer|autumn|fall|winter"
    r"|q[1-4]|ago|last|next|past|previous|this|today|tomorrow|tonight|yesterday)"
)
ISO = _compile(rf"(?<!\d)({_YEAR})([-/])(\d\d?)(?:\2(\d\d?))?(?!\d)")
PERIOD = _compile(
    rf"\b(?:(?:{_DAY.format('d1')}(?: ?[-–] ?| to | and )(?:the )?)?{_DAY.format('d2')} (?:of )?)?"
    rf"(?:(?P<which>(?:this )?past|last|this|next) )?(?P<name>{_PERIOD})\b"
    rf"(?: (?:the )?{_DAY.format('d3')}\b(?!:)(?:(?: ?[-–] ?| to ){_DAY.format('d4')}\b)?)?"
    rf"(?:(?:,| of)? (?P<year>{_YEAR}{_NOT_COUNTING}|(?:last|this) year\b))?"
)
YEAR = _compile(rf"\b{_YEAR}{_NOT_COUNTING}")
DAY_PART = _compile(rf"\b(?:{_any_of(DAY_PARTS)})\b")
AGO = _compile(rf"\b{_COUNT} {_UNIT}s? ago\b")
ROLLING = _compile(
    rf"\b(?:(?:the )?(?:last|past|previous) {_COUNT} {_UNIT}s?"
    r"|(?:the last|(?:the )?past) (?P<whole>week|weekend|month|year))\b(?! of\b)"
)
CALENDAR = _compile(
    rf"\b(?P<which>{_any_of(RELATIVE_STEPS)}) (?P<unit>week|weekend|month|year)\b(?! of\b)"
)
WEEKDAY = _compile(
    rf"\b(?:(?P<which>on|(?:this )?past|{_any_of(RELATIVE_STEPS)}) )?"
    rf"(?P<weekday>{_any_of(WEEKDAYS)})\b"
    rf"(?! of\b|,? (?:the )?(?:\d|(?:{_PERIOD})\b))"
)

# The patterns up to JOIN match the words just before a date: hence the `$`.
WITHIN = _compile(rf"{_WITHIN}[ -](?P<the>the )?$")
NEAR = _compile(
    r"(?:\b(?:after|before|between|by|from|my|of|on|our|over|the|your"
    rf"|{_UP_TO})"
    rf"|\b(?:{_PERIOD}|\d+)(?:,| and| or| to)) (?:the )?$"
)
POSSESSIVE = _compile(r"\b(?:my|your|his|her|our|their|the) $")
BEFORE_YEAR = _compile(
    rf"(?:(?:{_WITHIN}|\b(?:after|around|before|between|by|from|of|year|{_UP_TO}))[ -]"
    rf"|{_YEAR}(?:,? and |,? or | to | through |, | ?[-–] ?))(?:the year )?$"
)
BEFORE_BARE_YEAR = _compile(r"(?:\b(?:my|our|your|the)|['’]s) $")
BEFORE_WEEKDAY = _compile(rf"\b(?:after|before|between|by|from|since|till|until|{_UP_TO}) $")
PART = _compile(
    r"\b(?:the )?(?:(early|(?:start|beginning|first week) of)|(mid|middle of)"
    r"|(late|(?:end|last week) of))[ -](?:the )?$"
)
DISTANCE = _compile(rf"\b(?:{_COUNT}|the(?: very)?) {_UNIT}s? (?P<way>before|after) ")
DISTANCE_HERE = _compile(rf"{DISTANCE.pattern}(?:the )?$")
RELATION = _compile(rf"\b(?P<word>since|after|before|until|till|by|{_UP_TO}) (?P<the>the )?$")
JOIN = _compile(r"(?: (?:to|until|till|through|[-–]) |(?P<and>,? and )|[-–])(?:the )?")
BETWEEN = _compile(r"\b(?:between|from) (?:the )?$")
CLAUSE_END = re.compile(r"[,;?!]|\.(?: |$)")


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A period in UTC; the end is exclusive."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class EventOffset:
    """Days before (negative) or after an event, give or take the slack."""

    days: float
    slack: float
    event: str


@dataclass(frozen=True, slots=True)
class _TimeFrame:
    """The present, and the period that the memories cover."""

    now: datetime
    start: datetime
    end: datetime
    relative: bool


@dataclass(frozen=True, slots=True)
class _Period:
    """A part of every year: whole months, or a range of days."""

    month: int
    months: int
    days: tuple[int, ...] = ()

    def windows_in_years(self, years: Iterable[int]) -> list[TimeWindow]:
        """Its windows; a year has two winters: one ends in it and one begins in it."""
        begun = (0, 1) if self.month + self.months > 13 else (0,)
        found = {
            one for year in years for ago in begun for one in self._windows_in_year(year - ago)
        }
        return sorted(found, key=lambda one: one.start)

    def _windows_in_year(self, year: int) -> tuple[TimeWindow, ...]:
        start = _start_of_month(year, self.month)
        if not self.days:
            return _build_window(start, _start_of_month(year, self.month + self.months))
        length = (_start_of_month(year, self.month + 1) - start).days
        if not 1 <= self.days[0] <= self.days[-1] <= length:
            return ()
        return _build_window(_add_days(start, self.days[0] - 1), _add_days(start, self.days[-1]))


@dataclass(frozen=True, slots=True)
class _Mention:
    """The position of a date in the text, and its possible windows in order of time."""

    start: int
    end: int
    windows: tuple[TimeWindow, ...]


def find_windows(
    text: str, now: datetime | None, earliest: datetime, latest: datetime
) -> tuple[TimeWindow, ...]:
    """The periods that a query names; relative ones only if `now` is given."""
    text = _normalise_spaces(text)
    if not DATE_HINT.search(text):
        return ()
    scope = _build_time_frame(now, earliest, latest)
    mentions = _merge_ranges(text, _find_mentions(text, scope))
    found = dict.fromkeys(
        one for mention in mentions for one in _resolve_mention(text, mention, scope)
    )
    return tuple(islice(found, MAX_WINDOWS))


def find_offset(text: str) -> EventOffset | None:
    """The offset from an event in the query ("two weeks after the move"), or None."""
    text = _normalise_spaces(text)
    match = DISTANCE.search(text)
    if match is None:
        return None
    event = CLAUSE_END.split(text[match.end() :], maxsplit=1)[0].strip()
    if not event or event.lower() in NON_EVENT_WORDS or _date_follows(text, match.end()):
        return None
    return EventOffset(*_parse_distance(match), event)


def _normalise_spaces(text: str) -> str:
    """The beginning of a text with single spaces: patterns then run in linear time."""
    return " ".join(text[:MAX_SCANNED_CHARS].split())


def _build_time_frame(now: datetime | None, earliest: datetime, latest: datetime) -> _TimeFrame:
    present = as_utc(now or latest)
    end = _add_days(_start_of_day(max(present, as_utc(latest))), 1)
    return _TimeFrame(present, _start_of_day(as_utc(earliest)), end, now is not None)


def _find_mentions(text: str, frame: _TimeFrame) -> list[_Mention]:
    """The dates in a text from left to right; of two that overlap, the earlier and longer."""
    found = [
        _build_mention(match, meant)
        for pattern, read in (
            ABSOLUTE_READERS + RELATIVE_READERS if frame.relative else ABSOLUTE_READERS
        )
        for match in pattern.finditer(text)
        if (meant := read(match, frame))
    ]
    kept: list[_Mention] = []
    for mention in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def _build_mention(match: re.Match[str], meant: tuple[TimeWindow, ...]) -> _Mention:
    """Applies "early", "mid" or "late" to the date after it."""
    part = PART.search(_text_before(match.string, match.start()))
    if part is None or part.lastindex is None:
        return _Mention(*match.span(), meant)
    thirds = tuple(_take_third(one, part.lastindex) for one in meant)
    return _Mention(match.start() - len(part[0]), match.end(), thirds)


def _merge_ranges(text: str, mentions: list[_Mention]) -> list[_Mention]:
    """Replaces two mentions that are the ends of a range by one."""
    merged: list[_Mention] = []
    for mention in mentions:
        if merged and _is_range(text, (first := merged[-1]), mention):
            ranges = _pair_ranges(first.windows, mention.windows)
            merged[-1] = _Mention(first.start, mention.end, ranges)
        else:
            merged.append(mention)
    return merged


def _is_range(text: str, first: _Mention, second: _Mention) -> bool:
    join = JOIN.fullmatch(text, first.end, second.start)
    return bool(join and (not join["and"] or BETWEEN.search(_text_before(text, first.start))))


def _pair_ranges(
    starts: tuple[TimeWindow, ...], ends: tuple[TimeWindow, ...]
) -> tuple[TimeWindow, ...]:
    """Pairs each end with the nearest start before it: "November to March" crosses the new year."""
    nearest: dict[TimeWindow, TimeWindow] = {}
    for end in ends:
        if earlier := [start for start in starts if start.start < end.end]:
            nearest.setdefault(earlier[-1], end)
    return tuple(TimeWindow(start.start, end.end) for start, end in nearest.items())


def _resolve_mention(text: str, mention: _Mention, frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    """The windows of a date after modifiers such as "since" or "two days after"."""
    before = _text_before(text, mention.start)
    relation = RELATION.search(before)
    if not relation or not mention.windows or not _is_whole(text, mention, bool(relation["the"])):
        return mention.windows
    if distance := DISTANCE_HERE.search(before):
        return _shift_windows(mention.windows, *_parse_distance(distance))
    return _apply_relation(relation["word"].lower(), mention.windows[-1], frame)


def _apply_relation(word: str, date: TimeWindow, frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    if word in ("since", "after"):
        return _build_window(date.start if word == "since" else date.end, frame.end)
    return _build_window(frame.start, date.start if word == "before" else date.end)


def _shift_windows(
    dates: tuple[TimeWindow, ...], days: float, slack: float
) -> tuple[TimeWindow, ...]:
    anchors = [date.start if days < 0 else _add_days(date.end, -1) for date in dates]
    found = (_build_window_around(_add_days(anchor, days), slack, 1) for anchor in anchors)
    return tuple(one for each in found for one in each)


def _parse_distance(match: re.Match[str]) -> tuple[float, float]:
    """The days of "two weeks before", and its slack."""
    days, slack = UNITS[match["unit"].lower()]
    sign = -1 if match["way"].lower() == "before" else 1
    return sign * _parse_count(match["count"]) * days, slack


def _date_follows(text: str, at: int) -> bool:
    following = (one for one in _find_mentions(text, ANY_DATE_FRAME) if one.start >= at)
    first = next(following, None)
    if first is None or (gap := text[at : first.start].lower()) not in ("", "the "):
        return False
    return _is_whole(text, first, bool(gap))


def _is_whole(text: str, mention: _Mention, has_the: bool) -> bool:
    """False in "the May trip" and "last week's trip"."""
    if text.startswith(("'s", "’s"), mention.end):
        return False
    has_digit = any(c.isdigit() for c in text[mention.start : mention.end])
    return not has_the or has_digit or not text.startswith(" ", mention.end)


def _read_iso(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    year, _, month, day = match.groups()
    if not 1 <= int(month) <= 12:
        return ()
    return tuple(_Period(int(month), 1, (int(day),) if day else ()).windows_in_years([int(year)]))


def _read_period(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    month, months = PERIODS[match["name"].lower()]
    days = tuple(int(day) for day in match.group("d1", "d2", "d3", "d4") if day and months == 1)
    which, year = (match["which"] or "").lower(), (match["year"] or "").lower()
    relative = which or year.endswith("year")
    if not _is_period(match, bool(days)) or (relative and not frame.relative):
        return ()
    period = _Period(month, months, days)
    if year:
        past = 1 if year == "last year" else 0
        return tuple(
            period.windows_in_years([int(year) if year.isdigit() else frame.now.year - past])
        )
    return (
        _choose_occurrence(which, period, frame.now) if which else _list_occurrences(period, frame)
    )


def _is_period(match: re.Match[str], has_day: bool) -> bool:
    """True if a word means a month or season; many are also verbs or names."""
    word, name = match["name"], match["name"].lower()
    if name in UNAMBIGUOUS_MONTHS or has_day or match["year"]:
        return True
    if match.string.startswith(("March's", "March’s"), match.start("name")):
        return True
    before = _text_before(match.string, match.start())
    within = WITHIN.search(before)
    if name in ("spring", "fall"):
        return bool(within or (match["which"] and not POSSESSIVE.search(before)))
    if word.istitle() or name in AMBIGUOUS_NAMES:
        return bool(within or match["which"] or NEAR.search(before))
    return bool(within and not within["the"])


def _list_occurrences(period: _Period, frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    """Each occurrence of a part of the year within the period of the memories."""
    years = range(max(frame.start.year, frame.end.year - MAX_WINDOWS_PER_DATE), frame.end.year + 1)
    came = (one for one in period.windows_in_years(years) if frame.start < one.end)
    return tuple(one for one in came if one.start < frame.end)[-MAX_WINDOWS_PER_DATE:]


def _choose_occurrence(which: str, period: _Period, now: datetime) -> tuple[TimeWindow, ...]:
    near = period.windows_in_years(range(now.year - 2, now.year + 3))
    match which:
        case "next":
            return tuple(one for one in near if one.start > now)[:1]
        case "this":
            ours = period.windows_in_years([now.year])
            return tuple(sorted(ours, key=lambda one: max(one.start - now, now - one.end))[:1])
        case _:
            return tuple(one for one in near if one.end <= now)[-1:]


def _read_year(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    year, before = int(match[0]), _text_before(match.string, match.start())
    if not BEFORE_YEAR.search(before) and not _is_bare_year(match, before, frame):
        return ()
    return _build_window(_start_of_month(year, 1), _start_of_month(year + 1, 1))


def _is_bare_year(match: re.Match[str], before: str, frame: _TimeFrame) -> bool:
    """True in "my 2022 trip" and "Christmas 2022?"."""
    if not frame.start.year <= int(match[0]) <= frame.end.year:
        return False
    is_last = match.end() == len(match.string) or match.string[match.end()] in ",.?!"
    return bool(BEFORE_BARE_YEAR.search(before) or (is_last and before.endswith(" ")))


def _read_day_part(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    today = _start_of_day(frame.now)
    start, end = DAY_PARTS[match[0].lower()]
    return _build_window(_add_days(today, start / 24), _add_days(today, end / 24))


def _read_ago(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    days, slack = UNITS[match["unit"].lower()]
    return _build_window_around(_add_days(frame.now, -_parse_count(match["count"]) * days), slack)


def _read_rolling(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    days, _ = UNITS[(match["unit"] or match["whole"]).lower()]
    start = _add_days(frame.now, -_parse_count(match["count"]) * days)
    return _build_window(_start_of_day(start), _add_days(_start_of_day(frame.now), 1))


def _read_calendar(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    step, today = RELATIVE_STEPS[match["which"].lower()], _start_of_day(frame.now)
    match match["unit"].lower():
        case "month":
            month = today.month + step
            return _build_window(
                _start_of_month(today.year, month), _start_of_month(today.year, month + 1)
            )
        case "year":
            return _build_window(
                _start_of_month(today.year + step, 1), _start_of_month(today.year + step + 1, 1)
            )
        case unit:
            monday = _add_days(today, 7 * step - today.weekday())
            return _build_window(
                _add_days(monday, 5 if unit == "weekend" else 0), _add_days(monday, 7)
            )


def _read_weekday(match: re.Match[str], frame: _TimeFrame) -> tuple[TimeWindow, ...]:
    if not match["which"] and not BEFORE_WEEKDAY.search(_text_before(match.string, match.start())):
        return ()
    today = _start_of_day(frame.now)
    ahead = WEEKDAYS.index(match["weekday"].lower()) - today.weekday()
    which = (match["which"] or "").lower()
    days = {"this": ahead, "next": ahead % 7 or 7}.get(which, -(-ahead % 7 or 7))
    return _build_window(_add_days(today, days), _add_days(today, days + 1))


def _text_before(text: str, at: int) -> str:
    return text[max(0, at - LOOKBEHIND_CHARS) : at]


def _parse_count(word: str | None) -> float:
    word = (word or "one").lower()
    return COUNTS[word] if word in COUNTS else float(word)


def _take_third(window: TimeWindow, number: int) -> TimeWindow:
    """The first, second or last third, in whole days; a day is not divided."""
    days = (window.end - window.start).days
    if days < 3:
        return window
    start = window.start + timedelta(days=days * (number - 1) // 3)
    return TimeWindow(start, window.start + timedelta(days=days * number // 3))


def _build_window_around(
    point: datetime, slack: float, length: float = 0
) -> tuple[TimeWindow, ...]:
    return _build_window(_add_days(point, -slack), _add_days(point, length + slack))


def _build_window(start: datetime, end: datetime) -> tuple[TimeWindow, ...]:
    """A window, unless it would be empty."""
    return (TimeWindow(start, end),) if start < end else ()


def _start_of_month(year: int, month: int) -> datetime:
    """The beginning of a month; the 13th is the next January."""
    years, index = divmod(month - 1, 12)
    return datetime(min(max(year + years, 1), 9999), index + 1, 1, tzinfo=UTC)


def _start_of_day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _add_days(moment: datetime, days: float) -> datetime:
    """Some days later, at most the last representable time."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return MAX_MOMENT if days > 0 else MIN_MOMENT


ANY_DATE_FRAME = _TimeFrame(
    _start_of_month(2001, 1), _start_of_month(2000, 1), _start_of_month(2001, 1), relative=True
)
"""A leap year: every day of the year exists in it."""

_Readers = tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str], _TimeFrame], tuple[TimeWindow, ...]]], ...
]
ABSOLUTE_READERS: _Readers = (
    (ISO, _read_iso),
    (PERIOD, _read_period),
    (YEAR, _read_year),
)
RELATIVE_READERS: _Readers = (
    (DAY_PART, _read_day_part),
    (AGO, _read_ago),
    (ROLLING, _read_rolling),
    (CALENDAR, _read_calendar),
    (WEEKDAY, _read_weekday),
)
