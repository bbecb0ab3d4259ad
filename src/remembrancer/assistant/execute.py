"""Executes chat commands that need no model: remember, correct, forget and list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never
from zoneinfo import ZoneInfo

from remembrancer.assistant import replies
from remembrancer.assistant.commands import Correct, Forget, ListMemories, Remember
from remembrancer.assistant.events import ChatEvent, MemoryChanged, TextChunk
from remembrancer.errors import Ambiguous, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.remember.resolve import MIN_SIMILARITY
from remembrancer.types import Kind, Record, Written

MAX_LISTED = 100

ExecutableCommand = Remember | Correct | Forget | ListMemories


def execute_command(
    memory: Memory, command: ExecutableCommand, zone: ZoneInfo, topic: Record | None = None
) -> Iterator[ChatEvent]:
    """Run the command and report the result or the error; a correction applies to the topic."""
    try:
        match command:
            case Remember():
                yield from _report_write(memory.remember(command.content))
            case Correct():
                yield from _report_write(_apply_correction(memory, command.content, topic))
            case Forget():
                forgotten = memory.forget(command.query)
                yield TextChunk(f"Forgotten: {replies.quote_memory(forgotten.memory)}")
                yield from report_change(forgotten)
            case ListMemories():
                page = memory.list(limit=MAX_LISTED)
                more = page.cursor is not None
                yield TextChunk(replies.format_memory_list(page.items, zone, more=more))
            case _:
                assert_never(command)
    except Ambiguous as error:
        matches = "\n".join(f"- {replies.quote_memory(record)}" for record in error.candidates)
        yield TextChunk(f"Several memories match. Repeat the text of the one you mean:\n{matches}")
    except RemembrancerError as error:
        yield TextChunk(str(error))


def report_change(written: Written) -> Iterator[MemoryChanged]:
    if written.event is not None:
        action = str(written.event.action).capitalize()
        yield MemoryChanged(f"{action}: {replies.quote_memory(written.memory)}", written.event.id)


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


def _apply_correction(memory: Memory, content: str, topic: Record | None) -> Written:
    """Update the topic or the most similar memory; without a similar one, add a memory."""
    if topic is not None:
        return memory.update(topic.id, content)
    kinds = (Kind.FACT, Kind.RULE)
    for best in memory.recall(content, kinds=kinds, mode="semantic", limit=1):
        if (best.why.similarity or 0) >= MIN_SIMILARITY:
            return memory.update(best.memory.id, content)
    return memory.remember(content)
