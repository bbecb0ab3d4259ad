"""Statistics of a person's memories: counts, and which memories fade next.

The database does the counting, so the number of queries does not depend on the number of memories.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypedDict, TypeVar

from remembrancer.call import Call
from remembrancer.decay import build_belief, decay_rate
from remembrancer.maintenance.simulate import Forecast, forecast
from remembrancer.remember.lifecycle import filter_visible_events
from remembrancer.remember.rule_trust import effectiveness
from remembrancer.store.contract import AgeCount, Filter, Position, Reader, Tally, Visibility
from remembrancer.types import (
    Action,
    Backlog,
    Kind,
    Maturity,
    Permanence,
    Rule,
    Stats,
    Status,
)

Name = TypeVar("Name")


class _NameCounts(TypedDict):
    by_kind: dict[str, dict[str, int]]
    by_category: dict[str, int]
    by_permanence: dict[str, dict[str, int]]
    by_scope: dict[str, int]


LISTED_KINDS = tuple(kind for kind in Kind if kind is not Kind.TURN)
"""The kinds in listings; turns are read by session."""

SOON = timedelta(days=7)
WAITING = (Backlog.PENDING, Backlog.LEASED)
CONFIDENCE_BANDS = (
    ("0-0.2", 0.0, 0.2),
    ("0.2-0.4", 0.2, 0.4),
    ("0.4-0.6", 0.4, 0.6),
    ("0.6-0.8", 0.6, 0.8),
    ("0.8-1", 0.8, 2.0),
)
"""The name of each band, its least confidence, and the confidence it stays below."""

STEP_BOUNDS = (0.2, 0.35, 0.5, 0.65)
HIGH_CONFIDENCE = 0.8
CONFIDENCE_STEPS = len(STEP_BOUNDS) + 2
GROWTH_WEEKS = 12
EVENT_BATCH_SIZE = 500
MAX_SAMPLED = 200
"""The number of memories examined one by one; beyond it, those stored first represent all."""


@dataclass(frozen=True, slots=True)
class RuleEffects:
    """The number of rules that help, were never tried, do some harm, and are anti-patterns."""

    helping: int
    untried: int
    doubtful: int
    warning: int


@dataclass(frozen=True, slots=True)
class Survey:
    """Statistics for an overview page.

    `permanences` counts facts; `confidence` counts facts and rules by step of their confidence,
    with decay by whole days; `growth` counts what was stored in each of the last weeks, oldest
    first; `fading` lists what stops being recalled next. `scopes` counts active memories by scope
    and kind, and `agents` by the agent that stored them.
    """

    stats: Stats
    permanences: Mapping[Permanence, int]
    maturities: Mapping[Maturity, int]
    effect: RuleEffects
    confidence: tuple[int, ...]
    growth: tuple[int, ...]
    fading: tuple[Forecast, ...]
    scopes: Mapping[str, Mapping[Kind, int]]
    agents: Mapping[str, int]


def build_survey(call: Call) -> Survey:
    """Compute the statistics of the memories that the caller can see."""
    active_filter = _build_active_filter(call, None)
    weeks = replace(active_filter, recorded_from=active_filter.now - timedelta(weeks=GROWTH_WEEKS))
    with call.store.open_reader(call.owner) as reader:
        rules = reader.find(replace(active_filter, kinds=(Kind.RULE,)), MAX_SAMPLED)
        facts = reader.count_by_age(replace(active_filter, kinds=(Kind.FACT,)), "confirmed_at")
        trusted = reader.count_by_age(replace(active_filter, kinds=(Kind.RULE,)), "confirmed_at")
        growth = _sum_by_name(
            (one.age, one.count) for one in reader.count_by_age(weeks, "recorded_at", 7)
        )
        fading = _find_next_to_fade(call, reader, active_filter)
        tallies = _load_tallies(reader, active_filter)
    stats = compute_stats(call)
    active = [one for one in tallies if one.status is Status.ACTIVE and one.kind is not Kind.TURN]
    return Survey(
        stats=stats,
        permanences=_sum_by_name((one.permanence, one.count) for one in facts),
        maturities={one: stats.by_maturity.get(one, 0) for one in Maturity},
        effect=_count_effects(call, [one for one in rules if isinstance(one, Rule)]),
        confidence=_count_steps(call, [*facts, *trusted]),
        growth=tuple(growth[week] for week in reversed(range(GROWTH_WEEKS))),
        fading=fading,
        scopes={
            scope: _sum_by_name((one.kind, one.count) for one in active if one.scope == scope)
            for scope in {one.scope for one in active}
        },
        agents=_sum_by_name((one.agent, one.count) for one in active if one.agent),
    )


def confidence_step(confidence: float) -> int:
    """The step of a confidence, from 1 to 6: low up to 3, below 0.5; high at 6, above 0.8."""
    return 1 + sum(confidence >= bound for bound in STEP_BOUNDS) + (confidence > HIGH_CONFIDENCE)


def _count_steps(call: Call, aged: list[AgeCount]) -> tuple[int, ...]:
    steps = Counter[int]()
    for one in aged:
        fade = decay_rate(one.permanence, one.source, call.profile.decay)
        steps[confidence_step(one.confidence * math.exp(-fade * max(0, one.age)))] += one.count
    return tuple(steps[step] for step in range(1, CONFIDENCE_STEPS + 1))


def _count_effects(call: Call, rules: list[Rule]) -> RuleEffects:
    counts = Counter[str]()
    for one in rules:
        if one.maturity is Maturity.ANTI_PATTERN:
            counts["warning"] += 1
        elif not one.applied_count:
            counts["untried"] += 1
        else:
            helps = (
                effectiveness(one, call.profile.rules)
                >= call.profile.rules.established.effectiveness
            )
            counts["helping" if helps else "doubtful"] += 1
    return RuleEffects(counts["helping"], counts["untried"], counts["doubtful"], counts["warning"])


def _find_next_to_fade(
    call: Call, reader: Reader, active_filter: Filter, limit: int = 6
) -> tuple[Forecast, ...]:
    """The forecasts of the memories that stop being recalled first."""
    decay = call.profile.decay
    near: list[Forecast] = []
    for share in (1.35, 6):
        criteria = replace(
            active_filter,
            confidence=build_belief(decay, at_least=decay.recall_at, below=decay.recall_at * share),
        )
        near = [
            forecast(one, decay) for one in reader.find(criteria, MAX_SAMPLED, oldest_first=True)
        ]
        near = [one for one in near if one.first_at is not None]
        if len(near) >= limit:
            break
    return tuple(sorted(near, key=lambda one: (one.first_at or active_filter.now, one.id))[:limit])


def _build_active_filter(call: Call, scope: str | None) -> Filter:
    """Active memories that the caller can see."""
    decay = call.profile.decay
    return Filter(
        now=call.now(),
        visible=call.resolve_visibility(scope),
        kinds=LISTED_KINDS,
        statuses=(Status.ACTIVE,),
        decayed=build_belief(decay, below=decay.expire_below),
    )


def count_by_scope(call: Call) -> dict[str, int]:
    """The number of active memories by scope, never their content.

    An agent sees its own scopes; a caller without an agent sees all, even if scopes are isolated.
    """
    visible = call.resolve_visibility() if call.principal.agent is not None else Visibility()
    with call.store.open_reader(call.owner) as reader:
        decayed = build_belief(call.profile.decay, below=call.profile.decay.expire_below)
        tallies = reader.tally(call.now(), decayed)
        tallies = [one for one in tallies if visible.contains(one.scope, one.kind)]
    return _sum_by_name((one.scope, one.count) for one in tallies if one.status is Status.ACTIVE)


def compute_stats(call: Call, scope: str | None = None) -> Stats:
    decay, active = call.profile.decay, _build_active_filter(call, scope)
    rules = replace(active, kinds=(Kind.RULE,))
    believed = replace(active, kinds=(Kind.FACT, Kind.RULE))
    bands = {
        name: replace(believed, confidence=build_belief(decay, at_least=least, below=below))
        for name, least, below in CONFIDENCE_BANDS
    }
    with call.store.open_reader(call.owner) as reader:
        tallies = _load_tallies(reader, active)
        maturities = {
            one.value: reader.count(replace(rules, maturities=(one,))) for one in Maturity
        }
        confidence = {name: reader.count(one) for name, one in bands.items()}
        applied = [one for one in reader.find(rules, MAX_SAMPLED) if isinstance(one, Rule)]
        fading = replace(active, confidence=build_belief(decay, below=decay.recall_at))
        return Stats(
            **tally_names(tallies),
            by_maturity=_drop_zeros(maturities),
            by_confidence=_drop_zeros(confidence),
            effectiveness=mean_effectiveness(call, applied),
            fading=reader.count(fading),
            expiring=reader.count(replace(active, expires_before=active.now + SOON)),
            backlog=reader.count(replace(active, backlogs=WAITING)),
            events=count_visible_events(call, reader, scope),
            consolidated_at=find_last_consolidation(call, reader, scope, active.now),
        )


def count_visible_events(
    call: Call, reader: Reader, scope: str | None, until: datetime | None = None
) -> int:
    """The number of events; where agents are separate, of those that the caller can see."""
    if call.profile.scopes.visibility == "shared" or _sees_everything(call, scope):
        return reader.count_events(until)
    agent = call.principal.agent or scope
    call = replace(call, principal=replace(call.principal, agent=agent))
    count, after = 0, None
    while page := reader.list_events(limit=EVENT_BATCH_SIZE, after=after):
        known = [one for one in page if until is None or one.at <= until]
        count += len(filter_visible_events(call, reader, known))
        after = Position(page[-1].at, page[-1].id)
    return count


def find_last_consolidation(
    call: Call, reader: Reader, scope: str | None, until: datetime
) -> datetime | None:
    """When episodes were consolidated last: those in the scope, if there is one."""
    if _sees_everything(call, scope):
        return reader.find_last_event(Action.CONSOLIDATED, until)
    done = Filter(
        now=until,
        visible=call.resolve_visibility(scope),
        kinds=(Kind.EPISODE,),
        statuses=tuple(Status),
        backlogs=(Backlog.DONE,),
    )
    ids = [one.id for one in reader.find(done, MAX_SAMPLED)]
    if not ids:
        return None
    actions = (Action.CONSOLIDATED, Action.LEARNED)
    times = (one.at for one in reader.list_events(memory_ids=ids, actions=actions))
    return next((at for at in times if at <= until), None)


def _sees_everything(call: Call, scope: str | None) -> bool:
    return call.resolve_visibility(scope) == Visibility()


def _load_tallies(reader: Reader, active_filter: Filter) -> list[Tally]:
    tallies = reader.tally(active_filter.now, active_filter.decayed)
    return [one for one in tallies if active_filter.visible.contains(one.scope, one.kind)]


def tally_names(tallies: Sequence[Tally]) -> _NameCounts:
    """The counts by kind and status, and those of active memories by their other names."""
    by_kind: dict[str, Counter[str]] = {}
    by_permanence: dict[str, Counter[str]] = {}
    for one in tallies:
        by_kind.setdefault(one.kind, Counter())[one.status] += one.count
    active = [one for one in tallies if one.status is Status.ACTIVE]
    for one in active:
        by_permanence.setdefault(one.kind, Counter())[one.permanence] += one.count
    return {
        "by_kind": {kind: dict(counts) for kind, counts in by_kind.items()},
        "by_category": _sum_by_name((one.category, one.count) for one in active if one.category),
        "by_permanence": {kind: dict(counts) for kind, counts in by_permanence.items()},
        "by_scope": _sum_by_name((one.scope, one.count) for one in active),
    }


def mean_effectiveness(call: Call, rules: Iterable[Rule]) -> float | None:
    """The mean effectiveness of the rules that were applied, or None if none was."""
    values = [effectiveness(one, call.profile.rules) for one in rules if one.applied_count]
    return round(sum(values) / len(values), 3) if values else None


def _drop_zeros(counts: Mapping[Name, int]) -> dict[Name, int]:
    return {name: count for name, count in counts.items() if count}


def _sum_by_name(pairs: Iterable[tuple[Name, int]]) -> Counter[Name]:
    sums: Counter[Name] = Counter()
    for name, count in pairs:
        sums[name] += count
    return sums
