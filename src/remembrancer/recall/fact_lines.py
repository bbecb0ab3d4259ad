"""Words facts as lines of a prompt: grouped by person, with the dates that matter. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta

from remembrancer.recall.prompt_block import PromptEntry, escape_for_prompt
from remembrancer.recall.relevance import ScoredFact
from remembrancer.remember.attributes import USER_SUBJECT, canonical_subject
from remembrancer.remember.provenance import name_unverified_origin
from remembrancer.search.past import is_relative
from remembrancer.search.prompt import is_in_own_voice
from remembrancer.search.topics import find_topics
from remembrancer.search.words import split_words
from remembrancer.text_format import to_local
from remembrancer.types import Fact, Record, Source

MAX_LINE_CHARS = 360
MAX_BARE_WORDS, MAX_VALUE_WORDS = 3, 2
"""A content of so few words may be a bare value, which is told with its key; one of the user's
is shorter."""
VERB = re.compile(r"is|has|was|[a-z]{2,}[^\W\ds]s", re.IGNORECASE)
"""The first word of a sentence in the third person, as in "Dislikes gold"."""

INFERRED_NOTE = "(inferred)"
SEPARATOR = "; "
DAY = timedelta(days=1)
MIDNIGHT = time()


def build_fact_entries(
    facts: Sequence[ScoredFact],
    now: datetime,
    heading: str = "",
    extras: Sequence[ScoredFact] = (),
    max_chars: int = MAX_LINE_CHARS,
) -> list[PromptEntry]:
    """Lines for each other person, and for each topic of the user's own facts, in order.

    The extras fill the lines that have room.
    """
    groups: dict[str, list[ScoredFact]] = {}
    for one in facts:
        groups.setdefault(_choose_group(one, groups), []).append(one)
    fillers: dict[str, list[ScoredFact]] = {name: [] for name in groups}
    for one in extras:
        if (name := _choose_group(one, groups)) in groups:
            fillers[name].append(one)
    return [
        entry
        for name, members in groups.items()
        for entry in _build_group(members, fillers[name], now, heading, max_chars)
    ]


def _choose_group(fact: ScoredFact, groups: Mapping[str, Sequence[ScoredFact]]) -> str:
    """The group of the same person or, for the user, whose first fact is on the same topic."""
    if fact.person is not None:
        return fact.person
    topics = _find_own_topics(fact.fact)
    for name, (first, *_) in groups.items():
        if first.person is None and not topics.isdisjoint(_find_own_topics(first.fact)):
            return name
    return fact.fact.id


def _find_own_topics(fact: Fact) -> frozenset[str]:
    return find_topics(f"{fact.predicate or ''} {fact.content}")


def _build_group(
    facts: Sequence[ScoredFact],
    extras: Sequence[ScoredFact],
    now: datetime,
    heading: str,
    max_chars: int,
) -> Iterable[PromptEntry]:
    """The lines about one person; a line that is full is followed by another."""
    person = facts[0].person
    told, more = _word_all(facts, now), _word_all(extras, now)
    start = f"{escape_for_prompt(person)}: " if person else ""
    room = max_chars - len(start)
    rows = _fill_lines(told, room)
    for part in more:
        if rows and _measure([*rows[-1], part]) <= room:
            rows[-1].append(part)
    if sum(map(len, rows)) == 1:
        return [PromptEntry(memory_id, line, heading) for ((memory_id, line),) in rows]
    if person:
        rows = [[(memory_id, _drop_name(line, person)) for memory_id, line in row] for row in rows]
    return [_join_parts(start, row, heading) for row in rows]


def _word_all(facts: Sequence[ScoredFact], now: datetime) -> list[tuple[str, str]]:
    """The id and the words of each fact that has any; what begins later comes last."""
    ordered = sorted(facts, key=lambda one: one.fact.valid_from > now)
    worded = ((one.fact.id, word_fact(one.fact, now, is_own=not one.person)) for one in ordered)
    return [(memory_id, line) for memory_id, line in worded if line]


def _measure(parts: Sequence[tuple[str, str]]) -> int:
    return sum(len(line) + len(SEPARATOR) for _, line in parts)


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
    if fact.has_program_key or not fact.subject or _names_subject(fact.content, fact.subject):
        return escape_for_prompt(fact.content)
    is_own = is_own or canonical_subject(fact.subject) == USER_SUBJECT
    owner = "" if is_own else fact.subject
    max_words = MAX_VALUE_WORDS if is_own else MAX_BARE_WORDS
    key = (fact.predicate or "").replace("_", " ")
    if not key or not _is_bare_value(fact.content, key, max_words):
        return escape_for_prompt(f"{owner}: {fact.content}" if owner else fact.content)
    topic = f"{owner}'s {key}" if owner else key[0].upper() + key[1:]
    return escape_for_prompt(f"{topic}: {fact.content}")


def _is_bare_value(content: str, key: str, max_words: int) -> bool:
    """True for "Earl Grey" under favourite tea, False for what is a sentence of its own."""
    if content[:1].isdigit():
        return True
    words = content.split()
    names_key = not set(split_words(content)).isdisjoint(split_words(key))
    is_verb_phrase = len(words) > 1 and words[1][0].islower() and VERB.fullmatch(words[0])
    return len(words) <= max_words and not names_key and not is_verb_phrase


def _names_subject(content: str, subject: str) -> bool:
    return set(split_words(subject)) <= set(split_words(content))


def word_origin(record: Record) -> str:
    """A note on what is not on the person's word; "" for everything else."""
    origin = name_unverified_origin(record)
    return f"(unverified: {origin})" if origin else ""


def _list_doubts(fact: Fact) -> list[str]:
    doubts = [note] if (note := word_origin(fact)) else []
    return doubts + ([INFERRED_NOTE] if fact.source is Source.CONSOLIDATED else [])


def _drop_name(line: str, person: str) -> str:
    """A line in a person's group without the name at its start."""
    name = rf"{re.escape(person)}(?:['’]s\b|:| is\b)? (?!(?:and|und|y|et|&)\b)"
    return re.sub(f"^{name}", "", line, count=1) or line


def _word_dates(fact: Fact, said: str, now: datetime) -> str:
    """When the fact is true, unless its words say so; the past is always marked.

    A start at a time of day is when it was told, and says nothing about when it began. Days are
    those of the time zone of `now`.
    """
    start, end = fact.valid_from, fact.valid_until
    last = end - timedelta(microseconds=1) if end is not None else None
    if last is not None and end is not None and end <= now:
        return f"until {_format_last_day(end, now)}"
    if last is not None and end is not None and str(last.year) not in said:
        is_day = (last - start) < DAY
        until = _format_last_day(end, now)
        return f"on {until}" if is_day else f"{_word_begin(start, now)}until {until}"
    if str(start.year) in said:
        return ""
    if start > now:
        return _word_begin(start, now).strip()
    if fact.recorded_at - start > 2 * DAY and start.time() == MIDNIGHT:
        return f"since {start:%B %Y}"
    return f"said on {format_day(start, now)}" if is_relative(said) else ""


def _word_begin(start: datetime, now: datetime) -> str:
    return f"from {format_day(start, now)} " if start > now else ""


def _format_last_day(end: datetime, now: datetime) -> str:
    """The day before an end at midnight, which is a day's own, else the day of the end."""
    return format_day(to_local(end, now.tzinfo or UTC) - timedelta(microseconds=1), now)


def format_day(moment: datetime, now: datetime) -> str:
    local = to_local(moment, now.tzinfo or UTC)
    return f"{local.day} {local:%b %Y}"
