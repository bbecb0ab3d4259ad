"""Reads numbers, units and times of day from a text in four languages. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from remembrancer.learn.details.numbers import (
    fold,
    list_articles,
    list_cardinals,
    list_ordinals,
    load_data,
)
from remembrancer.search.language import Language

HALF_DAY = 12 * 60
"""Minutes; times are compared on a clock of twelve hours."""

A_QUARTER = ("cuarto",)
"""An ordinal that is more often a part of an hour."""

_WORDS = re.compile(r"[^\W\d_]+")
_GROUPED = r"\d{1,3}(?:[ .,']\d{3})+(?:[.,]\d{1,2})?"
_NUMBER = re.compile(rf"(?<![\w.,])(?:{_GROUPED}(?!\d)|\d+(?:[.,]\d+)?)")
_SYMBOL = re.compile(r"[$€£¥₹]\s?$")
_UNIT = re.compile(r"\s?([a-z]+\d?|[$€£¥₹%])")
_SUFFIXED = re.compile(r"\b(\d+)(?:st|nd|rd|th|er|ere|eme|e|x|kg|km|mg|g|m|cm|min|h|k)\b")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text: the values it may stand for, and its unit if there is one."""

    words: str
    values: frozenset[float]
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class SaidNumbers:
    """The quantities of a text, and its times of day in minutes on a clock of twelve hours."""

    quantities: tuple[Quantity, ...]
    times: Mapping[str, int]

    @property
    def values(self) -> frozenset[float]:
        return frozenset(value for one in self.quantities for value in one.values)


def read_numbers(text: str, language: Language | None = None) -> SaidNumbers:
    """The numbers and times of a text; number words of one language, or of all."""
    digits = write_digits(text, language)
    found = [*_find_quantities(digits), *_find_fractions(digits)]
    return SaidNumbers(tuple(found), _find_times(digits))


def read_claimed_numbers(text: str, language: Language | None) -> SaidNumbers:
    """The numbers of a claim, without words such as "both" or "half"."""
    digits = write_digits(_unchecked_pattern().sub(" ", fold(text)), language)
    return SaidNumbers(tuple(_find_quantities(digits)), _find_times(digits))


def write_digits(text: str, language: Language | None = None) -> str:
    """The folded text with digits in place of number words."""
    folded = fold(text)
    words = list(_WORDS.finditer(folded))
    pieces: list[str] = []
    at, done = 0, 0
    while at < len(words):
        size, value = _match_number(folded, words[at : at + 4], language)
        if size:
            pieces += [folded[done : words[at].start()], str(value)]
            done = words[at + size - 1].end()
        at += size or 1
    return "".join([*pieces, folded[done:]])


def _match_number(
    text: str, words: list[re.Match[str]], language: Language | None
) -> tuple[int, int]:
    """The number of words that form a number, and its value."""
    known = _number_words(language)
    for size in range(len(words), 0, -1):
        gaps = [text[one.end() : other.start()] for one, other in pairwise(words[:size])]
        phrase = tuple(one[0] for one in words[:size])
        if phrase in known and all(one in (" ", "-") for one in gaps):
            return size, known[phrase]
    return 0, 0


@cache
def _number_words(language: Language | None) -> Mapping[tuple[str, ...], int]:
    ordinals = {
        one: value for one, value in list_ordinals().items() if value > 2 and one != A_QUARTER
    }
    cardinals = {
        one: value for one, value in list_cardinals(language).items() if one not in list_articles()
    }
    return {**ordinals, **cardinals}


def _find_quantities(digits: str) -> Iterable[Quantity]:
    text = _SUFFIXED.sub(lambda one: f"{one[1]} {one[0][len(one[1]) :]}", digits)
    for match in _NUMBER.finditer(text):
        following = _UNIT.match(text, match.end())
        before = _SYMBOL.search(text[: match.start()])
        unit = _find_unit(before[0].strip() if before else following[1] if following else "")
        values = _read_values(match[0]) | _multiply(text, match)
        yield Quantity(match[0], frozenset(values), unit)


def _find_fractions(digits: str) -> Iterable[Quantity]:
    for value, pattern in _fraction_patterns().items():
        if found := pattern.search(digits):
            yield Quantity(found[0], frozenset({value, value * 100} if value < 1 else {value}))


