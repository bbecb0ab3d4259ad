"""Translates filters to SQL conditions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Table,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
)

from remembrancer.store import tables
from remembrancer.store.columns import (
    Moment,
    days_between,
    has_json_field,
    json_moment,
    larger_of,
)
from remembrancer.store.contract import (
    CURRENT_STATUSES,
    VALID_STATUSES,
    ConfidenceRange,
    Filter,
    SessionFilter,
    Visibility,
)
from remembrancer.types import Kind, Permanence, Source, Status

EQUALITY_FIELDS = (
    *("subject", "predicate", "source", "agent", "fingerprint", "lineage", "session_id"),
)


def select_tables(criteria: Filter) -> list[tuple[Kind, Table]]:
    """The tables that can match; only facts have a category, and only rules a maturity."""
    only_facts = criteria.categories or criteria.subject or criteria.predicate
    return [
        (kind, table)
        for kind, table in tables.MEMORY_TABLES.items()
        if kind in criteria.kinds
        and (kind is Kind.FACT or not only_facts)
        and (kind is Kind.EPISODE or not criteria.backlogs)
        and (kind is Kind.RULE or not criteria.maturities)
    ]


MAX_DELAY = timedelta(days=1)
"""Nothing waits or is leased for longer than this, which is many times the longest delay."""

OwnerParam = str | BindParameter[str]
"""An owner's id, or a bound parameter in a prepared statement."""


def matches_filter(
    owner_id: OwnerParam, kind: Kind, table: FromClause, criteria: Filter
) -> ColumnElement[bool]:
    """The condition that a row of the owner matches the filter, except for tags.

    Moments are the parameters `now`, `known` and `true`, so that a statement can be reused.
    """
    now = bindparam("now", criteria.now, Moment())
    conditions = [
        table.c.owner_id == owner_id,
        *_scope_conditions(kind, table, criteria.visible),
        *_state_conditions(owner_id, table, criteria, now),
    ]
    if criteria.hides_trash and kind is not Kind.TURN and _can_match_past(criteria):
        conditions.append(~(is_past_version(table, now) & _is_in_trash(owner_id, kind, table)))
    if criteria.confidence is not None:
        conditions.append(_has_confidence(table, criteria.confidence, now))
    if criteria.never_used:
        conditions.append(table.c.recall_count == 0)
    if criteria.minimum_importance:
        conditions.append(table.c.importance >= criteria.minimum_importance)
    for name, values in (
        ("category", criteria.categories),
        ("backlog", criteria.backlogs),
        ("maturity", criteria.maturities),
        ("permanence", criteria.permanences),
    ):
        if values:
            conditions.append(table.c[name].in_(values))
    for name in EQUALITY_FIELDS:
        if getattr(criteria, name) is not None:
            conditions.append(table.c[name] == getattr(criteria, name))
    return and_(*conditions, *_time_conditions(table, criteria))


def _can_match_past(criteria: Filter) -> bool:
    """True if the filter can match versions that are neither current nor in force."""
    if criteria.statuses is None:
        return criteria.known_at is not None or criteria.true_at is not None
    return not {*CURRENT_STATUSES, Status.TRASHED}.issuperset(criteria.statuses)


def is_past_version(
    table: FromClause, now: datetime | BindParameter[datetime]
) -> ColumnElement[bool]:
    """The condition that a row is neither current nor in force until its successor begins."""
    holds = and_(
        table.c.status == Status.SUPERSEDED,
        func.coalesce(table.c.valid_until > now, false()),
        _outlives_its_end(table),
    )
    return and_(table.c.status.not_in(CURRENT_STATUSES), ~holds)


def _is_in_trash(owner_id: OwnerParam, kind: Kind, table: FromClause) -> ColumnElement[bool]:
    """The condition that a row is a version of a memory in the trash, but not the one deleted."""
    deleted = tables.MEMORY_TABLES[kind].alias()
    lineages = select(deleted.c.lineage).where(
        deleted.c.owner_id == owner_id, deleted.c.status == Status.TRASHED
    )
    return and_(table.c.status != Status.TRASHED, table.c.lineage.in_(lineages))


def _state_conditions(
    owner_id: OwnerParam, table: FromClause, criteria: Filter, now: BindParameter[datetime]
) -> list[ColumnElement[bool]]:
    if criteria.overdue:
        return [table.c.status == Status.ACTIVE, _is_expired(table, criteria.decayed, now)]
    if criteria.statuses is not None:
        return [_has_status(table, criteria.statuses, criteria.decayed, now)]
    in_force = [_is_in_force(owner_id, table, criteria)]
    if criteria.decayed is not None:
        in_force.append(~_has_confidence(table, criteria.decayed, now))
    return in_force


