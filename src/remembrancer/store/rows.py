"""Between rows and values: how a memory is laid out in its table and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from enum import StrEnum
from functools import cache
from typing import Any

from sqlalchemy import Dialect, Row

from remembrancer.search.terms import fingerprint
from remembrancer.store import tables
from remembrancer.store.prepared import build_result_processors
from remembrancer.types import (
    Action,
    Backlog,
    Change,
    Episode,
    Event,
    Evidence,
    Fact,
    Kind,
    Link,
    Maturity,
    Origin,
    PastState,
    Permanence,
    Record,
    Rejection,
    Relation,
    Rule,
    RuleApplication,
    Session,
    SessionStatus,
    Source,
    Status,
    Turn,
    Verdict,
)

RECORD_TYPES: Mapping[Kind, type[Record]] = {
    Kind.FACT: Fact,
    Kind.RULE: Rule,
    Kind.EPISODE: Episode,
    Kind.TURN: Turn,
}
ENUMS: Mapping[str, type[StrEnum]] = {
    "status": Status,
    "permanence": Permanence,
    "source": Source,
    "maturity": Maturity,
    "backlog": Backlog,
    "origin": Origin,
}
FIELD_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    # Looking a member up takes a fifth of the time of calling its class.
    **{name: {str(one): one for one in enum}.__getitem__ for name, enum in ENUMS.items()},
    "tags": tuple,
    "evidence": lambda turns: tuple(Evidence(**turn) for turn in turns),
}


@cache
def _field_converters(
    kind: Kind, dialect: Dialect | None
) -> list[tuple[int, str, Callable[[Any], Any] | None]]:
    """Where the fields of a kind are in a row, and how each is read.

    Rows that come from the driver itself are converted as the dialect says.
    """
    table = tables.MEMORY_TABLES[kind]
    places = {name: place for place, name in enumerate(table.columns.keys())}
    converts = build_result_processors(table, dialect) if dialect else {}
    return [
        # The names of the fields, not of the columns: only identifiers are quick as keywords.
        (
            places[field.name],
            field.name,
            _compose(converts.get(field.name), FIELD_CONVERTERS.get(field.name)),
        )
        for field in fields(RECORD_TYPES[kind])
    ]


def _compose(
    first: Callable[[Any], Any] | None, then: Callable[[Any], Any] | None
) -> Callable[[Any], Any] | None:
    if first is None or then is None:
        return first or then
    return lambda value: then(first(value))


def record_from_row(kind: Kind, row: Sequence[Any], dialect: Dialect | None = None) -> Record:
    """The memory that a row of all columns holds; with a dialect, a row as its driver gave it."""
    return RECORD_TYPES[kind](
        **{
            name: reads(row[place]) if reads else row[place]
            for place, name, reads in _field_converters(kind, dialect)
        }
    )


def convert_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Field values as the domain has them, from what a column or an event holds."""
    return {
        name: FIELD_CONVERTERS[name](value) if name in FIELD_CONVERTERS else value
        for name, value in values.items()
    }


def record_to_row(record: Record, owner_id: str) -> dict[str, Any]:
    """The row that holds a memory."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    values["evidence"] = [asdict(turn) for turn in record.evidence]
    values["tags"] = list(record.tags)
    values["metadata"] = dict(record.metadata)
    return {"owner_id": owner_id, "fingerprint": fingerprint(record.content), **values}


def turn_from_row(row: Row[Any]) -> Turn:
    """The turn that a row holds."""
    turn = record_from_row(Kind.TURN, row)
    assert isinstance(turn, Turn)
    return turn


def session_from_row(row: Row[Any]) -> Session:
    """The conversation that a row holds."""
    values = {field.name: getattr(row, field.name) for field in fields(Session)}
    return Session(**{**values, "status": SessionStatus(row.status)})


def session_to_row(session: Session, owner_id: str) -> dict[str, Any]:
    """The row that holds a conversation."""
    values = {field.name: getattr(session, field.name) for field in fields(session)}
    return {"owner_id": owner_id, **values, "metadata": dict(session.metadata)}


def rejection_from_row(row: Row[Any]) -> Rejection:
    """What was not remembered, as a row holds it."""
    values = {field.name: getattr(row, field.name) for field in fields(Rejection)}
    return Rejection(**{**values, "turns": tuple(row.turns)})


def event_from_row(row: Row[Any], changes: tuple[Change, ...]) -> Event:
    """The event that a row and the rows of its changes hold."""
    return Event(
        id=row.id,
        at=row.at,
        action=Action(row.action),
        agent=row.agent,
        surface=row.surface,
        note=row.note,
        undoes=row.undoes,
        undone_by=row.undone_by,
        changes=changes,
        batch_id=row.batch_id,
    )


def state_from_row(row: Row[Any]) -> PastState:
    """The past state that a row holds."""
    return PastState(Status(row.status), row.valid_until, row.since, row.until)


def application_from_row(row: Row[Any]) -> RuleApplication:
    """The use of a rule that a row holds."""
    values = {field.name: getattr(row, field.name) for field in fields(RuleApplication)}
    return RuleApplication(**{**values, "verdict": Verdict(row.verdict)})


def link_from_row(row: Row[Any]) -> Link:
    """The link that a row holds."""
    return Link(row.source, row.target, Relation(row.relation), row.created_at)