def _read_values(words: str) -> set[float]:
    """The values of a number: "1.250" may be 1250 or 1.25."""
    parts = re.split(r"[ .,']", words)
    found = {float("".join(parts))} if len(parts) > 1 and len(parts[-1]) == 3 else set()
    if " " in words:
        found |= {float(one) for one in parts}
    elif len(parts) == 2:
        found.add(float(".".join(parts)))
    elif len(parts) > 2 and len(parts[-1]) < 3:
        found.add(float("".join(parts[:-1]) + "." + parts[-1]))
    elif len(parts) == 1:
        found.add(float(words))
    return found


def _multiply(text: str, match: re.Match[str]) -> set[float]:
    """The values of "40k", "15 mil" and "13 mil 500"."""
    found: set[float] = set()
    for pattern, factor in _multiplier_patterns():
        if following := pattern.match(text, match.end()):
            rest = float(following[1] or 0)
            found |= {
                value * factor + more for value in _read_values(match[0]) for more in (0.0, rest)
            }
    return found


def _find_unit(word: str) -> str | None:
    return _units().get(word)


def convert(quantity: Quantity) -> frozenset[float]:
    """The amounts in smaller units."""
    steps = load_numbers()["convert"].get(quantity.unit or "", [])
    return frozenset(value * factor for _, factor in steps for value in quantity.values)


def find_unit_class(unit: str) -> str:
    """The class of a unit: units of one class exclude each other."""
    classes: Mapping[str, Any] = load_numbers()["units"]
    return next((name for name, units in classes.items() if unit in units), "")


def _find_times(digits: str) -> dict[str, int]:
    """The times of day by the words for them."""
    found: dict[str, int] = {}
    for pattern, sign, fixed in _time_patterns():
        for match in pattern.finditer(digits):
            minutes = int(match.groupdict().get("m") or 0) * sign + fixed
            if int(match["h"]) <= 24 and abs(minutes) < 60:
                found[match[0]] = (int(match["h"]) * 60 + minutes) % HALF_DAY
    return found


def list_taken_back(text: str) -> frozenset[float]:
    """The numbers that a text corrects: 7 in "at 7, sorry, at 8"."""
    digits = write_digits(text)
    found: set[float] = set()
    for match in _correction_pattern().finditer(digits):
        later = {len(one[0]) for one in _NUMBER.finditer(digits, match.end(), match.end() + 90)}
        before = match["number"]
        if len(before) in later and float(before) not in _values_after(digits, match.end()):
            found.add(float(before))
    return frozenset(found)


def _values_after(digits: str, at: int) -> set[float]:
    return {value for one in _NUMBER.finditer(digits, at) for value in _read_values(one[0])}


@cache
def load_numbers() -> Mapping[str, Any]:
    """The units, times and multipliers."""
    return load_data("said_numbers.toml")


@cache
def _units() -> Mapping[str, str]:
    classes = load_numbers()["units"].values()
    return {word: unit for one in classes for unit, words in one.items() for word in words}


@cache
def _fraction_patterns() -> Mapping[float, re.Pattern[str]]:
    found = load_numbers()["fractions"]
    return {float(value): re.compile(rf"\b(?:{words})\b") for value, words in found.items()}


@cache
def _unchecked_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(load_numbers()['unchecked']['words'].split())})\b")


@cache
def _multiplier_patterns() -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple(
        (
            re.compile(rf"\s?(?:{one['words']})\b(?: (?:and |und |y |et )?(\d{{1,3}})\b)?"),
            one["value"],
        )
        for one in load_numbers()["multipliers"].values()
    )


@cache
def _time_patterns() -> tuple[tuple[re.Pattern[str], int, int], ...]:
    return tuple(
        (re.compile(one["pattern"]), one.get("sign", 1), one.get("fixed", 0))
        for one in load_numbers()["times"]
    )


@cache
def _correction_pattern() -> re.Pattern[str]:
    found = load_numbers()["corrections"]
    strong = found["strong"].replace("\n", "")
    return re.compile(
        rf"\b(?P<number>\d+)(?:st|nd|rd|th|er|e|\.)?\s?[,.…-]*\s?"
        rf"(?:[a-z]{{1,20}} ?){{0,2}}[,.…-]*\s?"
        rf"(?:\b(?:{strong})\b|\b(?:{found['weak']})\b[, ]+(?:[a-z]{{1,20}} ){{0,2}}(?=\d))"
    )
