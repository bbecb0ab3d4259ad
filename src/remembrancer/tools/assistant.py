"""Tools of the assistant profile: remember, recall, forget."""

from __future__ import annotations

from remembrancer.errors import InvalidInput
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import BatchResult, MemoryListResult, WriteResult
from remembrancer.tools.told import restate_told
from remembrancer.tools.tool import (
    ENDS,
    READS,
    SETS,
    MemoryReference,
    StringList,
    drop_none,
    search,
    tool,
)


@tool(SETS)
def remember(
    caller: Caller,
    content: str,
    replaces: MemoryReference | None = None,
    category: str | None = None,
    subject: str | None = None,
    predicate: str | None = None,
    importance: float | None = None,
    tags: StringList | None = None,
) -> WriteResult:
    """Store one durable statement about the user, in the third person. If it corrects a memory,
    name that in `replaces`: the old version stays in its history."""
    details = drop_none(
        category=category,
        subject=subject,
        predicate=predicate,
        importance=importance,
        tags=tags,
    )
    content, told = restate_told(caller.profile, content, details)
    if replaces is None:
        return WriteResult.from_written(caller.memory.remember(content, **told))
    return WriteResult.from_written(caller.memory.update(replaces, content, **details))


@tool(READS)
def recall_memory(caller: Caller, query: str, limit: int | None = None) -> MemoryListResult:
    """Search what is remembered about the user, best first. Use it for "what do you know about me?"
    and before answers that may depend on it."""
    return search(caller, query, limit=limit)


@tool(ENDS)
def forget_memory(caller: Caller, query: str | None = None, all: bool = False) -> BatchResult:
    """Forget the memory closest to the words, or all of them. Use it only when the user asks for
    it; the answer says how to undo it."""
    if all == (query is not None):
        raise InvalidInput("Give either the words of a memory or all = true.")
    if query is None:
        return BatchResult.from_batch(caller.memory.forget_all())
    done = WriteResult.from_written(caller.memory.forget(query))
    return BatchResult(done=done.done, ids=[done.id], content=done.content, event=done.event)


ASSISTANT_TOOLS = (remember, recall_memory, forget_memory)
