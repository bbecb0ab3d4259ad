"""What a filter means in SQL: which rows are in scope, in force, or were at some moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Table,
    and_,
    bindparam,
    exists,
    func,
    or_,
)

from remembrancer.store import tables
from remembrancer.store.columns import Moment
from remembrancer.store.contract import HELD, Filter, Visibility
from remembrancer.types import Kind, Status

EQUAL = ("subject", "predicate", "source", "fingerprint", "lineage")


def tables_of(wanted: Filter) -> list[tuple[Kind, Table]]:
    """The tables a filter is about; only facts have a category, a subject or a predicate."""
    only_facts = wanted.categories or wanted.subject or wanted.predicate
    return [
        (kind, table)
        for kind, table in tables.MEMORY_TABLES.items()
        if kind in wanted.kinds and (kind is Kind.FACT or not only_facts)
    ]


Owning = str | BindParameter[str]
"""An owner's id, or a place for it in a statement that is made once."""


def passes(owner_id: Owning, kind: Kind, table: FromClause, wanted: Filter) -> ColumnElement[bool]:
    """The condition that a row of the owner passes the filter, but for its tags.

    Moments are parameters called `now`, `known` and `true`, so that a statement can be reused.
    """
    conditions = [table.c.owner_id == owner_id, *_in_scope(kind, table, wanted.visible)]
    if wanted.statuses is None:
        conditions.append(_in_force(owner_id, table, wanted))
    else:
        now = bindparam("now", wanted.now, Moment())
        conditions.append(_has_status(table, wanted.statuses, now))
    if wanted.categories:
        conditions.append(table.c.category.in_(wanted.categories))
    if wanted.retired_after is not None:
        conditions.append(table.c.retired_at > wanted.retired_after)
    if wanted.minimum_importance:
        conditions.append(table.c.importance >= wanted.minimum_importance)
    for name in EQUAL:
        if getattr(wanted, name) is not None:
            conditions.append(table.c[name] == getattr(wanted, name))
    return and_(*conditions)


def _in_force(owner_id: Owning, table: FromClause, wanted: Filter) -> ColumnElement[bool]:
    """What was known at one moment to be true at another: by default, now and now."""
    moments = moments_of(wanted)
    known, true = (bindparam(name, moments[name], Moment()) for name in ("known", "true"))
    begun = and_(
        table.c.valid_from <= true,
        or_(table.c.expires_at.is_(None), table.c.expires_at > known),
    )
    current = _holds(table, true)
    if wanted.known_at is None:
        return and_(begun, current)
    past = tables.states.alias()
    of_memory = and_(past.c.owner_id == owner_id, past.c.memory_id == table.c.id)
    changed_later = exists().where(of_memory, past.c.until > known)
    held_then = exists().where(
        of_memory, past.c.since <= known, past.c.until > known, _holds(past, true)
    )
    return and_(
        begun,
        table.c.recorded_at <= known,
        table.c.status != Status.TRASHED,
        or_(and_(~changed_later, current), held_then),
    )


def moments_of(wanted: Filter) -> dict[str, datetime]:
    """The moments that a filter speaks of: now, when it was known and when it was true."""
    known = wanted.known_at or wanted.now
    return {"now": wanted.now, "known": known, "true": wanted.true_at or known}


def _has_status(
    table: FromClause, statuses: Sequence[Status], now: BindParameter[datetime]
) -> ColumnElement[bool]:
    """Whether a memory counts as one of these: an active one whose time has run out is expired."""
    over = or_(table.c.expires_at <= now, table.c.valid_until <= now)
    running = and_(
        or_(table.c.expires_at.is_(None), table.c.expires_at > now),
        or_(table.c.valid_until.is_(None), table.c.valid_until > now),
    )
    named = [one for one in statuses if one is not Status.ACTIVE]
    conditions: list[ColumnElement[bool]] = [table.c.status.in_(named)]
    if Status.ACTIVE in statuses:
        conditions.append(and_(table.c.status == Status.ACTIVE, running))
    if Status.EXPIRED in statuses:
        conditions.append(and_(table.c.status == Status.ACTIVE, over))
    return or_(*conditions)


def _holds(state: Any, true: BindParameter[datetime]) -> ColumnElement[bool]:
    return and_(
        state.c.status.in_(HELD),
        or_(state.c.valid_until.is_(None), state.c.valid_until > true),
    )


def _in_scope(kind: Kind, table: FromClause, visible: Visibility) -> list[ColumnElement[bool]]:
    scopes = visible.episodes if kind is Kind.EPISODE and visible.episodes else visible.scopes
    if visible.below is not None:
        prefix = visible.below + "/"
        below = func.substr(table.c.scope, 1, len(prefix)) == prefix
        return [or_(table.c.scope == visible.below, below)]
    return [table.c.scope.in_(scopes)] if scopes is not None else []
