"""Which dates and stretches of time a question names, by patterns alone; knows no memories."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from remembrancer.clock import as_utc

LONGEST = 2_000
"""How much of a question is looked at, in characters."""

LOOK_BACK = 40
"""How far before a date the words can begin that change its meaning, in characters."""

MOST_WINDOWS = 50
MOST_PER_DATE = 10

DAWN, DUSK = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

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
"""The first month of each named part of a year, and how many months it lasts."""

NAMES = frozenset("april june august summer autumn winter".split())
"""Names of people and things, too: dates only after a word such as "in" or "the"."""

CLEAR = frozenset(MONTHS) - NAMES - {"march", "may"}

UNITS = {
    "day": (1.0, 1.0),
    "night": (1.0, 1.0),
    "week": (7.0, 4.0),
    "weekend": (7.0, 4.0),
    "month": (30.44, 12.0),
    "year": (365.25, 60.0),
}
"""How many days a unit lasts, and how many days off people are who count in it."""

COUNTS = (
    {word: float(number) for number, word in enumerate(NUMBERS, 1)}
    | {"a": 1.0, "an": 1.0, "half a": 0.5, "few": 3.0, "a few": 3.0, "several": 4.0}
    | {f"{article}couple{of}": 2.0 for article in ("", "a ") for of in ("", " of")}
)
HOURS = {
    "yesterday": (-24, 0),
    "last night": (-6, 6),
    "today": (0, 24),
    "this morning": (0, 12),
    "this afternoon": (12, 18),
    "this evening": (17, 24),
    "tonight": (17, 30),
    "tomorrow": (24, 48),
}
"""When a part of the day begins and ends, in hours from the last midnight."""

STEPS = {"last": -1, "previous": -1, "this": 0, "next": 1}
NO_EVENT = frozenset("it last next that then this".split())


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _pattern(pattern: str) -> re.Pattern[str]:
    # Without ASCII, "ſeptember" would match and be in no table.
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_NOT_COUNTING = (
    r"\b(?![.,:/]?\d|%| (?:people|feet|km|kg|kcal)\b"
    r"| (?-i:(?!(?:was|is|has|does|this|as|us|vs)\b)[a-z]+s\b))"
)
"""What follows a year, unlike the number in "2000 steps"."""

_PERIOD = _any(PERIODS)
_COUNT = rf"(?P<count>{_any(COUNTS)}|\d{{1,4}})"
_UNIT = rf"(?P<unit>{_any(UNITS)})"
_WITHIN = (
    r"\b(?:in|during|since|until|till|throughout|early|mid|late|(?:start|beginning|middle|end) of)"
)

HINT = _pattern(
    rf"\d|\b(?:{_any({name[:3] for name in MONTHS + WEEKDAYS})}|spring|summer|autumn|fall|winter"
    r"|q[1-4]|ago|last|next|past|previous|this|today|tomorrow|tonight|yesterday)"
)
ISO = _pattern(rf"(?<!\d)({_YEAR})([-/])(\d\d?)(?:\2(\d\d?))?(?!\d)")
PERIOD = _pattern(
    rf"\b(?:(?:{_DAY.format('d1')}(?: ?[-–] ?| to | and )(?:the )?)?{_DAY.format('d2')} (?:of )?)?"
    rf"(?:(?P<which>(?:this )?past|last|this|next) )?(?P<name>{_PERIOD})\b"
    rf"(?: (?:the )?{_DAY.format('d3')}\b(?!:)(?:(?: ?[-–] ?| to ){_DAY.format('d4')}\b)?)?"
    rf"(?:(?:,| of)? (?P<year>{_YEAR}{_NOT_COUNTING}|(?:last|this) year\b))?"
)
YEAR = _pattern(rf"\b{_YEAR}{_NOT_COUNTING}")
HOUR = _pattern(rf"\b(?:{_any(HOURS)})\b")
AGO = _pattern(rf"\b{_COUNT} {_UNIT}s? ago\b")
ROLLING = _pattern(
    rf"\b(?:(?:the )?(?:last|past|previous) {_COUNT} {_UNIT}s?"
    r"|(?:the last|(?:the )?past) (?P<whole>week|weekend|month|year))\b(?! of\b)"
)
CALENDAR = _pattern(rf"\b(?P<which>{_any(STEPS)}) (?P<unit>week|weekend|month|year)\b(?! of\b)")
WEEKDAY = _pattern(
    rf"\b(?:(?P<which>on|(?:this )?past|{_any(STEPS)}) )?(?P<weekday>{_any(WEEKDAYS)})\b"
    rf"(?! of\b|,? (?:the )?(?:\d|(?:{_PERIOD})\b))"
)

# The rest, up to JOIN, is looked for in the words just before a date: hence the `$`.
WITHIN = _pattern(rf"{_WITHIN}[ -](?P<the>the )?$")
NEAR = _pattern(
    r"(?:\b(?:after|before|between|by|from|my|of|on|our|over|the|your)"
    rf"|\b(?:{_PERIOD}|\d+)(?:,| and| or| to)) (?:the )?$"
)
OWN = _pattern(r"\b(?:my|your|his|her|our|their|the) $")
BEFORE_YEAR = _pattern(
    rf"(?:(?:{_WITHIN}|\b(?:after|around|before|between|by|from|of|year))[ -]"
    rf"|{_YEAR}(?:,? and |,? or | to | through |, | ?[-–] ?))(?:the year )?$"
)
BEFORE_BARE_YEAR = _pattern(r"(?:\b(?:my|our|your|the)|['’]s) $")
BEFORE_WEEKDAY = _pattern(r"\b(?:after|before|between|by|from|since|till|until) $")
PART = _pattern(
    r"\b(?:the )?(?:(early|(?:start|beginning|first week) of)|(mid|middle of)"
    r"|(late|(?:end|last week) of))[ -](?:the )?$"
)
DISTANCE = _pattern(rf"\b(?:{_COUNT}|the(?: very)?) {_UNIT}s? (?P<way>before|after) ")
DISTANCE_HERE = _pattern(rf"{DISTANCE.pattern}(?:the )?$")
RELATION = _pattern(r"\b(?P<word>since|after|before|until|till|by) (?P<the>the )?$")
JOIN = _pattern(r"(?: (?:to|until|till|through|[-–]) |(?P<and>,? and )|[-–])(?:the )?")
BETWEEN = _pattern(r"\b(?:between|from) (?:the )?$")
CLAUSE_END = re.compile(r"[,;?!]|\.(?: |$)")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time a question is about, in UTC; its end is not part of it."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Offset:
    """So many days before (negative) or after an event, give or take the slack."""

    days: float
    slack: float
    event: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """What dates are read against: the present, and the days from which something is known."""

    now: datetime
    start: datetime
    end: datetime
    relative: bool


@dataclass(frozen=True, slots=True)
class _Period:
    """A part of every year: whole months, or the days from the first to the last of `days`."""

    month: int
    months: int
    days: tuple[int, ...] = ()

    def in_years(self, years: Iterable[int]) -> list[Window]:
        """Its times; the winter of a year is the one that ends in it and the one that begins."""
        begun = (0, 1) if self.month + self.months > 13 else (0,)
        found = {one for year in years for ago in begun for one in self._in_year(year - ago)}
        return sorted(found, key=lambda one: one.start)

    def _in_year(self, year: int) -> tuple[Window, ...]:
        start = _month(year, self.month)
        if not self.days:
            return _window(start, _month(year, self.month + self.months))
        length = (_month(year, self.month + 1) - start).days
        if not 1 <= self.days[0] <= self.days[-1] <= length:
            return ()
        return _window(_moved(start, self.days[0] - 1), _moved(start, self.days[-1]))


@dataclass(frozen=True, slots=True)
class _Mention:
    """The words that name a date, and what they can mean, in the order of time."""

    start: int
    end: int
    windows: tuple[Window, ...]


def windows(
    text: str, now: datetime | None, earliest: datetime, latest: datetime
) -> tuple[Window, ...]:
    """The stretches of time that a question names; relative ones only when `now` is known."""
    text = _plain(text)
    if not HINT.search(text):
        return ()
    scope = _scope(now, earliest, latest)
    mentions = _merged(text, _mentions(text, scope))
    found = dict.fromkeys(one for mention in mentions for one in _meant(text, mention, scope))
    return tuple(islice(found, MOST_WINDOWS))


def offset(text: str) -> Offset | None:
    """The distance to an event that the question names, if it names one that is not a date."""
    text = _plain(text)
    match = DISTANCE.search(text)
    if match is None:
        return None
    event = CLAUSE_END.split(text[match.end() :], maxsplit=1)[0].strip()
    if not event or event.lower() in NO_EVENT or _date_follows(text, match.end()):
        return None
    return Offset(*_distance(match), event)


def _plain(text: str) -> str:
    """The beginning of a text with single spaces, so that no pattern has to run over many."""
    return " ".join(text[:LONGEST].split())


def _scope(now: datetime | None, earliest: datetime, latest: datetime) -> _Scope:
    present = as_utc(now or latest)
    end = _moved(_midnight(max(present, as_utc(latest))), 1)
    return _Scope(present, _midnight(as_utc(earliest)), end, now is not None)


def _mentions(text: str, scope: _Scope) -> list[_Mention]:
    """The dates in a text from left to right; of two that overlap, the first and longer."""
    found = [
        _mention(match, meant)
        for pattern, read in (ABSOLUTE + RELATIVE if scope.relative else ABSOLUTE)
        for match in pattern.finditer(text)
        if (meant := read(match, scope))
    ]
    kept: list[_Mention] = []
    for mention in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def _mention(match: re.Match[str], meant: tuple[Window, ...]) -> _Mention:
    """A date, with the "early", "mid" or "late" before it."""
    part = PART.search(_before(match.string, match.start()))
    if part is None or part.lastindex is None:
        return _Mention(*match.span(), meant)
    thirds = tuple(_third(one, part.lastindex) for one in meant)
    return _Mention(match.start() - len(part[0]), match.end(), thirds)


def _merged(text: str, mentions: list[_Mention]) -> list[_Mention]:
    """The mentions, with one in place of two that are the ends of a range."""
    merged: list[_Mention] = []
    for mention in mentions:
        if merged and _joined(text, (first := merged[-1]), mention):
            ranges = _ranges(first.windows, mention.windows)
            merged[-1] = _Mention(first.start, mention.end, ranges)
        else:
            merged.append(mention)
    return merged


def _joined(text: str, first: _Mention, second: _Mention) -> bool:
    join = JOIN.fullmatch(text, first.end, second.start)
    return bool(join and (not join["and"] or BETWEEN.search(_before(text, first.start))))


def _ranges(starts: tuple[Window, ...], ends: tuple[Window, ...]) -> tuple[Window, ...]:
    """Each end with the nearest start before it: "November to March" crosses the new year."""
    nearest: dict[Window, Window] = {}
    for end in ends:
        if earlier := [start for start in starts if start.start < end.end]:
            nearest.setdefault(earlier[-1], end)
    return tuple(Window(start.start, end.end) for start, end in nearest.items())


def _meant(text: str, mention: _Mention, scope: _Scope) -> tuple[Window, ...]:
    """What a date means after the words before it, such as "since" or "two days after"."""
    before = _before(text, mention.start)
    relation = RELATION.search(before)
    if not relation or not mention.windows or not _is_whole(text, mention, bool(relation["the"])):
        return mention.windows
    if distance := DISTANCE_HERE.search(before):
        return _at_distance(mention.windows, *_distance(distance))
    return _related(relation["word"].lower(), mention.windows[-1], scope)


def _related(word: str, date: Window, scope: _Scope) -> tuple[Window, ...]:
    if word in ("since", "after"):
        return _window(date.start if word == "since" else date.end, scope.end)
    return _window(scope.start, date.start if word == "before" else date.end)


def _at_distance(dates: tuple[Window, ...], days: float, slack: float) -> tuple[Window, ...]:
    anchors = [date.start if days < 0 else _moved(date.end, -1) for date in dates]
    found = (_around(_moved(anchor, days), slack, 1) for anchor in anchors)
    return tuple(one for each in found for one in each)


def _distance(match: re.Match[str]) -> tuple[float, float]:
    """How many days "two weeks before" is, and its slack."""
    days, slack = UNITS[match["unit"].lower()]
    sign = -1 if match["way"].lower() == "before" else 1
    return sign * _count(match["count"]) * days, slack


def _date_follows(text: str, at: int) -> bool:
    following = (one for one in _mentions(text, ANY_TIME) if one.start >= at)
    first = next(following, None)
    if first is None or (gap := text[at : first.start].lower()) not in ("", "the "):
        return False
    return _is_whole(text, first, bool(gap))


def _is_whole(text: str, mention: _Mention, has_the: bool) -> bool:
    """Whether a date stands for itself, unlike in "the May trip" and "last week's trip"."""
    if text.startswith(("'s", "’s"), mention.end):
        return False
    has_digit = any(c.isdigit() for c in text[mention.start : mention.end])
    return not has_the or has_digit or not text.startswith(" ", mention.end)


def _read_iso(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    year, _, month, day = match.groups()
    if not 1 <= int(month) <= 12:
        return ()
    return tuple(_Period(int(month), 1, (int(day),) if day else ()).in_years([int(year)]))


def _read_period(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    month, months = PERIODS[match["name"].lower()]
    days = tuple(int(day) for day in match.group("d1", "d2", "d3", "d4") if day and months == 1)
    which, year = (match["which"] or "").lower(), (match["year"] or "").lower()
    relative = which or year.endswith("year")
    if not _is_period(match, bool(days)) or (relative and not scope.relative):
        return ()
    period = _Period(month, months, days)
    if year:
        past = 1 if year == "last year" else 0
        return tuple(period.in_years([int(year) if year.isdigit() else scope.now.year - past]))
    return _chosen(which, period, scope.now) if which else _known(period, scope)


def _is_period(match: re.Match[str], has_day: bool) -> bool:
    """Whether a word is meant as a month or season: many are verbs or people's names, too."""
    word, name = match["name"], match["name"].lower()
    if name in CLEAR or has_day or match["year"]:
        return True
    if match.string.startswith(("March's", "March’s"), match.start("name")):
        return True
    before = _before(match.string, match.start())
    within = WITHIN.search(before)
    if name in ("spring", "fall"):
        return bool(within or (match["which"] and not OWN.search(before)))
    if word.istitle() or name in NAMES:
        return bool(within or match["which"] or NEAR.search(before))
    return bool(within and not within["the"])


