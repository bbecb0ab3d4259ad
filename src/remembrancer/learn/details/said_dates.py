"""Resolves the words for a time ("last Tuesday", "seit August") to days. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

from remembrancer.learn.details.date_words import DateWord, is_past, list_months, split_date_words
from remembrancer.learn.details.numbers import load_data
from remembrancer.learn.details.period_readers import RANGE_READERS, READERS, Reader, ReadingFrame
from remembrancer.learn.details.said_period import PeriodRole, SaidPeriod, pair_ranges
from remembrancer.learn.extracted_fact import Dates
from remembrancer.search.language import FUNCTION_WORDS, detect_language

MIN_TELLING_WORDS = 8
"""Words from which the language of a text can be told to be unknown."""

MIN_FUNCTION_SHARE = 0.12
"""The share of function words that a text in a known language has."""

_ROLES = {
    "f": PeriodRole.SINCE,
    "o": PeriodRole.FROM,
    "b": PeriodRole.UNTIL,
    "k": PeriodRole.BEFORE,
    "A": PeriodRole.AFTER,
}


@dataclass(frozen=True, slots=True)
class _Mention:
    """The position of a period among the tokens, and its readings."""

    start: int
    end: int
    periods: tuple[SaidPeriod, ...]


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A date in a text: its place in the folded text, its letters in the grammar, its readings."""

    span: tuple[int, int]
    code: str
    periods: tuple[SaidPeriod, ...]
    is_ambiguous: bool = False
    """True for digits such as "24/7", which may be no date."""


def resolve_days(words: str, said_at: datetime) -> list[Dates]:
    """All readings of the words for a time that were said at some moment."""
    return list(dict.fromkeys(one.dates for one in list_readings([words], said_at)))


def find_dates(text: str, said_at: datetime) -> list[SaidDate]:
    """The dates that a text mentions, with their places."""
    tokens = split_date_words(text)
    code = "".join(one.kind for one in tokens)
    frame = ReadingFrame(said_at.date(), (), is_past(text))
    return [
        SaidDate(
            (tokens[one.start].span[0], tokens[one.end - 1].span[1]),
            code[one.start : one.end],
            one.periods,
            "/" in str(tokens[one.start].value),
        )
        for one in _find_mentions(tokens, code, frame)
    ]


def dates_follow(
    dates: Dates,
    said_as: str,
    quotes: Sequence[str],
    said_at: datetime,
    context: Sequence[str] = (),
) -> Dates:
    """Keep the start and the end that follow from the words, and drop what does not.

    `context` holds words that were not quoted, such as the other turns of the conversation: they
    tell the month of a lone day, and count themselves if the quotes say no time.
    """
    periods = list_readings([said_as, *quotes], said_at, context)
    if is_foreign([said_as, *quotes]) or not (periods or _is_understood([said_as, *quotes])):
        return dates
    today = SaidPeriod(said_at.date(), said_at.date())
    start, end = dates.start, dates.end
    if start and not any(one.allows_start(start) for one in [*periods, today]):
        start = None
    if end and not any(one.allows_end(end, dates.start) for one in [*periods, today]):
        end = None
    return Dates(start, end)


def list_readings(
    texts: Sequence[str], said_at: datetime, context: Sequence[str] = ()
) -> list[SaidPeriod]:
    """The readings of several texts, without what one of them corrects.

    The context tells the month of a lone day, and is read itself only if the texts say no time.
    """
    everything = [*texts, *context]
    months = tuple(dict.fromkeys(one for text in everything for one in list_months(text)))
    frame = ReadingFrame(said_at.date(), months, any(map(is_past, texts)))
    return _read_all(texts, frame) or _read_all(context, frame)


def _read_all(texts: Sequence[str], frame: ReadingFrame) -> list[SaidPeriod]:
    found = [_read(text, frame) for text in texts if text]
    corrected = {one for _, taken_back in found for one in taken_back}
    kept = [one for periods, _ in found for one in periods]
    said = [one for one in dict.fromkeys(kept) if one not in corrected]
    return [one for one in said if not one.is_vague] or said


