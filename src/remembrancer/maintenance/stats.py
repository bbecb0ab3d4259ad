"""How a person's memories are doing: counts, and what is next to fade.

All of it is counted where the memories are, so that it takes as many queries for few as for many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from remembrancer.call import Call
from remembrancer.decay import belief, rate
from remembrancer.maintenance.simulate import Forecast, forecast
from remembrancer.remember.rule_trust import effectiveness
from remembrancer.store.contract import Aged, Filter, Reader, Visibility
from remembrancer.types import Backlog, Kind, Maturity, Permanence, Rule, Stats, Status

Name = TypeVar("Name")

BESIDES_TURNS = tuple(kind for kind in Kind if kind is not Kind.TURN)
"""What a listing is of: the turns of conversations are read conversation by conversation."""

STEPS = 6
WEEKS = 12
LOOKED_AT = 200
"""How many memories are looked at one by one; beyond that, those stored first stand for all."""


@dataclass(frozen=True, slots=True)
class Effect:
    """How many rules help, were never tried, do some harm, and warn of themselves."""

    helping: int
    untried: int
    doubtful: int
    warning: int


@dataclass(frozen=True, slots=True)
class Survey:
    """How memories are doing at a glance.

    `permanences` counts facts; `confidence` counts facts and rules by sixths of how far they are
    believed, to the day; `growth` counts what was stored in each of the last weeks, oldest first;
    `fading` is what stops being recalled next.
    """

    stats: Stats
    permanences: Mapping[Permanence, int]
    maturities: Mapping[Maturity, int]
    effect: Effect
    confidence: tuple[int, ...]
    growth: tuple[int, ...]
    fading: tuple[Forecast, ...]


def survey(call: Call) -> Survey:
    """How the memories that a caller sees are doing."""
    alive = _alive(call, None)
    weeks = replace(alive, recorded_from=alive.now - timedelta(weeks=WEEKS))
    with call.store.reading(call.owner) as reader:
        rules = reader.find(replace(alive, kinds=(Kind.RULE,)), LOOKED_AT)
        maturities = {
            one: reader.count(replace(alive, kinds=(Kind.RULE,), maturities=(one,)))
            for one in Maturity
        }
        facts = reader.ages(replace(alive, kinds=(Kind.FACT,)), "confirmed_at")
        trusted = reader.ages(replace(alive, kinds=(Kind.RULE,)), "confirmed_at")
        growth = _summed((one.age, one.count) for one in reader.ages(weeks, "recorded_at", 7))
        fading = _next_to_fade(call, reader, alive)
    return Survey(
        stats=stats(call),
        permanences=_summed((one.permanence, one.count) for one in facts),
        maturities=maturities,
        effect=_effect(call, [one for one in rules if isinstance(one, Rule)]),
        confidence=_steps(call, [*facts, *trusted]),
        growth=tuple(growth[week] for week in reversed(range(WEEKS))),
        fading=fading,
    )


def step_of(confidence: float) -> int:
    """Which of six steps a confidence is on, from 1 to 6."""
    return max(1, min(STEPS, round(confidence * STEPS + 0.49)))


def _steps(call: Call, aged: list[Aged]) -> tuple[int, ...]:
    steps = Counter[int]()
    for one in aged:
        fade = rate(one.permanence, one.source, call.profile.decay)
        steps[step_of(one.confidence * math.exp(-fade * max(0, one.age)))] += one.count
    return tuple(steps[step] for step in range(1, STEPS + 1))


def _effect(call: Call, rules: list[Rule]) -> Effect:
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
    return Effect(counts["helping"], counts["untried"], counts["doubtful"], counts["warning"])


def _next_to_fade(
    call: Call, reader: Reader, alive: Filter, limit: int = 6
) -> tuple[Forecast, ...]:
    """What stops being recalled first, of what is nearest to it."""
    decay = call.profile.decay
    near: list[Forecast] = []
    for share in (1.35, 6):
        wanted = replace(
            alive, belief=belief(decay, at_least=decay.recall_at, below=decay.recall_at * share)
        )
        near = [forecast(one, decay) for one in reader.find(wanted, LOOKED_AT, oldest=True)]
        near = [one for one in near if one.first_at is not None]
        if len(near) >= limit:
            break
    return tuple(sorted(near, key=lambda one: (one.first_at or alive.now, one.id))[:limit])


def _alive(call: Call, scope: str | None) -> Filter:
    """What is in force of what a caller sees."""
    decay = call.profile.decay
    return Filter(
        now=call.now(),
        visible=call.visible(scope),
        kinds=BESIDES_TURNS,
        statuses=(Status.ACTIVE,),
        decayed=belief(decay, below=decay.expire_below),
    )


def scopes(call: Call) -> dict[str, int]:
    """The scopes there are and how much is in force in each: names and numbers, never memories.

    An agent is told of its own; whoever has none, of all, where these are kept apart too.
    """
    visible = call.visible() if call.principal.agent is not None else Visibility()
    with call.store.reading(call.owner) as reader:
        tallies = [one for one in reader.tally(call.now()) if visible.shows(one.scope, one.kind)]
    return _summed((one.scope, one.count) for one in tallies if one.status is Status.ACTIVE)


def stats(call: Call, scope: str | None = None) -> Stats:
    """How many memories there are, of what sort, and how they are doing."""
    decay, alive = call.profile.decay, _alive(call, scope)
    now, visible = alive.now, alive.visible
    fading = replace(alive, belief=belief(decay, below=decay.recall_at))
    soon = replace(alive, expires_before=now + timedelta(days=7))
    waiting = replace(alive, backlogs=(Backlog.PENDING, Backlog.LEASED))
    with call.store.reading(call.owner) as reader:
        tallies = [one for one in reader.tally(now) if visible.shows(one.scope, one.kind)]
        counts = [reader.count(one) for one in (fading, soon, waiting)]
        events = reader.count_events()
    by_kind: dict[str, Counter[str]] = {}
    for one in tallies:
        by_kind.setdefault(one.kind, Counter())[one.status] += one.count
    active = [one for one in tallies if one.status is Status.ACTIVE]
    return Stats(
        by_kind={kind: dict(counts) for kind, counts in by_kind.items()},
        by_category=_summed((one.category, one.count) for one in active if one.category),
        by_permanence=_summed((one.permanence, one.count) for one in active),
        by_scope=_summed((one.scope, one.count) for one in active),
        fading=counts[0],
        expiring=counts[1],
        backlog=counts[2],
        events=events,
    )


def _summed(pairs: Iterable[tuple[Name, int]]) -> Counter[Name]:
    sums: Counter[Name] = Counter()
    for name, count in pairs:
        sums[name] += count
    return sums