def _time_conditions(table: FromClause, criteria: Filter) -> list[ColumnElement[bool]]:
    bounds = []
    if criteria.recorded_from is not None:
        bounds.append(table.c.recorded_at >= criteria.recorded_from)
    if criteria.recorded_before is not None:
        bounds.append(table.c.recorded_at < criteria.recorded_before)
    if criteria.retired_after is not None:
        bounds.append(table.c.retired_at > criteria.retired_after)
    if criteria.retired_before is not None:
        bounds.append(table.c.retired_at <= criteria.retired_before)
    if criteria.expires_before is not None:
        bounds.append(table.c.expires_at <= criteria.expires_before)
    return bounds


def _is_in_force(owner_id: OwnerParam, table: FromClause, criteria: Filter) -> ColumnElement[bool]:
    """The condition for memories known at one moment to be true at another; both default to now.

    Without a moment of truth, what is known to begin later is in force too.
    """
    moments = filter_moments(criteria)
    now, known, true = (bindparam(name, moments[name], Moment()) for name in moments)
    begun, is_past = [], []
    if criteria.true_at is not None:
        begun = [or_(table.c.valid_from <= true, and_(true >= now, _has_begun(table)))]
        is_past = [true < now]
    lasting = or_(table.c.expires_at.is_(None), table.c.expires_at > known)
    current = and_(_is_valid(table, table, true), or_(*is_past, _outlives_its_end(table)))
    if criteria.known_at is None:
        return and_(*begun, lasting, current)
    past = tables.states.alias()
    of_memory = and_(past.c.owner_id == owner_id, past.c.memory_id == table.c.id)
    changed_later = exists().where(of_memory, past.c.until > known)
    held_then = exists().where(
        of_memory, past.c.since <= known, past.c.until > known, _is_valid(past, table, true)
    )
    return and_(
        *begun,
        func.coalesce(_was_lasting(owner_id, table, known), lasting),
        table.c.recorded_at <= known,
        table.c.status != Status.TRASHED,
        or_(and_(~changed_later, current), held_then),
    )


def _was_lasting(
    owner_id: OwnerParam, table: FromClause, known: BindParameter[datetime]
) -> ColumnElement[bool]:
    """Whether a memory had not expired by the date it had then; NULL if it still has that date."""
    changes, events = tables.changes, tables.events
    field: ColumnElement[str] = literal_column("'expires_at'")
    expiry = json_moment(changes.c.before, field)
    return (
        select(or_(expiry.is_(None), expiry > known))
        .where(
            changes.c.owner_id == owner_id,
            changes.c.memory_id == table.c.id,
            has_json_field(changes.c.before, field),
            events.c.owner_id == owner_id,
            events.c.id == changes.c.event_id,
            events.c.at > known,
        )
        .order_by(events.c.at, events.c.id)
        .limit(1)
        .scalar_subquery()
    )


def filter_moments(criteria: Filter) -> dict[str, datetime]:
    """The values of the parameters `now`, `known` and `true`."""
    known = criteria.known_at or criteria.now
    return {"now": criteria.now, "known": known, "true": criteria.true_at or known}


def _has_status(
    table: FromClause,
    statuses: Sequence[Status],
    decayed: ConfidenceRange | None,
    now: BindParameter[datetime],
) -> ColumnElement[bool]:
    """The condition on status; an active memory whose time is over counts as expired."""
    over = is_over(table, decayed, now)
    named = [one for one in statuses if one is not Status.ACTIVE]
    conditions: list[ColumnElement[bool]] = [table.c.status.in_(named)]
    if Status.ACTIVE in statuses:
        conditions.append(and_(table.c.status == Status.ACTIVE, ~over))
    if Status.EXPIRED in statuses:
        conditions.append(and_(table.c.status == Status.ACTIVE, over))
    return or_(*conditions)


def is_over(
    table: FromClause, decayed: ConfidenceRange | None, now: BindParameter[datetime]
) -> ColumnElement[bool]:
    """The condition that an active memory counts as expired."""
    return or_(_is_expired(table, decayed, now), func.coalesce(table.c.valid_until <= now, false()))


