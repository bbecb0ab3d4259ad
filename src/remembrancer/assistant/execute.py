"""Executes chat commands that need no model: remember, correct, forget and list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never
from zoneinfo import ZoneInfo

from remembrancer.assistant import replies
from remembrancer.assistant.commands import Correct, Forget, ListMemories, Remember
from remembrancer.assistant.correction import apply_correction
from remembrancer.assistant.events import ChatEvent, MemoryChanged, TextChunk
from remembrancer.errors import Ambiguous, InvalidInput, NotFound, RemembrancerError
from remembrancer.learn.rules.told import read_parts
from remembrancer.memory import Memory
from remembrancer.remember.lifecycle import FORGETTABLE
from remembrancer.remember.statement import FactFields
from remembrancer.types import Episode, Evidence, Kind, Record, Turn, Written

MAX_LISTED = 100
ENUMERATION = re.compile(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|&)\s+", re.IGNORECASE)
NO_NAME = re.compile(r"^(?:(?:about|all|my|our|the)\s+)+", re.IGNORECASE)
"""What precedes the name of a thing."""

ExecutableCommand = Remember | Correct | Forget | ListMemories


def execute_command(
    memory: Memory,
    command: ExecutableCommand,
    zone: ZoneInfo,
    topic: Record | None = None,
    turn: Turn | None = None,
) -> Iterator[ChatEvent]:
    """Run the command and report the result or the error; a correction applies to the topic.

    The turn is the user's message with the command, which what is remembered cites.
    """
    try:
        match command:
            case Remember():
                yield from _report_writes(_remember(memory, command.content, turn))
            case Correct():
                source = _cite(turn, command.content)
                yield from _report_write(apply_correction(memory, command.content, topic, source))
            case Forget():
                forgotten = forget_named(memory, command.query)
                yield TextChunk(f"Forgotten: {replies.quote_memory(forgotten.memory)}")
                yield from report_change(forgotten)
            case ListMemories():
                kinds = [one for one in memory.profile.recall.kinds if one is not Kind.TURN]
                page = memory.list(kinds=kinds, limit=MAX_LISTED)
                known = [one for one in page.items if not _is_bookmark(one)]
                more = page.cursor is not None
                yield TextChunk(replies.format_memory_list(known, zone, more=more))
            case _:
                assert_never(command)
    except Ambiguous as error:
        matches = "\n".join(f"- {replies.quote_memory(record)}" for record in error.candidates)
        yield TextChunk(f"Several memories match. Repeat the text of the one you mean:\n{matches}")
    except RemembrancerError as error:
        yield TextChunk(str(error))


def forget_named(memory: Memory, query: str) -> Written:
    """Forget the memory that the words name; raises Ambiguous if they name several."""
    _refuse_several(memory, query)
    return memory.forget(query)


def _refuse_several(memory: Memory, query: str) -> None:
    """Raise Ambiguous if "gold and bonds" names one memory with gold and another with bonds."""
    things = [NO_NAME.sub("", one) for one in ENUMERATION.split(query)]
    if len(things) == 1 or _find_named(memory, query):
        return
    named = [found for one in things if (found := _find_named(memory, one))]
    if len(named) > 1 and not set.intersection(*map(set, named)):
        candidates = {id: record for found in named for id, record in found.items()}
        raise Ambiguous(f"{len(candidates)} memories match.", list(candidates.values()))


def _find_named(memory: Memory, words: str) -> dict[str, Record]:
    """The memories that contain the words, by id."""
    found: Sequence[Record] = ()
    try:
        found = [memory.resolve(words, FORGETTABLE)]
    except Ambiguous as error:
        found = error.candidates
    except (NotFound, InvalidInput):
        pass
    return {one.id: one for one in found}


def _is_bookmark(record: Record) -> bool:
    """True for a reply of the assistant's, which says nothing about the person."""
    return isinstance(record, Episode) and record.is_note


def report_change(written: Written) -> Iterator[MemoryChanged]:
    if written.event is not None:
        action = str(written.event.action).capitalize()
        yield MemoryChanged(f"{action}: {replies.quote_memory(written.memory)}", written.event.id)


def _report_writes(several: Iterable[Written]) -> Iterator[ChatEvent]:
    for number, written in enumerate(several):
        if number:
            yield TextChunk("\n")
        yield from _report_write(written)


def _report_write(written: Written) -> Iterator[ChatEvent]:
    if written.event is None:
        yield TextChunk(f"I already know that: {replies.quote_memory(written.memory)}")
        return
    verb = "I have corrected that" if written.replaced else "I will remember that"
    instead = f", instead of {replies.quote_memory(written.replaced)}" if written.replaced else ""
    yield TextChunk(f"{verb}: {replies.quote_memory(written.memory)}{instead}")
    if written.secrets:
        yield TextChunk(f" Secrets are never stored, so I left out: {', '.join(written.secrets)}.")
    yield from report_change(written)


def report_learned(memory: Memory, ids: Sequence[str]) -> Iterator[ChatEvent]:
    """Report memories that were just learned, each with what it replaced."""
    return _report_writes(_load_write(memory, id) for id in ids)


def _load_write(memory: Memory, id: str) -> Written:
    """A memory that was learned, with the event, and what it replaced."""
    history = memory.history(id)
    learned = next(one for one in history.versions if one.id == id)
    replaced = [one for one in history.versions if one.id == learned.supersedes]
    events = [one for one in history.events if any(id == each.memory_id for each in one.changes)]
    return Written(learned, events[0] if events else None, next(iter(replaced), None))


def _remember(memory: Memory, content: str, turn: Turn | None) -> Iterator[Written]:
    """Remember what the person said, in the third person, and cite their words."""
    for words, told in read_parts(content):
        fields: FactFields = {**_cite(turn, words), **told.to_fields(memory.profile)}
        yield memory.remember(told.content, **fields)


def _cite(turn: Turn | None, content: str) -> FactFields:
    """The turn that supports a memory, with the person's words."""
    if turn is None or turn.session_id is None:
        return {}
    quote = content.strip(" .!")
    start = turn.content.casefold().find(quote.casefold())
    quote = turn.content[start : start + len(quote)] if start >= 0 else ""
    return {
        "session_id": turn.session_id,
        "evidence": (Evidence(turn.session_id, turn.id, quote),),
    }
