"""Reads numbers, times, dates and amounts with their units, however they are written. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from remembrancer.search.word_tables import load_tables


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of a unit, such as 15 minutes; without a unit, a bare number."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class FoundAmount:
    """A amount at the start of a sequence of words, and how many words it takes."""

    amount: Amount
    length: int


_NUMBER = re.compile(r"[-−]?\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"[-−]?\d{1,3}(?:[.,]\d{3})+")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(am|pm)?|(\d{1,2})(am|pm)")
_ATTACHED = re.compile(r"([-−]?\d+(?:[.,]\d+)*)([a-z°%µ/]+)")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_MULTIPLIERS = {"k": 1_000.0, "thousand": 1_000.0, "m": 1_000_000.0, "million": 1_000_000.0}
_FRACTIONS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3}
_PARTS_OF_DAY: dict[tuple[str, ...], str] = {
    ("in", "the", "morning"): "am",
    ("in", "the", "afternoon"): "pm",
    ("in", "the", "evening"): "pm",
}
_EACH = ("a", "an", "per", "each", "every")
CLOCK_UNIT, HALF_DAY_UNIT = "o'clock", "hour of half a day"


def read_amount(words: Sequence[str]) -> FoundAmount | None:
    """The amount that these folded words begin with."""
    if not words:
        return None
    for reader in (_read_clock, _read_fraction, _read_rate, _read_measure):
        if found := reader(words):
            return found
    return None


def _read_clock(words: Sequence[str]) -> FoundAmount | None:
    """A time of day: 14:00, 2 pm, 2pm, noon, half past six."""
    word, following = words[0], words[1] if len(words) > 1 else ""
    if word in ("noon", "midday", "midnight"):
        return FoundAmount(Amount(0 if word == "midnight" else 720, CLOCK_UNIT), 1)
    if match := _CLOCK.fullmatch(word):
        hour, minute = int(match[1] or match[4]), int(match[2] or 0)
        half = match[3] or match[5]
        length = 1
        if half is None and following in ("am", "pm", "a.m", "p.m"):
            half, length = following.replace(".", ""), 2
        elif half is None and following in ("h", "o'clock", "hours"):
            length = 2
        return FoundAmount(_clock(hour, minute, half), length)
    if word.isdigit() and following in ("am", "pm", "a.m", "p.m"):
        return FoundAmount(_clock(int(word), 0, following.replace(".", "")), 2)
    return _read_past(words) or _read_hour(words)


def _read_hour(words: Sequence[str]) -> FoundAmount | None:
    """Six in the evening, 5 o'clock, three pm."""
    hour = _value_of(words[0])
    if hour is None or hour > 24 or hour != int(hour):
        return None
    length = 2 if list(words[1:2]) == ["o'clock"] else 1
    half = _PARTS_OF_DAY.get(tuple(words[length : length + 3]))
    if half is not None:
        return FoundAmount(_clock(int(hour), 0, half), length + 3)
    if list(words[length : length + 1]) in (["am"], ["pm"]):
        return FoundAmount(_clock(int(hour), 0, words[length]), length + 1)
    return FoundAmount(_clock(int(hour), 0, None), 2) if length == 2 else None


def _read_past(words: Sequence[str]) -> FoundAmount | None:
    """Half past six, quarter to nine; "in the evening" makes it 18:30."""
    if len(words) < 3 or words[0] not in _FRACTIONS or words[1] not in ("past", "to"):
        return None
    hour = _value_of(words[2])
    if hour is None:
        return None
    minutes = int(_FRACTIONS[words[0]] * 60) * (1 if words[1] == "past" else -1)
    half = _PARTS_OF_DAY.get(tuple(words[3:6]))
    at = _clock(int(hour), 0, half).value + minutes
    unit = CLOCK_UNIT if half or hour > 12 else HALF_DAY_UNIT
    return FoundAmount(Amount(at, unit), 6 if half else 3)


def _clock(hour: int, minute: int, half: str | None) -> Amount:
    if half == "pm" and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return Amount(hour * 60 + minute, CLOCK_UNIT)


def _read_fraction(words: Sequence[str]) -> FoundAmount | None:
    """Half an hour, a quarter of an hour, half a year."""
    start = 1 if words[0] in ("a", "an", "one") and len(words) > 1 else 0
    share = _FRACTIONS.get(words[start])
    if share is None:
        return None
    at = start + 1
    while at < len(words) and words[at] in ("of", "a", "an", "the"):
        at += 1
    is_bare = at == start + 1
    scale = _load_units().get(words[at]) if at < len(words) else None
    if scale is None or (is_bare and start == 0 and words[start] == "quarter"):
        return FoundAmount(Amount(share), start + 1) if words[start] == "half" else None
    return FoundAmount(Amount(round(share * scale[0], 6), scale[1]), at + 1)


