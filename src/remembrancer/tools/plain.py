"""The neutral tools: eight verbs that fit every profile."""

from __future__ import annotations

from typing import Literal

from remembrancer.tools.caller import Caller
from remembrancer.tools.results import Done, Found, Told
from remembrancer.tools.tool import ADDS, ENDS, READS, SETS, Kinds, Then, Which, Words, given, tool


@tool(SETS)
def remember(
    caller: Caller,
    content: str,
    kind: Literal["fact", "rule", "episode"] | None = None,
    category: str | None = None,
    subject: str | None = None,
    predicate: str | None = None,
    importance: float | None = None,
    tags: Words | None = None,
) -> Done:
    """Keep one durable statement for later conversations. Use it when the user asks you to
    remember, or says something lasting about themselves; saying it anew replaces the old."""
    details = given(
        kind=kind,
        category=category,
        subject=subject,
        predicate=predicate,
        importance=importance,
        tags=tags,
    )
    return Done.by(caller.memory.remember(content, **details))


@tool(READS)
def recall(
    caller: Caller,
    query: str,
    limit: int | None = None,
    kinds: Kinds | None = None,
    as_of: Then | None = None,
) -> Found:
    """Search what is remembered, best first. Use it before answering anything that may depend on
    the user's past, preferences or plans."""
    then = None if as_of is None else caller.moment(as_of)
    memory = caller.memory
    return Found.by(memory, memory.recall(query, **given(limit=limit, kinds=kinds, as_of=then)))


@tool(READS)
def context(caller: Caller, prompt: str | None = None, budget: int | None = None) -> Told:
    """Memory that matters for a task, as text within a budget of tokens. Use it once at the start,
    or without a prompt for what matters most about the user."""
    return Told.by(caller.memory.context(prompt, budget=budget))


@tool(SETS)
def update(caller: Caller, memory: Which, content: str) -> Done:
    """Replace a memory by its corrected version; the old one stays in its history. Use it when
    something remembered has changed or was wrong."""
    return Done.by(caller.memory.update(memory, content))


@tool(ENDS)
def forget(caller: Caller, memory: Which) -> Done:
    """End one memory; undo brings it back. Use it when the user wants something forgotten."""
    return Done.by(caller.memory.forget(memory))


@tool(SETS)
def confirm(caller: Caller, memory: Which) -> Done:
    """Say that a memory is still true, so it does not fade. Use it when the user affirms it."""
    return Done.by(caller.memory.confirm(memory))


@tool(ADDS)
def undo(caller: Caller, event: str | None = None) -> Done:
    """Take back a change by its event, or the latest one. Use it when a write was a mistake."""
    return Done.by(caller.memory.undo(event))


@tool(ADDS)
def feedback(caller: Caller, rule: Which, helped: bool, reason: str | None = None) -> Done:
    """Tell whether following a remembered rule helped or did harm. Use it after acting on one; much
    harm turns it into a warning."""
    memory = caller.memory
    return Done.by(memory.helpful(rule) if helped else memory.harmful(rule, reason))


PLAIN = (remember, recall, context, update, forget, confirm, undo, feedback)
