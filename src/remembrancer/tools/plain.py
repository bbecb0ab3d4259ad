"""Default tools: eight verbs that fit every profile."""

from __future__ import annotations

from typing import Literal

from remembrancer.errors import InvalidInput
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import ContextResult, MemoryListResult, WriteResult
from remembrancer.tools.told import restate_told
from remembrancer.tools.tool import (
    ADDS,
    ENDS,
    READS,
    SETS,
    KindList,
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
    kind: Literal["fact", "rule", "episode"] | None = None,
    category: str | None = None,
    subject: str | None = None,
    predicate: str | None = None,
    importance: float | None = None,
    tags: StringList | None = None,
) -> WriteResult:
    """Store one durable statement. Use it when the user asks you to remember, or says something
    lasting about themselves; a new value replaces the old."""
    details = drop_none(
        kind=kind,
        category=category,
        subject=subject,
        predicate=predicate,
        importance=importance,
        tags=tags,
    )
    if kind not in (None, "fact"):
        _check_recallable(caller, kind)
    else:
        content, details = restate_told(caller.profile, content, details)
    return WriteResult.from_written(caller.memory.remember(content, **details))


def _check_recallable(caller: Caller, kind: str) -> None:
    """Raise `InvalidInput` for a kind that the profile never recalls."""
    kinds = caller.profile.recall.kinds
    if kind not in kinds:
        known = ", ".join(kinds)
        raise InvalidInput(f"kind: {kind!r} would never be recalled; the profile recalls {known}.")


@tool(READS)
def recall(
    caller: Caller, query: str, limit: int | None = None, kinds: KindList | None = None
) -> MemoryListResult:
    """Search what is remembered, best first. Use it before answers that may depend on the user's
    past, preferences or plans."""
    return search(caller, query, limit=limit, kinds=kinds)


@tool(READS)
def context(caller: Caller, prompt: str | None = None, budget: int | None = None) -> ContextResult:
    """Memory relevant to a task, as text within a token budget. Use it once at the start, or
    without a prompt for what matters most about the user."""
    return ContextResult.from_context(
        caller.memory.context(prompt, budget=budget, as_of=caller.as_of)
    )


@tool(SETS)
def update(caller: Caller, memory: MemoryReference, content: str) -> WriteResult:
    """Replace a memory with a corrected version; the old one stays in its history. Use it when
    something remembered has changed or was wrong."""
    return WriteResult.from_written(caller.memory.update(memory, content))


@tool(ENDS)
def forget(caller: Caller, memory: MemoryReference) -> WriteResult:
    """End one memory; undo brings it back. Use it when the user wants something forgotten."""
    return WriteResult.from_written(caller.memory.forget(memory))


@tool(SETS)
def confirm(caller: Caller, memory: MemoryReference) -> WriteResult:
    """Confirm that a memory is still true, so it does not fade. Use it when the user affirms it."""
    return WriteResult.from_written(caller.memory.confirm(memory))


@tool(ADDS)
def undo(caller: Caller, event: str | None = None) -> WriteResult:
    """Undo a change by its event, or the latest one. Use it when a write was a mistake."""
    return WriteResult.from_written(caller.memory.undo(event))


@tool(ADDS)
def feedback(
    caller: Caller, rule: MemoryReference, helped: bool, reason: str | None = None
) -> WriteResult:
    """Report whether following a rule helped or did harm. Use it after acting on one; much harm
    turns it into a warning."""
    memory = caller.memory
    return WriteResult.from_written(
        memory.helpful(rule) if helped else memory.harmful(rule, reason)
    )


PLAIN_TOOLS = (remember, recall, context, update, forget, confirm, undo, feedback)
