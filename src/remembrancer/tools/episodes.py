"""The tools of a fleet of agents: episodes, facts and rules, in scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import Counted, Done, Found, Remembered, Told
from remembrancer.tools.tool import (
    ADDS,
    ENDS,
    READS,
    SETS,
    Fading,
    Kinds,
    Type,
    Ways,
    Words,
    given,
    tool,
)
from remembrancer.types import Kind, Record, Rule, looks_like_id

KINDS = (Kind.FACT, Kind.RULE, Kind.EPISODE)
PAGE = 1000


@tool(ADDS)
def memory_store_episode(
    caller: Caller,
    content: str,
    butler: str,
    session_id: str | None = None,
    importance: float | None = None,
) -> Done:
    """Store what happened in a session of one agent, to be consolidated later. Use it when a
    session ends."""
    details = given(session_id=session_id, importance=importance)
    memory = caller.acting_as(butler).memory
    return Done.by(memory.remember(content, kind=Kind.EPISODE, **details))


@tool(SETS)
def memory_store_fact(
    caller: Caller,
    subject: str,
    predicate: str,
    content: str,
    importance: float | None = None,
    permanence: Fading | None = None,
    scope: str | None = None,
    tags: Words | None = None,
) -> Done:
    """Store something true as soon as you learn it. A fact with the same subject and predicate is
    superseded."""
    details = given(
        importance=importance,
        permanence=permanence,
        scope=caller.scope_to_write(scope),
        tags=tags,
    )
    written = caller.memory.remember(content, subject=subject, predicate=predicate, **details)
    return Done.by(written)


@tool(SETS)
def memory_store_rule(
    caller: Caller, content: str, scope: str | None = None, tags: Words | None = None
) -> Done:
    """Store a way to behave that proved useful, as a candidate. Use it when you find a pattern that
    other sessions should follow."""
    details = given(scope=caller.scope_to_write(scope), tags=tags)
    return Done.by(caller.memory.remember(content, kind=Kind.RULE, **details))


@tool(READS)
def memory_search(
    caller: Caller,
    query: str,
    types: Kinds | None = None,
    scope: str | None = None,
    mode: Ways | None = None,
    limit: int | None = None,
    min_confidence: float | None = None,
) -> Found:
    """Search episodes, facts and rules with filters. Use it when memory_recall is too narrow;
    min_confidence 0 shows fading ones too."""
    wanted = given(
        scope=caller.scope_to_read(scope),
        mode=mode,
        limit=limit,
        minimum_confidence=min_confidence,
    )
    memory = caller.memory
    return Found.by(memory, memory.recall(query, kinds=types or KINDS, **wanted))


@tool(READS)
def memory_recall(
    caller: Caller, topic: str, scope: str | None = None, limit: int | None = None
) -> Found:
    """The facts and rules that matter most for a topic. Use it first, before acting; give your own
    name as scope."""
    wanted = given(scope=caller.scope_to_read(scope), limit=limit)
    memory = caller.memory
    return Found.by(memory, memory.recall(topic, kinds=(Kind.FACT, Kind.RULE), **wanted))


@tool(READS)
def memory_get(caller: Caller, type: Type, id: str) -> Remembered:
    """One memory in full by its id. Use it when a search result is not enough."""
    memory = caller.memory
    record = memory.get(_named(type, id), used=True)
    return Remembered.of(memory, record, detail=None)


@tool(SETS)
def memory_confirm(caller: Caller, type: Type, id: str) -> Done:
    """Say that a fact or rule is still right, so that it does not fade. Use it after a memory
    proved true."""
    return Done.by(caller.memory.confirm(_named(type, id)))


@tool(ADDS)
def memory_mark_helpful(caller: Caller, rule_id: str) -> Done:
    """Report that following a rule helped. Use it after each success; rules earn trust by it."""
    return Done.by(caller.memory.helpful(_named(Kind.RULE, rule_id)))


@tool(ADDS)
def memory_mark_harmful(caller: Caller, rule_id: str, reason: str | None = None) -> Done:
    """Report that following a rule did harm, and why. Much harm turns the rule into a warning."""
    return Done.by(caller.memory.harmful(_named(Kind.RULE, rule_id), reason))


@tool(ENDS)
def memory_forget(caller: Caller, type: Type, id: str) -> Done:
    """End a memory that is wrong or unwanted; it can be restored."""
    return Done.by(caller.memory.forget(_named(type, id)))


@tool(READS)
def memory_stats(caller: Caller, scope: str | None = None) -> Counted:
    """Counts and health of memory: kinds, confidence, backlog, rules. Use it to report on memory,
    not to find something in it."""
    scope = caller.scope_to_read(scope)
    memory = caller.memory
    stats = memory.stats(scope=scope)
    records = list(_all(memory, scope))
    rules = [one for one in records if isinstance(one, Rule)]
    helped = [memory.effectiveness(one) for one in rules if one.applied_count]
    return Counted(
        by_kind={kind: dict(states) for kind, states in stats.by_kind.items()},
        by_scope=dict(stats.by_scope),
        by_permanence=dict(stats.by_permanence),
        fading=stats.fading,
        expiring_soon=stats.expiring,
        episodes_waiting=stats.backlog,
        confidence=dict(Counter(_fifth(memory.confidence(one)) for one in records)),
        rules=dict(Counter(one.maturity for one in rules)),
        effectiveness=round(sum(helped) / len(helped), 3) if helped else None,
    )


@tool(READS)
def memory_context(
    caller: Caller, trigger_prompt: str, butler: str, token_budget: int | None = None
) -> Told:
    """Memory as text for an agent's system prompt, within a budget of tokens (3000). Use it before
    a session starts, or after its context was compressed."""
    memory = caller.acting_as(butler).memory
    return Told.by(memory.context(trigger_prompt, budget=token_budget))


def _named(type: str, id: str) -> str:
    """The id, if it can be one of that type; an id of another type is missing."""
    if not looks_like_id(id) or not id.startswith(f"{type}_"):
        raise NotFound(f"There is no {type} with that id.")
    return id


def _all(memory: Memory, scope: str | None) -> Iterator[Record]:
    """Every fact and rule in force."""
    cursor = None
    while True:
        page = memory.list(kinds=(Kind.FACT, Kind.RULE), scope=scope, limit=PAGE, cursor=cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def _fifth(confidence: float) -> str:
    """The fifth of the scale that a confidence is in."""
    step = min(int(confidence * 5), 4)
    return f"{step / 5:g}-{(step + 1) / 5:g}"


NEEDED = (
    memory_recall,
    memory_store_fact,
    memory_store_rule,
    memory_search,
    memory_confirm,
    memory_forget,
    memory_mark_helpful,
    memory_mark_harmful,
)
EPISODES = (*NEEDED, memory_store_episode, memory_get, memory_stats, memory_context)
