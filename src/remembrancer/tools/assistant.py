"""The tools of a personal assistant: remember, recall, forget."""

from __future__ import annotations

from remembrancer.errors import InvalidInput
from remembrancer.tools.caller import Caller
from remembrancer.tools.plain import remember
from remembrancer.tools.results import Done, DoneToMany, Found
from remembrancer.tools.tool import ENDS, READS, given, tool


@tool(READS)
def recall_memory(caller: Caller, query: str, limit: int | None = None) -> Found:
    """Search what is remembered about the user, best first. Use it for "what do you know about me?"
    and before answering what may depend on it."""
    memory = caller.memory
    return Found.by(memory, memory.recall(query, **given(limit=limit)))


@tool(ENDS)
def forget_memory(caller: Caller, query: str | None = None, all: bool = False) -> DoneToMany:
    """Forget the memory closest to the words, or all of them. Use it only when the user asks for
    it; the answer says how to undo it."""
    if all == (query is not None):
        raise InvalidInput("Give the words of a memory, or all = true, and not both.")
    if query is None:
        return DoneToMany.by(caller.memory.forget_all())
    done = Done.by(caller.memory.forget(query))
    return DoneToMany(done=done.done, ids=[done.id], content=done.content, event=done.event)


ASSISTANT = (remember, recall_memory, forget_memory)
