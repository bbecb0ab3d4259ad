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
    Permanence,
    Record,
    Relation,
    Rule,
    Source,
    State,
    Status,
)

RECORDS: Mapping[Kind, type[Record]] = {
    Kind.FACT: Fact,
    Kind.RULE: Rule,
    Kind.EPISODE: Episode,
}
READ: Mapping[str, Callable[[Any], Any]] = {
    "status": Status,
    "permanence": Permanence,
    "source": Source,
    "maturity": Maturity,
    "backlog": Backlog,
    "tags": tuple,
    "evidence": lambda turns: tuple(Evidence(**turn) for turn in turns),
}


def record_of(kind: Kind, row: Row[Any]) -> Record:
    """The memory that a row holds."""
    values = row._mapping
    wanted = (field.name for field in fields(RECORDS[kind]))
    return RECORDS[kind](**read({name: values[name] for name in wanted}))


def read(values: Mapping[str, Any]) -> dict[str, Any]:
    """Field values as the domain has them, from what a column or an event holds."""
    return {name: READ.get(name, _same)(value) for name, value in values.items()}


def row_of(record: Record, owner_id: str) -> dict[str, Any]:
    """The row that holds a memory."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    values["evidence"] = [asdict(turn) for turn in record.evidence]
    values["tags"] = list(record.tags)
    values["metadata"] = dict(record.metadata)
    return {"owner_id": owner_id, "fingerprint": fingerprint(record.content), **values}


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


def _same(value: Any) -> Any:
    return value