def _known(period: _Period, scope: _Scope) -> tuple[Window, ...]:
    """Each time a part of the year came round while something was remembered."""
    years = range(max(scope.start.year, scope.end.year - MOST_PER_DATE), scope.end.year + 1)
    came = (one for one in period.in_years(years) if scope.start < one.end)
    return tuple(one for one in came if one.start < scope.end)[-MOST_PER_DATE:]


def _chosen(which: str, period: _Period, now: datetime) -> tuple[Window, ...]:
    near = period.in_years(range(now.year - 2, now.year + 3))
    match which:
        case "next":
            return tuple(one for one in near if one.start > now)[:1]
        case "this":
            ours = period.in_years([now.year])
            return tuple(sorted(ours, key=lambda one: max(one.start - now, now - one.end))[:1])
        case _:
            return tuple(one for one in near if one.end <= now)[-1:]


def _read_year(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    year, before = int(match[0]), _before(match.string, match.start())
    if not BEFORE_YEAR.search(before) and not _is_bare_year(match, before, scope):
        return ()
    return _window(_month(year, 1), _month(year + 1, 1))


def _is_bare_year(match: re.Match[str], before: str, scope: _Scope) -> bool:
    """Whether a number reads as a year: "my 2022 trip", "Christmas 2022?"."""
    if not scope.start.year <= int(match[0]) <= scope.end.year:
        return False
    is_last = match.end() == len(match.string) or match.string[match.end()] in ",.?!"
    return bool(BEFORE_BARE_YEAR.search(before) or (is_last and before.endswith(" ")))


def _read_hours(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    today = _midnight(scope.now)
    start, end = HOURS[match[0].lower()]
    return _window(_moved(today, start / 24), _moved(today, end / 24))


def _read_ago(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    days, slack = UNITS[match["unit"].lower()]
    return _around(_moved(scope.now, -_count(match["count"]) * days), slack)


def _read_rolling(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    days, _ = UNITS[(match["unit"] or match["whole"]).lower()]
    start = _moved(scope.now, -_count(match["count"]) * days)
    return _window(_midnight(start), _moved(_midnight(scope.now), 1))


def _read_calendar(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    step, today = STEPS[match["which"].lower()], _midnight(scope.now)
    match match["unit"].lower():
        case "month":
            month = today.month + step
            return _window(_month(today.year, month), _month(today.year, month + 1))
        case "year":
            return _window(_month(today.year + step, 1), _month(today.year + step + 1, 1))
        case unit:
            monday = _moved(today, 7 * step - today.weekday())
            return _window(_moved(monday, 5 if unit == "weekend" else 0), _moved(monday, 7))


def _read_weekday(match: re.Match[str], scope: _Scope) -> tuple[Window, ...]:
    if not match["which"] and not BEFORE_WEEKDAY.search(_before(match.string, match.start())):
        return ()
    today = _midnight(scope.now)
    ahead = WEEKDAYS.index(match["weekday"].lower()) - today.weekday()
    which = (match["which"] or "").lower()
    days = {"this": ahead, "next": ahead % 7 or 7}.get(which, -(-ahead % 7 or 7))
    return _window(_moved(today, days), _moved(today, days + 1))


def _before(text: str, at: int) -> str:
    return text[max(0, at - LOOK_BACK) : at]


def _count(word: str | None) -> float:
    word = (word or "one").lower()
    return COUNTS[word] if word in COUNTS else float(word)


def _third(window: Window, number: int) -> Window:
    """The first, second or last third, in whole days; a day is not divided."""
    days = (window.end - window.start).days
    if days < 3:
        return window
    start = window.start + timedelta(days=days * (number - 1) // 3)
    return Window(start, window.start + timedelta(days=days * number // 3))


def _around(point: datetime, slack: float, length: float = 0) -> tuple[Window, ...]:
    return _window(_moved(point, -slack), _moved(point, length + slack))


def _window(start: datetime, end: datetime) -> tuple[Window, ...]:
    """A window, unless it would be empty."""
    return (Window(start, end),) if start < end else ()


def _month(year: int, month: int) -> datetime:
    """The beginning of a month; the 13th is the next January."""
    years, index = divmod(month - 1, 12)
    return datetime(min(max(year + years, 1), 9999), index + 1, 1, tzinfo=UTC)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _moved(moment: datetime, days: float) -> datetime:
    """So many days later, or the end of time."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return DUSK if days > 0 else DAWN


ANY_TIME = _Scope(_month(2001, 1), _month(2000, 1), _month(2001, 1), relative=True)
"""A leap year, in which every date can be read."""

_Readers = tuple[tuple[re.Pattern[str], Callable[[re.Match[str], _Scope], tuple[Window, ...]]], ...]
ABSOLUTE: _Readers = (
    (ISO, _read_iso),
    (PERIOD, _read_period),
    (YEAR, _read_year),
)
RELATIVE: _Readers = (
    (HOUR, _read_hours),
    (AGO, _read_ago),
    (ROLLING, _read_rolling),
    (CALENDAR, _read_calendar),
    (WEEKDAY, _read_weekday),
)
