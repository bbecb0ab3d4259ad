"""Tools of the assistant profile: remember, recall, forget."""

from __future__ import annotations

from remembrancer.errors import InvalidInput
from remembrancer.tools.caller import Caller
from remembrancer.tools.plain import remember
from remembrancer.tools.results import BatchResult, MemoryListResult, WriteResult
from remembrancer.tools.tool import ENDS, READS, search, tool


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