def _read_rate(words: Sequence[str]) -> FoundAmount | None:
    """How often: every six hours, each Monday, weekly, twice a year, quarterly."""
    word = words[0]
    rates = _load()["rates"]
    if word in rates:
        size, unit = rates[word]
        return FoundAmount(_every(size, unit), 1)
    if word in ("every", "each"):
        return _read_every(words)
    times = {"once": 1.0, "twice": 2.0, "thrice": 3.0}.get(word)
    taken = 1
    if times is None and list(words[1:2]) == ["times"]:
        times, taken = _value_of(word), 2
    if not times:
        return None
    rest = words[taken:]
    if rest and rest[0] in rates:
        size, unit = rates[rest[0]]
        return FoundAmount(_every(size / times, unit), taken + 1)
    scale = _load_units().get(rest[1]) if len(rest) > 1 and rest[0] in _EACH else None
    if scale is not None:
        return FoundAmount(_every(scale[0] / times, scale[1]), taken + 2)
    return FoundAmount(Amount(times, "times"), taken) if times > 1 else None


def _read_every(words: Sequence[str]) -> FoundAmount | None:
    """Every hour, every 6 hours, every other day, every second week."""
    rest = words[1:]
    if not rest:
        return None
    count, taken = 1.0, 1
    if rest[0] in ("other", "second", "2nd") and len(rest) > 1:
        if rest[1] not in _load_units():
            return FoundAmount(Amount(2, "every"), 2)
        count, taken = 2.0, 2
    elif (value := _value_of(rest[0])) is not None and len(rest) > 1:
        count, taken = value, 2
    if taken >= len(words) or words[taken] not in _load_units():
        return None
    size, unit = _load_units()[words[taken]]
    return FoundAmount(_every(count * size, unit), taken + 1)


def _every(size: float, unit: str) -> Amount:
    return Amount(round(size, 6), f"every {unit}")


def _read_measure(words: Sequence[str]) -> FoundAmount | None:
    """A number in digits or words, with a unit if one follows."""
    sign, start = (-1.0, 1) if words[0] == "minus" and len(words) > 1 else (1.0, 0)
    if _is_ordinal(words[start]):
        return FoundAmount(Amount(_ordinal_value(words[start])), start + 1)
    found = _read_number(words[start:])
    if found is None:
        return _read_article(words)
    value, length, attached = found
    length += start
    unit = attached or (words[length] if length < len(words) else "")
    if not attached and unit == "and" and words[length + 1 : length + 3] == ["a", "half"]:
        value, length = value + 0.5, length + 3
        unit = words[length] if length < len(words) else ""
    scale = _load_units().get(unit)
    if scale is None:
        return FoundAmount(Amount(sign * value), length)
    taken = length if attached else length + 1
    return FoundAmount(Amount(round(sign * value * scale[0], 6), scale[1]), taken)


def _is_ordinal(word: str) -> bool:
    return _ORDINAL.fullmatch(word) is not None or word in _load()["ordinals"]


def _ordinal_value(word: str) -> float:
    match = _ORDINAL.fullmatch(word)
    return float(match[1] if match else _load()["ordinals"][word])


def _read_article(words: Sequence[str]) -> FoundAmount | None:
    """A week, an hour, per year: one of a unit of time."""
    if words[0] not in ("a", "an", "per") or len(words) < 2:
        return None
    scale = _load_units().get(words[1])
    if scale is None or scale[1] not in ("minute", "month", "percent"):
        return None
    return FoundAmount(Amount(*scale), 2)


def _read_number(words: Sequence[str]) -> tuple[float, int, str] | None:
    """The number at the start, the words it takes, and a unit that is attached to it."""
    if not words:
        return None
    word = words[0]
    if _NUMBER.fullmatch(word):
        return _with_multiplier(_to_float(word), words)
    if match := _ATTACHED.fullmatch(word):
        if match[2] in _MULTIPLIERS:
            return _to_float(match[1]) * _MULTIPLIERS[match[2]], 1, ""
        if match[2] in _load_units():
            return _to_float(match[1]), 1, match[2]
        return None
    value = _value_of(word)
    if value is None:
        return None
    if value >= 20 and len(words) > 1 and 0 < (unit := _value_of(words[1]) or 0) < 10:
        return value + unit, 2, ""
    return _with_multiplier(value, words)


def _with_multiplier(value: float, words: Sequence[str]) -> tuple[float, int, str]:
    following = words[1] if len(words) > 1 else ""
    scale = {"hundred": 100.0, **_MULTIPLIERS}.get(following if len(following) > 1 else "")
    return (value * scale, 2, "") if scale else (value, 1, "")


def is_unit(word: str) -> bool:
    return word in _load_units()


def is_number(word: str) -> bool:
    """True for digits and for a number word."""
    return _value_of(word) is not None


def _to_float(digits: str) -> float:
    plain = digits.replace("−", "-")
    if _GROUPED.fullmatch(plain):
        return float(re.sub(r"[.,]", "", plain))
    head, _, tail = plain.replace(",", ".").rpartition(".")
    return float(f"{head.replace('.', '')}.{tail}" if head else tail)


def _value_of(word: str) -> float | None:
    """The value of a number word or of digits."""
    if word.isdigit():
        return float(word)
    return _load_number_words().get(word)


@cache
def _load_number_words() -> dict[str, float]:
    return {word: float(value) for word, value in _load()["numbers"].items()}


@cache
def _load_units() -> dict[str, tuple[float, str]]:
    """The size of each unit in the base unit of its dimension."""
    return {
        name: (float(size), unit)
        for unit, names in _load()["units"].items()
        for name, size in names.items()
    }


def _load() -> Any:
    return load_tables(__package__, "amounts.toml")
