"""Words facts as lines of a prompt: grouped by person, with the dates that matter. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from remembrancer.recall.prompt_block import PromptEntry, escape_for_prompt
from remembrancer.recall.relevance import USER_SUBJECTS, ScoredFact
from remembrancer.search.past import is_relative
from remembrancer.search.prompt import is_in_own_voice
from remembrancer.search.topics import find_topics
from remembrancer.types import Fact, Source

MAX_LINE_CHARS = 240
MAX_BARE_WORDS = 3
"""A content of so few words is told with its subject and predicate."""

UNVERIFIED_NOTE = "(unverified: from a tool or a document)"
INFERRED_NOTE = "(inferred)"
SEPARATOR = "; "
DAY = timedelta(days=1)


def build_fact_entries(
    facts: Sequence[ScoredFact], now: datetime, heading: str = ""
) -> list[PromptEntry]:
    """Lines for each other person, and for each topic of the user's own facts, in order."""
    groups: dict[str, list[ScoredFact]] = {}
    for one in facts:
        groups.setdefault(_choose_group(one, groups), []).append(one)
    return [
        entry
        for members in groups.values()
        for entry in _build_group(members[0].person, [one.fact for one in members], now, heading)
    ]


def _choose_group(fact: ScoredFact, groups: Mapping[str, Sequence[ScoredFact]]) -> str:
    """The group of the same person or, for the user, whose first fact is on the same topic."""
    if fact.person is not None:
        return fact.person
    topics = find_topics(fact.fact.search_text)
    for name, (first, *_) in groups.items():
        if first.person is None and not topics.isdisjoint(find_topics(first.fact.search_text)):
            return name
    return fact.fact.id


def _build_group(
    person: str | None, facts: Sequence[Fact], now: datetime, heading: str
) -> Iterable[PromptEntry]:
    """The lines about one person; a line that is full is followed by another."""
    told = [(one.id, line) for one in facts if (line := word_fact(one, now, is_own=not person))]
    if len(told) == 1:
        return [PromptEntry(memory_id, line, heading) for memory_id, line in told]
    start = f"{escape_for_prompt(person)}: " if person else ""
    parts = [(memory_id, _drop_name(line, person) if person else line) for memory_id, line in told]
    rows = _fill_lines(parts, MAX_LINE_CHARS - len(start))
    return [_join_parts(start, row, heading) for row in rows]


def _join_parts(start: str, parts: Sequence[tuple[str, str]], heading: str) -> PromptEntry:
    (first, *others), texts = zip(*parts, strict=True)
    *ended, last = texts
    joined = SEPARATOR.join((*(one.removesuffix(".") for one in ended), last))
    return PromptEntry(first, start + joined, heading, tuple(others))


def _fill_lines(parts: Sequence[tuple[str, str]], room: int) -> list[list[tuple[str, str]]]:
    lines: list[list[tuple[str, str]]] = []
    used = room
    for part in parts:
        cost = len(part[1]) + len(SEPARATOR)
        if not lines or used + cost > room:
            lines.append([])
            used = 0
        lines[-1].append(part)
        used += cost
    return lines


def word_fact(fact: Fact, now: datetime, *, is_own: bool = False) -> str:
    """The fact in words, with its dates and notes of doubt; "" if it has no text.

    A fact about the user, by whatever name (`is_own`), does not name them. The user's own words
    are quoted.
    """
    said = _word_content(fact, is_own)
    if not said:
        return ""
    if is_in_own_voice(said):
        said = f"“{said}”"
    notes = [date for date in (_word_dates(fact, said, now),) if date]
    return " ".join((said, *(f"({note})" for note in notes), *_list_doubts(fact)))


def _word_content(fact: Fact, is_own: bool) -> str:
    """The summary if there is one, else the content, with the name of another person."""
    if fact.summary and (short := escape_for_prompt(fact.summary)):
        return short
    if not fact.subject or fact.subject.casefold() in fact.content.casefold():
        return escape_for_prompt(fact.content)
    if len(fact.content.split()) <= MAX_BARE_WORDS or fact.content[:1].isdigit():
        return escape_for_prompt(fact.search_text)
    is_own = is_own or fact.subject.casefold() in USER_SUBJECTS
    return escape_for_prompt(fact.content if is_own else f"{fact.subject}: {fact.content}")


def _list_doubts(fact: Fact) -> list[str]:
    doubts = [UNVERIFIED_NOTE] if fact.tainted else []
    return doubts + ([INFERRED_NOTE] if fact.source is Source.CONSOLIDATED else [])


def _drop_name(line: str, person: str) -> str:
    """A line in a person's group without the name at its start."""
    return (
        re.sub(rf"^{re.escape(person)}(?:['’]s)?(?::| (?:is|has)\b)? ", "", line, count=1) or line
    )


def _word_dates(fact: Fact, said: str, now: datetime) -> str:
    """When the fact is true, unless its words say so; the past is always marked."""
    start, end = fact.valid_from, fact.valid_until
    last = end - timedelta(microseconds=1) if end is not None else None
    if last is not None and end is not None and end <= now:
        return f"until {format_day(last)}"
    if last is not None and str(last.year) not in said:
        is_day = (last - start) < DAY
        return f"on {format_day(last)}" if is_day else _word_span(start, last, now)
    if str(start.year) in said:
        return ""
    if start > now:
        return f"from {format_day(start)}"
    if fact.recorded_at - start > 2 * DAY:
        return f"since {start:%B %Y}"
    return f"said on {format_day(start)}" if is_relative(said) else ""


def _word_span(start: datetime, last: datetime, now: datetime) -> str:
    begins = f"from {format_day(start)} " if start > now else ""
    return f"{begins}until {format_day(last)}"


def format_day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"