def _is_expired(
    table: FromClause, decayed: ConfidenceRange | None, now: BindParameter[datetime]
) -> ColumnElement[bool]:
    """The condition that a memory's time is over, or that its confidence has decayed."""
    late = func.coalesce(table.c.expires_at <= now, false())
    return late if decayed is None else or_(late, _has_confidence(table, decayed, now))


def _has_confidence(
    table: FromClause, belief: ConfidenceRange, now: BindParameter[datetime]
) -> ColumnElement[bool]:
    """The condition that the confidence after decay is within bounds."""
    confidence: ColumnElement[float] = table.c.confidence
    if belief.decays != "none":
        rates = {one.value: one.decay_per_day for one in Permanence}
        rate = case(rates, value=table.c.permanence, else_=0.0)
        if belief.decays == "extracted":
            rate = case((table.c.source == Source.EXPLICIT, 0.0), else_=rate)
        renewed = larger_of(table.c.confirmed_at, table.c.valid_from)
        renewed = larger_of(renewed, func.coalesce(table.c.valid_until, renewed))
        if belief.renewed_by_use:
            renewed = larger_of(renewed, func.coalesce(table.c.recalled_at, renewed))
        confidence = confidence * func.exp(-rate * larger_of(days_between(renewed, now), 0.0))
    # Each comparison computes the decay for every row, so those that always hold are left out.
    most = [confidence < belief.below] if belief.below <= 1 else []
    least = [confidence >= belief.at_least] if belief.at_least > 0 or not most else []
    return and_(*least, *most)


def _is_valid(state: Any, table: FromClause, true: BindParameter[datetime]) -> ColumnElement[bool]:
    """The condition that a state has not ended; what was replaced before it began never held."""
    end = state.c.valid_until
    return and_(
        state.c.status.in_(VALID_STATUSES),
        or_(end.is_(None), and_(end > true, end > table.c.valid_from)),
    )


def _has_begun(table: FromClause) -> ColumnElement[bool]:
    """The condition that a memory had begun when it was stored, by the clock of then.

    Against a clock that was right it says nothing; one that was ahead made its moments come late.
    """
    start = table.c.valid_from
    return or_(start <= table.c.confirmed_at, start == table.c.recorded_at)


def _outlives_its_end(table: FromClause) -> ColumnElement[bool]:
    """The condition that a row holds on after it was replaced, if it was, for a later successor.

    Without it, what was replaced while the clock was ahead would be in force until then.
    """
    retired = table.c.retired_at
    return or_(retired.is_(None), table.c.valid_until.is_(None), table.c.valid_until > retired)


def session_conditions(owner_id: str, criteria: SessionFilter) -> list[ColumnElement[bool]]:
    """The conditions that a session of the owner matches the filter."""
    table, turns = tables.sessions, tables.turns
    held = and_(turns.c.owner_id == owner_id, turns.c.session_id == table.c.id)
    gone = (Status.TRASHED,) if criteria.trashed else (Status.TRASHED, Status.RETRACTED)
    kept = exists().where(held, turns.c.status.not_in(gone))
    emptied = and_(exists().where(held), ~kept)
    conditions = [
        emptied if criteria.trashed else ~emptied,
        *_scope_conditions(Kind.TURN, table, criteria.visible),
    ]
    if criteria.statuses:
        conditions.append(table.c.status.in_(criteria.statuses))
    if criteria.quiet_since is not None:
        conditions.append(table.c.active_at <= criteria.quiet_since)
    if criteria.due_by is not None:
        conditions.append(_is_due(table.c.due_at, criteria.due_by))
        conditions.append(
            or_(table.c.leased_until.is_(None), _is_due(table.c.leased_until, criteria.due_by))
        )
    return conditions


def _is_due(moment: ColumnElement[datetime], now: datetime) -> ColumnElement[bool]:
    """The condition that a time has come, or that only a clock that was ahead can have set it."""
    return or_(moment <= now, moment > now + MAX_DELAY)


def _scope_conditions(
    kind: Kind, table: FromClause, visible: Visibility
) -> list[ColumnElement[bool]]:
    scopes = (
        visible.episode_scopes
        if kind is Kind.EPISODE and visible.episode_scopes
        else visible.scopes
    )
    if visible.excluded_scopes:
        return [table.c.scope.not_in(visible.excluded_scopes)]
    if visible.path_prefix is not None:
        prefix = visible.path_prefix + "/"
        below = func.substr(table.c.scope, 1, len(prefix)) == prefix
        return [or_(table.c.scope == visible.path_prefix, below)]
    return [table.c.scope.in_(scopes)] if scopes is not None else []
