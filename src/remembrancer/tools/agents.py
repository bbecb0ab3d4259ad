"""Tools of the agents profile: episodes, facts and rules in scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import (
    ContextResult,
    MemoryListResult,
    MemoryResult,
    StatsResult,
    WriteResult,
)
from remembrancer.tools.tool import (
    ADDS,
    ENDS,
    READS,
    SETS,
    KindList,
    KindName,
    PermanenceName,
    SearchMode,
    StringList,
    drop_none,
    search,
    tool,
)
from remembrancer.types import Kind, Record, Rule, looks_like_id

SEARCHED_KINDS = (Kind.FACT, Kind.RULE, Kind.EPISODE)
PAGE_SIZE = 1000


@tool(ADDS)
def memory_store_episode(
    caller: Caller,
    content: str,
    butler: str,
    session_id: str | None = None,
    importance: float | None = None,
) -> WriteResult:
    """Store what happened in a session of one agent, for later consolidation. Use it when a
    session ends."""
    details = drop_none(session_id=session_id, importance=importance)
    memory = caller.acting_as(butler).memory
    return WriteResult.from_written(memory.remember(content, kind=Kind.EPISODE, **details))


@tool(SETS)
def memory_store_fact(
    caller: Caller,
    subject: str,
    predicate: str,
    content: str,
    importance: float | None = None,
    permanence: PermanenceName | None = None,
    scope: str | None = None,
    tags: StringList | None = None,
) -> WriteResult:
    """Store a fact as soon as you learn it. It supersedes a fact with the same subject and
    predicate."""
    details = drop_none(
        importance=importance,
        permanence=permanence,
        scope=caller.resolve_write_scope(scope),
        tags=tags,
    )
    written = caller.memory.remember(content, subject=subject, predicate=predicate, **details)
    return WriteResult.from_written(written)


@tool(SETS)
def memory_store_rule(
    caller: Caller, content: str, scope: str | None = None, tags: StringList | None = None
) -> WriteResult:
    """Store a useful way to behave as a candidate rule. Use it when you find a pattern that other
    sessions should follow."""
    details = drop_none(scope=caller.resolve_write_scope(scope), tags=tags)
    return WriteResult.from_written(caller.memory.remember(content, kind=Kind.RULE, **details))


@tool(READS)
def memory_search(
    caller: Caller,
    query: str,
    types: KindList | None = None,
    scope: str | None = None,
    mode: SearchMode | None = None,
    limit: int | None = None,
    min_confidence: float | None = None,
) -> MemoryListResult:
    """Search episodes, facts and rules with filters. Use it when memory_recall is too narrow;
    min_confidence 0 shows fading ones too."""
    return search(
        caller,
        query,
        kinds=types or SEARCHED_KINDS,
        scope=caller.resolve_read_scope(scope),
        mode=mode,
        limit=limit,
        minimum_confidence=min_confidence,
    )


@tool(READS)
def memory_recall(
    caller: Caller,
    topic: str,
    scope: str | None = None,
    limit: int | None = None,
    min_confidence: float | None = None,
) -> MemoryListResult:
    """The facts and rules that matter most for a topic; min_confidence 0 includes fading ones. Use
    it first, before acting; give your own name as scope."""
    return search(
        caller,
        topic,
        kinds=(Kind.FACT, Kind.RULE),
        scope=caller.resolve_read_scope(scope),
        limit=limit,
        minimum_confidence=min_confidence,
    )


@tool(READS)
def memory_get(caller: Caller, type: KindName, id: str) -> MemoryResult:
    """One memory in full by its id. Use it when a search result is not enough."""
    memory = caller.memory
    record = memory.get(_check_id(type, id), used=True)
    return MemoryResult.from_record(memory, record, max_detail_chars=None)


@tool(SETS)
def memory_confirm(caller: Caller, type: KindName, id: str) -> WriteResult:
    """Confirm that a fact or rule is still right, so that it does not fade. Use it after a memory
    proved true."""
    return WriteResult.from_written(caller.memory.confirm(_check_id(type, id)))


@tool(ADDS)
def memory_mark_helpful(caller: Caller, rule_id: str) -> WriteResult:
    """Report that following a rule helped. Use it after each success; rules earn trust by it."""
    return WriteResult.from_written(caller.memory.helpful(_check_id(Kind.RULE, rule_id)))


@tool(ADDS)
def memory_mark_harmful(caller: Caller, rule_id: str, reason: str | None = None) -> WriteResult:
    """Report that following a rule did harm, and why. Much harm turns the rule into a warning."""
    return WriteResult.from_written(caller.memory.harmful(_check_id(Kind.RULE, rule_id), reason))


@tool(ENDS)
def memory_forget(caller: Caller, type: KindName, id: str) -> WriteResult:
    """End a memory that is wrong or unwanted; it can be restored."""
    return WriteResult.from_written(caller.memory.forget(_check_id(type, id)))


@tool(READS)
def memory_stats(caller: Caller, scope: str | None = None) -> StatsResult:
    """Counts and health of memory: kinds, confidence, backlog, rules. Use it to report on memory,
    not to find something in it."""
    scope, memory = caller.resolve_read_scope(scope), caller.memory
    stats = memory.stats(scope=scope)
    records = list(_iter_facts_and_rules(memory, scope))
    rules = [one for one in records if isinstance(one, Rule)]
    helped = [memory.effectiveness(one) for one in rules if one.applied_count]
    return StatsResult(
        by_kind={kind: dict(states) for kind, states in stats.by_kind.items()},
        by_scope=dict(stats.by_scope),
        by_permanence=dict(stats.by_permanence),
        fading=stats.fading,
        expiring_soon=stats.expiring,
        episodes_waiting=stats.backlog,
        confidence=dict(Counter(_bucket_confidence(memory.confidence(one)) for one in records)),
        rules=dict(Counter(one.maturity for one in rules)),
        effectiveness=round(sum(helped) / len(helped), 3) if helped else None,
    )


@tool(READS)
def memory_context(
    caller: Caller, trigger_prompt: str, butler: str, token_budget: int | None = None
) -> ContextResult:
    """Memory as text for an agent's system prompt, within a budget of tokens (3000). Use it before
    a session starts, or after its context was compressed."""
    memory = caller.acting_as(butler).memory
    return ContextResult.from_context(memory.context(trigger_prompt, budget=token_budget))


def _check_id(type: str, id: str) -> str:
    """Return the id; raises `NotFound` if it is not an id of that type."""
    if not looks_like_id(id) or not id.startswith(f"{type}_"):
        raise NotFound(f"There is no {type} with that id.")
    return id


def _iter_facts_and_rules(memory: Memory, scope: str | None) -> Iterator[Record]:
    cursor = None
    while True:
        page = memory.list(
            kinds=(Kind.FACT, Kind.RULE), scope=scope, limit=PAGE_SIZE, cursor=cursor
        )
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def _bucket_confidence(confidence: float) -> str:
    """Return the range of width 0.2 that holds a confidence, such as "0.4-0.6"."""
    step = min(int(confidence * 5), 4)
    return f"{step / 5:g}-{(step + 1) / 5:g}"


EPISODE_TOOLS = (
    memory_recall,
    memory_store_fact,
    memory_store_rule,
    memory_search,
    memory_confirm,
    memory_forget,
    memory_mark_helpful,
    memory_mark_harmful,
    memory_store_episode,
    memory_get,
    memory_stats,
    memory_context,
)
