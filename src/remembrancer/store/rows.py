"""Between rows and values: how a memory is laid out in its table and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Row

from remembrancer.text import fingerprint
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
    Permanence,
    Record,
    Relation,
    Rule,
    Session,
    SessionStatus,
    Source,
    State,
    Status,
    Turn,
)

RECORDS: Mapping[Kind, type[Record]] = {
    Kind.FACT: Fact,
    Kind.RULE: Rule,
    Kind.EPISODE: Episode,
    Kind.TURN: Turn,
}
READ: Mapping[str, Callable[[Any], Any]] = {
    "status": Status,
    "permanence": Permanence,
    "source": Source,
    "maturity": Maturity,
    "backlog": Backlog,
    "origin": Origin,
    "tags": tuple,
    "evidence": lambda turns: tuple(Evidence(**turn) for turn in turns),
}
COLUMNS = {
    kind: [(field.name, READ.get(field.name)) for field in fields(record)]
    for kind, record in RECORDS.items()
}


def record_of(kind: Kind, row: Row[Any]) -> Record:
    """The memory that a row holds."""
    values = dict(zip(row._fields, row, strict=True))
    return RECORDS[kind](
        **{name: reads(values[name]) if reads else values[name] for name, reads in COLUMNS[kind]}
    )


def read(values: Mapping[str, Any]) -> dict[str, Any]:
    """Field values as the domain has them, from what a column or an event holds."""
    return {name: READ[name](value) if name in READ else value for name, value in values.items()}


def row_of(record: Record, owner_id: str) -> dict[str, Any]:
    """The row that holds a memory."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    values["evidence"] = [asdict(turn) for turn in record.evidence]
    values["tags"] = list(record.tags)
    values["metadata"] = dict(record.metadata)
    return {"owner_id": owner_id, "fingerprint": fingerprint(record.content), **values}


def turn_of(row: Row[Any]) -> Turn:
    """The turn that a row holds."""
    turn = record_of(Kind.TURN, row)
    assert isinstance(turn, Turn)
    return turn


def session_of(row: Row[Any]) -> Session:
    """The conversation that a row holds."""
    values = {field.name: getattr(row, field.name) for field in fields(Session)}
    return Session(**{**values, "status": SessionStatus(row.status)})


def session_row(session: Session, owner_id: str) -> dict[str, Any]:
    """The row that holds a conversation."""
    values = {field.name: getattr(session, field.name) for field in fields(session)}
    return {"owner_id": owner_id, **values, "metadata": dict(session.metadata)}


def event_of(row: Row[Any], changes: tuple[Change, ...]) -> Event:
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
    )


def state_of(row: Row[Any]) -> State:
    """The past state that a row holds."""
    return State(Status(row.status), row.valid_until, row.since, row.until)


def link_of(row: Row[Any]) -> Link:
    """The link that a row holds."""
    return Link(row.source, row.target, Relation(row.relation), row.created_at)
