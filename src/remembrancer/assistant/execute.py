"""Carrying out what a person asks of their memory, without a model, at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never
from zoneinfo import ZoneInfo

from remembrancer.assistant import replies
from remembrancer.assistant.commands import Correct, Forget, Remember, Tell
from remembrancer.assistant.events import Part, Status, Text
from remembrancer.errors import Ambiguous, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.remember.resolve import CLOSE_ENOUGH
from remembrancer.types import Kind, Record, Written

LISTED = 100

Request = Remember | Correct | Forget | Tell


def obeyed(
    memory: Memory, request: Request, zone: ZoneInfo, topic: Record | None = None
) -> Iterator[Part]:
    """Do it and say what was done, or why it was not; with a topic, that is what is corrected."""
    try:
        match request:
            case Remember():
                yield from _kept(memory.remember(request.content))
            case Correct():
                yield from _kept(_corrected(memory, request.content, topic))
            case Forget():
                forgotten = memory.forget(request.words)
                yield Text(f"Forgotten: {replies.quoted(forgotten.memory)}.")
                yield from status(forgotten)
            case Tell():
                page = memory.list(limit=LISTED)
                more = page.cursor is not None
                yield Text(replies.listed(page.items, zone, more=more))
            case _:
                assert_never(request)
    except Ambiguous as error:
        fitting = "\n".join(f"- {replies.quoted(one)}" for one in error.candidates)
        yield Text(f"Several memories fit; say which one in its own words:\n{fitting}")
    except RemembrancerError as error:
        yield Text(str(error))


def status(written: Written) -> Iterator[Status]:
    """The quiet line about a change, if there was one."""
    if written.event is not None:
        action = str(written.event.action).capitalize()
        yield Status(f"{action}: {replies.quoted(written.memory)}", written.event.id)


def _kept(written: Written) -> Iterator[Part]:
    if written.event is None:
        yield Text(f"I knew that already: {replies.quoted(written.memory)}.")
        return
    verb = "I have corrected that" if written.replaced else "I will remember that"
    instead = f", instead of {replies.quoted(written.replaced)}" if written.replaced else ""
    yield Text(f"{verb}: {replies.quoted(written.memory)}{instead}.")
    if written.secrets:
        yield Text(f" Left out, as a secret is never kept: {', '.join(written.secrets)}.")
    yield from status(written)


def _corrected(memory: Memory, content: str, topic: Record | None) -> Written:
    """The memory that is clearly about the same gets a new version; else this is a new one."""
    if topic is not None:
        return memory.update(topic.id, content)
    kinds = (Kind.FACT, Kind.RULE)
    for best in memory.recall(content, kinds=kinds, mode="semantic", limit=1):
        if (best.why.similarity or 0) >= CLOSE_ENOUGH:
            return memory.update(best.memory.id, content)
    return memory.remember(content)