def is_foreign(texts: Sequence[str]) -> bool:
    """True if texts of some length have few words of a known language, or more of another."""
    words = " ".join(texts).casefold().split()
    if len(words) < MIN_TELLING_WORDS:
        return False
    known = max(sum(one in language for one in words) for language in FUNCTION_WORDS.values())
    other = sum(one in _other_words() for one in words)
    return known < MIN_FUNCTION_SHARE * len(words) or other > known


@cache
def _other_words() -> frozenset[str]:
    return frozenset(load_data("said_dates.toml")["other_languages"]["words"].split())


def _is_understood(texts: Sequence[str]) -> bool:
    """False for texts whose language cannot be told."""
    return detect_language(" ".join(texts)) is not None


def _read(text: str, frame: ReadingFrame) -> tuple[list[SaidPeriod], list[SaidPeriod]]:
    """The readings of a text, and those that it takes back."""
    tokens = split_date_words(text)
    code = "".join(one.kind for one in tokens)
    mentions = _merge_ranges(code, list(_find_mentions(tokens, code, frame)))
    taken_back = [one for at, one in enumerate(mentions) if _is_taken_back(code, mentions, at)]
    gone = [period for one in taken_back for period in one.periods]
    said = [period for one in mentions if one not in taken_back for period in one.periods]
    return said, [one for one in gone if one not in said]


def _is_taken_back(code: str, mentions: Sequence[_Mention], at: int) -> bool:
    """True in "not the 12th" and in "the 12th, no, sorry, the 15th"."""
    one = mentions[at]
    if code[: one.start].endswith("N"):
        return True
    if at + 1 == len(mentions):
        return False
    between = code[one.end : mentions[at + 1].start]
    return bool(re.fullmatch(r"[_F]{0,2}\.?c[c_.nF]{0,4}", between))


def _find_mentions(
    tokens: Sequence[DateWord], code: str, frame: ReadingFrame
) -> Iterator[_Mention]:
    """The periods from left to right; of the patterns, the first that matches."""
    at = 0
    while at < len(code):
        for pattern, read in READERS:
            match = pattern.match(code, at)
            if match is None:
                continue
            yield _build_mention(match, tokens, frame, read)
            at = match.end()
            break
        else:
            at += 1


def _build_mention(
    match: re.Match[str], tokens: Sequence[DateWord], frame: ReadingFrame, read: Reader
) -> _Mention:
    """Read a period with the words before it: a role, and a part of the period."""
    code, start = match.string, match.start()
    if code[:start].endswith("e"):
        return _Mention(start, match.end(), ())
    part = code[start - 1] if start and code[start - 1] in "pqz" else ""
    role = PeriodRole.ON if read in RANGE_READERS else _find_role(code[: start - len(part)])
    periods = read(tokens[start : match.end()], replace(frame, role=role))
    taken = [_take_part(one, part) if part else one for one in periods]
    return _Mention(start, match.end(), tuple(_apply_role(one, role) for one in taken))


def _find_role(before: str) -> PeriodRole:
    """The role by the last word before a period."""
    return _ROLES.get(before.rstrip("it")[-1:], PeriodRole.ON)


def _apply_role(period: SaidPeriod, role: PeriodRole) -> SaidPeriod:
    return replace(period, role=role) if period.role is PeriodRole.ON else period


def _take_part(period: SaidPeriod, part: str) -> SaidPeriod:
    """The beginning, the middle or the end of a period."""
    days = (period.last - period.first).days
    if days < 5:
        return period
    step = timedelta(max(2, days // 4))
    if part == "p":
        return replace(period, last=period.first + step, any_day=True)
    if part == "z":
        return replace(period, first=period.last - step, any_day=True)
    middle = period.first + timedelta(days // 2)
    return replace(period, first=middle - step / 2, last=middle + step / 2, any_day=True)


def _merge_ranges(code: str, mentions: list[_Mention]) -> list[_Mention]:
    """Replace the two ends of a range ("from May to July") by bounds of one fact."""
    merged: list[_Mention] = []
    for one in mentions:
        if merged and code[merged[-1].end : one.start] in ("j", "b"):
            merged.append(_join(merged.pop(), one))
        else:
            merged.append(one)
    return merged


def _join(first: _Mention, last: _Mention) -> _Mention:
    periods = pair_ranges(first.periods, last.periods) or (*first.periods, *last.periods)
    return _Mention(first.start, last.end, periods)
