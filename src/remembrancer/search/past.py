"""Finds out whether a question is about the past, and about which period, in four languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from remembrancer.search.dates import TimeWindow
from remembrancer.search.language import Language, detect_language
from remembrancer.search.terms import fold
from remembrancer.search.word_tables import load_tables

MAX_SCANNED_CHARS = 2_000
SEASON_MONTHS = 3
DAYS_PER_YEAR = 365
YEAR = r"(?:19|20)\d\d"
YEAR_PATTERN = re.compile(rf"\b{YEAR}\b")
FIRST_MOMENT = datetime(1900, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Wording:
    """The words for the past in one language, as patterns."""

    tense: re.Pattern[str]
    before: re.Pattern[str]
    period: re.Pattern[str]
    last: re.Pattern[str]
    ago: re.Pattern[str]
    periods: Mapping[str, tuple[int, int]]
    units: Mapping[str, int]
    counts: Mapping[str, int]


def find_past_window(text: str, now: datetime) -> TimeWindow | None:
    """The period in the past that a question is about; None if it is about the present.

    A question in the past tense, or with a word such as "formerly", is about all of the past.
    """
    plain = fold(text[:MAX_SCANNED_CHARS]).replace("’", "'")
    languages = _guess_languages(text)
    windows = [one for each in languages for one in _find_windows(plain, _load(each), now)]
    if windows:
        return windows[0]
    looks_back = any(
        _load(each).before.search(plain) or _load(each).tense.search(plain) for each in languages
    )
    return TimeWindow(FIRST_MOMENT, now) if looks_back else None


def is_relative(text: str) -> bool:
    """True if a text has words for time that depend on when it was said, such as "last week"."""
    plain = fold(text[:MAX_SCANNED_CHARS]).replace("’", "'")
    return any(_load_relative(one).search(plain) for one in _guess_languages(text))


@cache
def _load_relative(language: Language) -> re.Pattern[str]:
    return _compile(load_tables(__package__, "past.toml")[language]["relative"])


def _guess_languages(text: str) -> tuple[Language, ...]:
    language = detect_language(text)
    return (language,) if language else tuple(Language)


def _find_windows(plain: str, wording: _Wording, now: datetime) -> Iterator[TimeWindow]:
    """The periods before now that the text names."""
    in_past_tense = bool(wording.tense.search(plain) or wording.before.search(plain))
    for match in wording.period.finditer(plain):
        yield from _read_period(match, wording, now, in_past_tense)
    for match in wording.last.finditer(plain):
        yield _read_last(wording.units[match["unit"] or match["same"]], now)
    for match in wording.ago.finditer(plain):
        yield _read_distance(match, wording, now)
    for match in YEAR_PATTERN.finditer(plain):
        year = _window_of(int(match[0]), 1, 12)
        if year.end <= now or (in_past_tense and year.start < now):
            yield year


def _read_period(
    match: re.Match[str], wording: _Wording, now: datetime, in_past_tense: bool
) -> Iterator[TimeWindow]:
    """A month or season: of its year, or the latest before now if the question looks back."""
    month, months = wording.periods[match["name"]]
    if match["year"]:
        found = _window_of(int(match["year"]), month, months)
        if found.end <= now or in_past_tense:
            yield found
    elif in_past_tense or match["last"] or match["after"]:
        years = (now.year - ago for ago in range(3))
        windows = (_window_of(year, month, months) for year in years)
        yield next(one for one in windows if one.start < now and (one.end <= now or months == 1))


def _read_last(days: int, now: datetime) -> TimeWindow:
    """The unit before this one: a calendar year, or so many days, with some slack."""
    if days == DAYS_PER_YEAR:
        return _window_of(now.year - 1, 1, 12)
    return TimeWindow(now - timedelta(days=2 * days), now - timedelta(days=days / 2))


def _read_distance(match: re.Match[str], wording: _Wording, now: datetime) -> TimeWindow:
    count = match["count"]
    number = int(count) if count.isdigit() else wording.counts[count]
    days = wording.units[match["unit"]] * min(number, 1000)
    slack = timedelta(days=max(1.0, days / 4))
    return TimeWindow(now - timedelta(days=days) - slack, now - timedelta(days=days) + slack)


def _window_of(year: int, month: int, months: int) -> TimeWindow:
    after = month + months - 1
    start = datetime(year, month, 1, tzinfo=UTC)
    return TimeWindow(start, datetime(year + after // 12, after % 12 + 1, 1, tzinfo=UTC))


@cache
def list_time_words() -> frozenset[str]:
    """The words for months, seasons and units of time in all languages."""
    tables = load_tables(__package__, "past.toml").values()
    return frozenset(
        word
        for one in tables
        for word in (*one["months"].split(), *one["seasons"], *one["units"], *one["now"].split())
    )


@cache
def _load(language: Language) -> _Wording:
    table = load_tables(__package__, "past.toml")[language]
    months = {name: (number, 1) for number, name in enumerate(table["months"].split(), 1)}
    periods = months | {name: (first, SEASON_MONTHS) for name, first in table["seasons"].items()}
    names, units, last = "|".join(periods), "|".join(table["units"]), table["last"]
    return _Wording(
        tense=_compile("|".join(table["tense"].split())),
        before=_compile(table["before"]),
        period=_compile(
            rf"(?:(?P<last>{last}) )?(?P<name>{names})(?: (?P<after>{last}))?"
            rf"(?:,? (?:of |de )?(?P<year>{YEAR}))?"
        ),
        last=_compile(rf"(?:{last}) (?P<unit>{units})|(?P<same>{units}) (?:{last})"),
        ago=_compile(table["ago"].format(unit=units, count="|".join(table["counts"]))),
        periods=periods,
        units=table["units"],
        counts=table["counts"],
    )


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b")
