"""Options of a listing or a recall, and the store filter they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypedDict

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.decay import build_belief, effective_confidence
from remembrancer.options import collect_items
from remembrancer.profiles import DecayPolicy
from remembrancer.store.contract import Filter
from remembrancer.types import (
    AsOf,
    Backlog,
    Episode,
    Kind,
    Maturity,
    Mode,
    Permanence,
    Record,
    Rule,
    parse_enum,
)

MAX_QUERY_CHARS = 20_000


class ListFilter(TypedDict, total=False):
    """Options that select memories.

    `agent` selects what an agent stored, and what was concluded from its episodes.
    """

    kinds: Sequence[Kind | str]
    categories: Sequence[str]
    tags: Sequence[str]
    scope: str | None
    as_of: AsOf | datetime | None
    minimum_importance: float
    subject: str | None
    maturities: Sequence[Maturity | str]
    permanences: Sequence[Permanence | str]
    backlogs: Sequence[Backlog | str]
    session: str | None
    agent: str | None
    confidence_below: float
    recorded_from: datetime | None
    recorded_before: datetime | None


class RecallOptions(ListFilter, total=False):
    """Options of a recall.

    `now` is the time of the query, for phrases like "last week". After `deadline_ms` recall
    stops waiting for the query's embedding and goes on without it. With `used=False` the result
    does not count as recalled, nor does one with `as_of`.
    """

    mode: Mode | str
    limit: int
    minimum_confidence: float
    now: datetime | None
    deadline_ms: float | None
    used: bool


def build_filter(call: Call, options: ListFilter) -> Filter:
    kinds = tuple(parse_enum(Kind, kind, "kinds") for kind in options.get("kinds", ())) or None
    visible = call.visible_filter(
        scope=options.get("scope"), kinds=kinds, as_of=call.read_as_of(options.get("as_of"))
    )
    for category in options.get("categories", ()):
        call.profile.resolve_category(category)
    since, before = options.get("recorded_from"), options.get("recorded_before")
    below = options.get("confidence_below")
    return replace(
        visible,
        subject=options.get("subject"),
        confidence=None if below is None else build_belief(call.profile.decay, below=below),
        maturities=tuple(
            parse_enum(Maturity, one, "maturities") for one in options.get("maturities", ())
        ),
        permanences=tuple(
            parse_enum(Permanence, one, "permanences") for one in options.get("permanences", ())
        ),
        backlogs=tuple(parse_enum(Backlog, one, "backlogs") for one in options.get("backlogs", ())),
        session_id=options.get("session"),
        agent=options.get("agent"),
        recorded_from=since and as_utc(since),
        recorded_before=before and as_utc(before),
        categories=collect_items("categories", options.get("categories", ())),
        tags=collect_items("tags", options.get("tags", ())),
        minimum_importance=options.get(
            "minimum_importance", call.profile.recall.minimum_importance
        ),
    )


def without_state(criteria: Filter) -> Filter:
    """The filter without its conditions on what can change about a memory."""
    kinds = [
        kind
        for kind in criteria.kinds
        if (kind is Kind.RULE or not criteria.maturities)
        and (kind is Kind.EPISODE or not criteria.backlogs)
    ]
    return replace(
        criteria,
        kinds=tuple(kinds),
        minimum_importance=0,
        tags=(),
        permanences=(),
        maturities=(),
        backlogs=(),
        confidence=None,
    )


def matches_state(record: Record, criteria: Filter, decay: DecayPolicy) -> bool:
    """True if a memory, in the state that it had then, meets the conditions on its state."""
    bounds = criteria.confidence
    confidence = effective_confidence(record, decay, criteria.known_at or criteria.now)
    return (
        record.importance >= criteria.minimum_importance
        and set(criteria.tags) <= set(record.tags)
        and (not criteria.permanences or record.permanence in criteria.permanences)
        and (not isinstance(record, Rule) or _is_among(record.maturity, criteria.maturities))
        and (not isinstance(record, Episode) or _is_among(record.backlog, criteria.backlogs))
        and (bounds is None or bounds.at_least <= confidence < bounds.below)
    )


def _is_among(value: object, wanted: Sequence[object]) -> bool:
    return not wanted or value in wanted
