"""Finds names, numbers, units and dates of a proposal that come from nowhere. No I/O.

What cannot be told is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Any

from remembrancer.learn.details.date_words import list_months
from remembrancer.learn.details.known_names import (
    count_listed_names,
    find_sentences_about,
    find_unknown_names,
)
from remembrancer.learn.details.numbers import fold, load_data, split_words
from remembrancer.learn.details.said_dates import SaidDate, find_dates, is_foreign, list_readings
from remembrancer.learn.details.said_numbers import (
    HALF_DAY,
    Quantity,
    SaidNumbers,
    convert,
    find_unit_class,
    list_taken_back,
    read_claimed_numbers,
    read_numbers,
)
from remembrancer.learn.details.said_period import SaidPeriod
from remembrancer.search.language import detect_language

MIN_AGE, MAX_AGE = 5, 110
"""Years after which a date may follow from an age or an anniversary."""

MIN_YEAR, MAX_YEAR = 1000, 3000
MIN_LONG_NUMBER = 4
"""Digits from which a number may be written in other groups."""

MONTH_DAYS = 31
"""By how many days a season may be off."""


class DetailKind(StrEnum):
    """What a detail is."""

    NAME = "name"
    NUMBER = "number"
    UNIT = "unit"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """A detail of a proposal that no source contains."""

    kind: DetailKind
    words: str


class TextOrigin(StrEnum):
    """Where a text comes from.

    Evidence is a quoted turn of the person, the turn before it that they assent to, and the memory
    that is updated: numbers and dates come from there. The person's other turns and the other
    memories are their own, too. Names may come from any text.
    """

    EVIDENCE = "evidence"
    OWN = "own"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class GroundingText:
    """A text that a proposal may draw on."""

    text: str
    origin: TextOrigin = TextOrigin.OTHER
    said_at: datetime | None = None

    @property
    def is_evidence(self) -> bool:
        return self.origin is TextOrigin.EVIDENCE


def find_ungrounded(
    content: str, sources: Sequence[GroundingText], person: str | None = None
) -> list[Ungrounded]:
    """The names, numbers, units and dates of a proposal that come from nowhere.

    `person` is the name of the user. Without evidence, or if it is in an unknown language, nothing
    is reported.
    """
    evidence = [one.text for one in sources if one.is_evidence]
    if not evidence or is_foreign(evidence):
        return []
    others = [one.text for one in sources if not one.is_evidence]
    own = [one.text for one in sources if one.origin is TextOrigin.OWN]
    said_at = max((one.said_at for one in sources if one.is_evidence and one.said_at), default=None)
    names = find_unknown_names(content, [*evidence, *others, person or ""], evidence)
    dates, rest = _check_dates(content, evidence, others, said_at)
    about = find_sentences_about(content, own, person)
    return [
        *(Ungrounded(DetailKind.NAME, one) for one in names),
        *dates,
        *_find_numbers(rest, [*evidence, *about], said_at, count_listed_names(content)),
    ]


_SHORT_YEAR = re.compile(r"['’](\d\d)\b|\b(\d0)s\b")


def _check_dates(
    content: str, evidence: Sequence[str], others: Sequence[str], said_at: datetime | None
) -> tuple[list[Ungrounded], str]:
    """The dates that do not follow, and the folded content without its dates."""
    text = fold(content)
    if said_at is None:
        return [], text
    readings = _list_evidence_days(evidence, others, said_at)
    months = {month for one in evidence for month in list_months(one)}
    years = _list_years(evidence, readings, said_at)
    weekdays = _list_weekdays(evidence) | _list_weekdays_of(readings[1:])
    found: list[Ungrounded] = []
    for one in find_dates(content, said_at):
        words = text[slice(*one.span)]
        if not _follows(one, readings, months, years):
            found.append(Ungrounded(DetailKind.DATE, words))
        if set(one.code) & set("Dmy"):
            text = text[: one.span[0]] + " " * len(words) + text[one.span[1] :]
    for word, number in _find_weekdays(fold(content)):
        if number not in weekdays:
            found.append(Ungrounded(DetailKind.DATE, word))
    return found, text


def _list_evidence_days(
    evidence: Sequence[str], others: Sequence[str], said_at: datetime
) -> list[SaidPeriod]:
    """The periods that the evidence mentions, and the day on which it was said."""
    today = SaidPeriod(said_at.date(), said_at.date())
    return [today, *list_readings(evidence, said_at, others)]


def _follows(
    said: SaidDate, readings: Sequence[SaidPeriod], months: set[int], years: set[int]
) -> bool:
    """True if a date of the content follows from the evidence, or is not checked."""
    code = said.code
    if not said.periods or said.is_ambiguous:
        return True
    if "D" in code or ("m" in code and set(code) & set("dn")):
        return _day_follows(said, readings, years)
    if "m" in code:
        return _month_follows(said, readings, months, years)
    if code == "y":
        return said.periods[0].first.year in years
    if "y" in code:
        slack = timedelta(MONTH_DAYS)
        return any(_overlaps(one, other, slack) for one in said.periods for other in readings)
    return True


def _day_follows(said: SaidDate, readings: Sequence[SaidPeriod], years: set[int]) -> bool:
    """True for days that are said; without a year, or in the year of a birth, in any year."""
    days = {day for one in said.periods for day in (one.first, one.last)}
    known = {(day.month, day.day) for one in readings for day in _list_bounds(one)}
    is_known = all((day.month, day.day) in known for day in days)
    if not set(said.code) & set("yuD"):
        return is_known or any(_is_on(day, one) for one in readings for day in days)
    if is_known and _is_long_ago(days, readings, years):
        return True
    return all(any(_is_on(day, one) for one in readings) for day in days)


def _is_long_ago(days: set[date], readings: Sequence[SaidPeriod], years: set[int]) -> bool:
    """True for years that follow from an age; the first reading is the day of the turn."""
    latest = readings[0].first.year - MIN_AGE
    return all(one.year in years and one.year <= latest for one in days)


def _list_bounds(period: SaidPeriod) -> tuple[date, ...]:
    return period.first, period.last, *_list_dates(period)


def _list_dates(period: SaidPeriod) -> tuple[date, ...]:
    return tuple(one for one in (period.dates.start, period.dates.end) if one)


def _is_on(day: date, period: SaidPeriod) -> bool:
    slack = timedelta(period.slack)
    if period.any_day:
        return period.first - slack <= day <= period.last + slack
    return any(one - slack <= day <= one + slack for one in _list_bounds(period))


def _month_follows(
    said: SaidDate, readings: Sequence[SaidPeriod], months: set[int], years: set[int]
) -> bool:
    known = months | {one.month for other in readings for one in _list_bounds(other)}
    days = {one.first for one in said.periods}
    is_known = all(one.month in known for one in days)
    if not set(said.code) & set("yu") or (is_known and _is_long_ago(days, readings, years)):
        return is_known
    return any(
        _overlaps(one, other, timedelta(other.slack)) for one in said.periods for other in readings
    )


def _overlaps(one: SaidPeriod, other: SaidPeriod, slack: timedelta) -> bool:
    if other.any_day:
        return one.first - slack <= other.last and other.first <= one.last + slack
    return any(one.first - slack <= day <= one.last + slack for day in _list_bounds(other))


def _list_years(
    evidence: Sequence[str], readings: Sequence[SaidPeriod], said_at: datetime
) -> set[int]:
    """The years of the evidence, and those that follow from an age or a duration."""
    found = {said_at.year}
    for one in readings:
        slack = timedelta(one.slack)
        found |= set(range((one.first - slack).year, (one.last + slack).year + 1))
    values = {value for text in evidence for value in read_numbers(text).values}
    counts = {int(value) for value in values if value < MAX_YEAR}
    found |= {one for one in counts if one > MIN_YEAR}
    found |= _list_short_years(evidence)
    ages = {one for one in counts if 0 < one <= MAX_AGE}
    return found | {said_at.year - age - step for age in ages for step in (0, 1)}


def _list_short_years(evidence: Sequence[str]) -> set[int]:
    """The years of "'92" and "the 80s"."""
    short = {int(one[1] or one[2]) for text in evidence for one in _SHORT_YEAR.finditer(text)}
    return {century + one for one in short for century in (1900, 2000)}


def _find_weekdays(text: str) -> Iterator[tuple[str, int]]:
    for word in split_words(text):
        number = _weekday_words().get(word)
        if number is not None and word not in _load()["weekdays"]["abbreviations"]:
            yield word, number


def _list_weekdays(evidence: Sequence[str]) -> set[int]:
    """The weekdays that are named, those between them, and those of a week or weekend."""
    text = fold(" ".join(evidence))
    named = [
        number
        for word in split_words(text)
        for name, number in _weekday_words().items()
        if word == name or (len(name) > 5 and word.startswith(name))
    ]
    data = _load()["weekdays"]
    found = set(named)
    days = "|".join(_weekday_words())
    if re.search(rf"\b(?:{days}) ?(?:{data['joints']}) ?(?:{days})\b", text):
        for first, last in pairwise(named):
            found |= {(first + step) % 7 for step in range((last - first) % 7)}
    if re.search(rf"\b(?:{data['working_days']})\b", text):
        found |= set(range(5))
    return found | ({5, 6} if re.search(rf"\b(?:{data['weekend']})\b", text) else set())


def _list_weekdays_of(readings: Iterable[SaidPeriod]) -> set[int]:
    """The weekdays of the days that the evidence means."""
    exact = [
        one for one in readings if not one.any_day and (one.last - one.first).days < MONTH_DAYS - 4
    ]
    return {day.weekday() for one in exact for day in (one.first, one.last)}


def _find_numbers(
    text: str, evidence: Sequence[str], said_at: datetime | None, names: int
) -> Iterator[Ungrounded]:
    said = [read_numbers(one) for one in evidence]
    taken_back = frozenset(value for one in evidence for value in list_taken_back(one))
    quantities = [one for each in said for one in each.quantities]
    values = _list_values(quantities, said_at) - taken_back
    values |= {*_list_short_years(evidence), len(_list_weekdays(evidence))}
    times = _list_times(said, taken_back)
    numbers = read_claimed_numbers(text, detect_language(text))
    timed = " ".join(numbers.times)
    for words, time in numbers.times.items():
        if time not in times and not _are_said(words, values):
            yield Ungrounded(DetailKind.NUMBER, words)
    for one in numbers.quantities:
        if one.words in timed:
            continue
        if min(one.values) > max(1, names) and not (one.values & values or _is_part(one, evidence)):
            yield Ungrounded(DetailKind.NUMBER, one.words)
        elif _has_other_unit(one, quantities):
            yield Ungrounded(DetailKind.UNIT, f"{one.words} {one.unit}")


def _list_times(said: Iterable[SaidNumbers], taken_back: frozenset[float]) -> set[int]:
    """The times of day that are said, in full or as an hour."""
    found = {time for one in said for time in one.times.values()}
    hours = {value for one in said for value in one.values if value <= 24}
    return (found | {int(one) * 60 % HALF_DAY for one in hours}) - {
        int(one) * 60 % HALF_DAY for one in taken_back
    }


def _list_values(quantities: Iterable[Quantity], said_at: datetime | None) -> frozenset[float]:
    """The numbers that are said, in smaller units too, and simple arithmetic with them."""
    said = list(quantities)
    found = {value for one in said for value in one.values | convert(one)}
    for one, other in pairwise(said):
        found |= {each for a in one.values for b in other.values for each in (a + b, abs(a - b))}
    if said_at:
        years = [value for value in found if 1900 < value < 2100]
        found |= {said_at.year - value + step for value in years for step in (-1, 0)}
    return frozenset(found)


def _is_part(quantity: Quantity, evidence: Sequence[str]) -> bool:
    """True if a long number, such as that of a telephone, occurs in other groups."""
    digits = re.sub(r"\D", "", quantity.words)
    said = (re.sub(r"[\s.,'/()-]", "", one) for one in evidence)
    return len(digits) >= MIN_LONG_NUMBER and any(digits in one for one in said)


def _are_said(words: str, values: frozenset[float]) -> bool:
    if read_numbers(words).values & values and "." in words:
        return True
    return all(float(one) in values for one in re.findall(r"\d+", words))


def _has_other_unit(quantity: Quantity, said: Sequence[Quantity]) -> bool:
    """True if the number is said only with other units of the same class."""
    alike = [one for one in said if one.values & quantity.values]
    if quantity.unit is None or not alike or any(one.unit is None for one in alike):
        return False
    units = {one.unit for one in alike if one.unit}
    kind = find_unit_class(quantity.unit)
    return quantity.unit not in units and all(find_unit_class(one) == kind for one in units)


@cache
def _load() -> Mapping[str, Any]:
    return load_data("grounding.toml")


@cache
def _weekday_words() -> Mapping[str, int]:
    found: dict[str, int] = dict(_load()["weekdays"]["abbreviations"])
    for number, phrases in load_data("said_dates.toml")["weekdays"].items():
        for word in map(fold, phrases):
            found |= {word: int(number), f"{word}s": int(number)}
    return found
