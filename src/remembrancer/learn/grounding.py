"""Finds names, numbers, units and dates of a proposal that come from nowhere. No I/O.

What cannot be told is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache
from typing import Any

from remembrancer.guard.persons.name_lists import (
    is_common_given_name,
    is_given_name,
    is_ordinary,
    is_surname,
    is_technical,
)
from remembrancer.learn.date_words import list_months
from remembrancer.learn.numbers import fold, load_data, split_words
from remembrancer.learn.said_dates import SaidDate, find_dates, list_readings
from remembrancer.learn.said_numbers import (
    Quantity,
    convert,
    find_unit_class,
    list_taken_back,
    read_claimed_numbers,
    read_numbers,
)
from remembrancer.learn.said_period import SaidPeriod
from remembrancer.search.language import Language, detect_language
from remembrancer.search.sentences import SENTENCE_END_PATTERN

MIN_NAME_CHARS = 3
MAX_AGE = 110
SAME_NAME_RATIO, TRANSLATED_NAME_RATIO = 0.8, 0.7
"""How alike the letters of two forms of a name are, in one language and in two."""

MAX_SUMMAND = 20
"""Up to which value two numbers that are said may be added."""

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

    `person` is the name of the user. Without evidence nothing is reported.
    """
    evidence = [one.text for one in sources if one.is_evidence]
    if not evidence:
        return []
    times = [one.said_at for one in sources if one.is_evidence and one.said_at]
    others = [one.text for one in sources if not one.is_evidence]
    dates, rest = _check_dates(content, evidence, others, max(times, default=None))
    everything = [*evidence, *others, person or ""]
    own = [one.text for one in sources if one.origin is TextOrigin.OWN]
    about = _find_sentences_about(content, own, person)
    return [
        *_find_names(content, everything, evidence),
        *dates,
        *_find_numbers(rest, [*evidence, *about], max(times, default=None), _count_names(content)),
    ]


def is_assent(text: str) -> bool:
    """True if a turn begins by agreeing with the turn before it."""
    return bool(_assent_pattern().match(fold(text)))


# Names


_NAME = re.compile(r"[^\W\d_][\w’'-]*")
_CAPITALISED = re.compile(r"\b[A-ZÀ-Þ][\w’'-]*")
_NAME_LIST = re.compile(
    rf"{_CAPITALISED.pattern}(?:(?:,| \([^)]*\)|,? \d+,?)*(?: and| und| y| e| et| &|,)? {_CAPITALISED.pattern})+"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;(\n\"“„«]\s*)$")


def _find_names(
    content: str, sources: Sequence[str], evidence: Sequence[str]
) -> Iterator[Ungrounded]:
    vocabulary = frozenset(word for one in sources for word in split_words(one))
    squeezed = "".join("".join(fold(one).split()) for one in sources)
    language = detect_language(content)
    said_in = detect_language(" ".join(evidence))
    is_translated = None not in (language, said_in) and language != said_in
    previous = ""
    for match in _NAME.finditer(content):
        word, before = match[0], content[: match.start()]
        is_first = bool(_SENTENCE_START.search(before))
        if not word[0].isupper() or _is_code(word, squeezed):
            previous = ""
            continue
        known = _is_known(word, vocabulary, is_translated)
        if not known and _is_name(word, is_first, language, is_translated, previous, before):
            yield Ungrounded(DetailKind.NAME, word)
        previous = word if known else ""


def _is_code(word: str, squeezed: str) -> bool:
    """True for an acronym, and for letters with digits that occur."""
    return word.isupper() or any(one.isdigit() for one in word) or fold(word) in squeezed


def _is_name(
    word: str,
    is_first: bool,
    language: Language | None,
    is_translated: bool,
    previous: str,
    before: str,
) -> bool:
    """True if an unknown capitalised word must be a name."""
    plain = _strip_ending(word)
    if len(plain) < MIN_NAME_CHARS or is_ordinary(plain) or is_technical(plain):
        return False
    if is_first:
        return language is Language.ENGLISH and is_common_given_name(plain)
    if language is Language.GERMAN or language is None:
        return is_common_given_name(plain)
    if before.endswith(", ") or is_translated:
        return is_given_name(plain) and not _is_place_after(before)
    if previous and before.endswith(" "):
        return is_given_name(_strip_ending(previous)) and is_surname(plain)
    return True


def _is_place_after(before: str) -> bool:
    """True in "Bergen, Norway": the word after a name and a comma may be where it is."""
    return bool(re.search(r"\b(?:in|to|from|at|near) [A-Z][\w-]+, $", before))


def _is_known(word: str, vocabulary: frozenset[str], is_translated: bool) -> bool:
    """True if a word, a part of it or a form of it occurs, or if it is no name."""
    parts = [one for one in split_words(word) if len(one) > 1]
    if any(one in vocabulary or one in _no_names() for one in parts) or not parts:
        return True
    ratio = TRANSLATED_NAME_RATIO if is_translated else SAME_NAME_RATIO
    plain = _strip_ending(word)
    forms = {plain, *_same_words().get(plain, ())}
    return any(_is_form(one, other, ratio) for one in forms for other in vocabulary)


def _is_form(one: str, other: str, ratio: float) -> bool:
    if one == other:
        return True
    if len(other) < 4 or len(one) < 4 or one[0] != other[0]:
        return False
    if other.startswith(one[: max(4, len(one) * 2 // 3)]):
        return True
    return SequenceMatcher(None, one, other).ratio() >= ratio


def _strip_ending(word: str) -> str:
    """The folded name without the ending of a genitive."""
    plain = re.sub(r"(?:'s|'|-)$", "", fold(word))
    return re.split(r"['-]", plain)[-1] if "-" in plain or "'" in plain else plain


# Dates


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
    weekdays = _list_weekdays(evidence) | _list_days_of(readings, said_at)
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
    if not said.periods:
        return True
    if "D" in code or ("m" in code and set(code) & set("dn")):
        return _day_follows(said, readings)
    if "m" in code:
        return _month_follows(said, readings, months)
    if code == "y":
        return said.periods[0].first.year in years
    if "y" in code:
        slack = timedelta(MONTH_DAYS)
        return any(_overlaps(one, other, slack) for one in said.periods for other in readings)
    return True


def _day_follows(said: SaidDate, readings: Sequence[SaidPeriod]) -> bool:
    has_year = "y" in said.code or "u" in said.code or "D" in said.code
    days = {day for one in said.periods for day in (one.first, one.last)}
    if has_year:
        return all(any(_is_on(day, one) for one in readings) for day in days)
    known = {(day.month, day.day) for one in readings for day in _list_bounds(one)}
    if days and all((day.month, day.day) in known for day in days):
        return True
    return any(_is_on(day, one) for one in readings for day in days)


def _list_bounds(period: SaidPeriod) -> tuple[date, ...]:
    return period.first, period.last, *_list_dates(period)


def _list_dates(period: SaidPeriod) -> tuple[date, ...]:
    return tuple(one for one in (period.dates.start, period.dates.end) if one)


def _is_on(day: date, period: SaidPeriod) -> bool:
    slack = timedelta(period.slack)
    if period.any_day:
        return period.first - slack <= day <= period.last + slack
    return any(one - slack <= day <= one + slack for one in _list_bounds(period))


def _month_follows(said: SaidDate, readings: Sequence[SaidPeriod], months: set[int]) -> bool:
    if "y" not in said.code and "u" not in said.code:
        known = months | {one.month for other in readings for one in _list_bounds(other)}
        return said.periods[0].first.month in known
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
    counts = {int(value) for text in evidence for value in read_numbers(text).values}
    found |= {one for one in counts if 1000 < one < 3000}
    ages = {one for one in counts if 0 < one <= MAX_AGE}
    return found | {said_at.year - age - step for age in ages for step in (0, 1)}


def _find_weekdays(text: str) -> Iterator[tuple[str, int]]:
    for word in split_words(text):
        number = _weekday_words().get(word)
        if number is not None:
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
    found = set(named)
    for first, last in zip(named, named[1:], strict=False):
        found |= {(first + step) % 7 for step in range((last - first) % 7)}
    data = _load()["weekdays"]
    if re.search(rf"\b(?:{data['working_days']})\b", text):
        found |= set(range(5))
    return found | ({5, 6} if re.search(rf"\b(?:{data['weekend']})\b", text) else set())


def _list_days_of(readings: Sequence[SaidPeriod], said_at: datetime) -> set[int]:
    """The weekdays of the days that the evidence means, and of the days around the turn."""
    near = {(said_at.weekday() + step) % 7 for step in (-1, 0, 1)}
    return near | {day.weekday() for one in readings for day in _list_bounds(one)}


# Numbers


def _find_sentences_about(content: str, own: Sequence[str], person: str | None) -> list[str]:
    """The sentences of the person's own texts that name someone whom the content names."""
    mine = set(split_words(person or ""))
    names = {_strip_ending(one) for one in _NAME.findall(content) if one[0].isupper()} - mine
    return [
        sentence
        for text in own
        for sentence in SENTENCE_END_PATTERN.split(text)
        if names & {_strip_ending(one) for one in _NAME.findall(sentence)}
    ]


def _count_names(content: str) -> int:
    """How many names a content lists: "two cats, Mimi and Tom" counts them."""
    runs = [_CAPITALISED.findall(one[0]) for one in _NAME_LIST.finditer(content)]
    return max(map(len, runs), default=0)


def _find_numbers(
    text: str, evidence: Sequence[str], said_at: datetime | None, names: int
) -> Iterator[Ungrounded]:
    said = [read_numbers(one) for one in evidence]
    taken_back = frozenset(value for one in evidence for value in list_taken_back(one))
    quantities = [one for each in said for one in each.quantities]
    values = _list_values(quantities, said_at) - taken_back
    times = {time for each in said for time in each.times.values()}
    times |= {int(value) * 60 % 720 for value in values if value <= 24}
    numbers = read_claimed_numbers(text, detect_language(text))
    timed = " ".join(numbers.times)
    for words, time in numbers.times.items():
        if time not in times and not _are_said(words, values):
            yield Ungrounded(DetailKind.NUMBER, words)
    for one in numbers.quantities:
        if one.words in timed:
            continue
        if min(one.values) > max(1, names) and not one.values & values:
            yield Ungrounded(DetailKind.NUMBER, one.words)
        elif _has_other_unit(one, quantities):
            yield Ungrounded(DetailKind.UNIT, f"{one.words} {one.unit}")


def _list_values(quantities: Iterable[Quantity], said_at: datetime | None) -> frozenset[float]:
    """The numbers that are said, in smaller units too, and the years since a year."""
    found: set[float] = set()
    for one in quantities:
        found |= one.values | convert(one)
    small = [value for value in found if 1 < value <= MAX_SUMMAND]
    found |= {one + other for one in small for other in small if one != other}
    if said_at:
        years = [value for value in found if 1900 < value < 2100]
        found |= {said_at.year - value + step for value in years for step in (-1, 0)}
    return frozenset(found)


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


# Data


@cache
def _load() -> Mapping[str, Any]:
    return load_data("grounding.toml")


@cache
def _no_names() -> frozenset[str]:
    """Words that are capitalised without being a name, or that are only a resolved form."""
    listed = " ".join(_load()[one]["words"] for one in ("titles", "kinds_of_places", "lands"))
    dates = load_data("said_dates.toml")
    times = [
        word
        for name in ("months", "weekdays", "seasons", "holidays")
        for phrases in dates[name].values()
        for phrase in phrases
        for word in split_words(phrase)
    ]
    return frozenset([*listed.split(), *times, *_weekday_words()])


@cache
def _same_words() -> Mapping[str, tuple[str, ...]]:
    groups = [tuple(one.split()) for one in _load()["same"]["groups"]]
    return {word: group for group in groups for word in group}


@cache
def _weekday_words() -> Mapping[str, int]:
    found: dict[str, int] = dict(_load()["weekdays"]["abbreviations"])
    for number, phrases in load_data("said_dates.toml")["weekdays"].items():
        for word in map(fold, phrases):
            found |= {word: int(number), f"{word}s": int(number)}
    return found


@cache
def _assent_pattern() -> re.Pattern[str]:
    return re.compile(_load()["assent"]["pattern"].replace("\n", ""))
