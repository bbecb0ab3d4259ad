"""Converts between database rows and domain values."""

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
from remembrancer.store.statements import field_values, value_from_row
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
AUTHOR_KEY = ".author"
"""The key in the column `metadata` under which the author is stored; no metadata has it."""


def _hide_author(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    if AUTHOR_KEY not in metadata:
        return metadata
    return {name: value for name, value in metadata.items() if name != AUTHOR_KEY}


FIELD_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    # A dict lookup takes a fifth of the time of calling the enum class.
    **{name: {str(one): one for one in enum}.__getitem__ for name, enum in ENUMS.items()},
    # A damaged file can hold a text or bytes in their place, which nobody should calculate with.
    "importance": float,
    "confidence": float,
    "tags": tuple,
    "evidence": lambda turns: tuple(Evidence(**turn) for turn in turns),
    "author": lambda metadata: metadata.get(AUTHOR_KEY),
    "metadata": _hide_author,
}
FIELD_COLUMNS = {"author": "metadata"}
"""The fields that are stored in the column of another one."""


@cache
def _field_converters(
    kind: Kind, dialect: Dialect | None
) -> list[tuple[int, str, Callable[[Any], Any] | None]]:
    """The position and the converter of each field of a kind.

    With a dialect, rows come from the driver and need the dialect's converters too.
    """
    table = tables.MEMORY_TABLES[kind]
    places = {name: place for place, name in enumerate(table.columns.keys())}
    converts = build_result_processors(table, dialect) if dialect else {}
    columns = {
        one.name: FIELD_COLUMNS.get(one.name, one.name) for one in fields(RECORD_TYPES[kind])
    }
    return [
        # Field names, not column names: only identifiers are fast as keywords.
        (places[column], name, _compose(converts.get(column), FIELD_CONVERTERS.get(name)))
        for name, column in columns.items()
    ]


def _compose(
    first: Callable[[Any], Any] | None, then: Callable[[Any], Any] | None
) -> Callable[[Any], Any] | None:
    if first is None or then is None:
        return first or then
    return lambda value: then(first(value))


def record_from_row(kind: Kind, row: Sequence[Any], dialect: Dialect | None = None) -> Record:
    """The memory in a row of all columns; with a dialect, a row as the driver returned it."""
    return RECORD_TYPES[kind](
        **{
            name: reads(row[place]) if reads else row[place]
            for place, name, reads in _field_converters(kind, dialect)
        }
    )


def convert_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Field values of the domain from values of a column or an event."""
    return {
        name: FIELD_CONVERTERS[name](value) if name in FIELD_CONVERTERS else value
        for name, value in values.items()
    }


def record_to_row(record: Record) -> dict[str, Any]:
    values = field_values(record)
    author = values.pop("author")
    metadata = dict(_hide_author(record.metadata))
    return values | {
        "fingerprint": fingerprint(record.content),
        "evidence": [asdict(turn) for turn in record.evidence],
        "tags": list(record.tags),
        "metadata": metadata | ({AUTHOR_KEY: author} if author else {}),
    }


def turn_from_row(row: Row[Any]) -> Turn:
    turn = record_from_row(Kind.TURN, row)
    assert isinstance(turn, Turn)
    return turn


def session_from_row(row: Row[Any]) -> Session:
    return value_from_row(Session, row, status=SessionStatus(row.status))


def session_to_row(session: Session) -> dict[str, Any]:
    return field_values(session) | {"metadata": dict(session.metadata)}


def rejection_from_row(row: Row[Any]) -> Rejection:
    return value_from_row(Rejection, row, turns=tuple(row.turns))


def event_from_row(row: Row[Any], changes: tuple[Change, ...]) -> Event:
    return value_from_row(Event, row, action=Action(row.action), changes=changes)


def state_from_row(row: Row[Any]) -> PastState:
    return PastState(Status(row.status), row.valid_until, row.since, row.until)


def application_from_row(row: Row[Any]) -> RuleApplication:
    return value_from_row(RuleApplication, row, verdict=Verdict(row.verdict))


def link_from_row(row: Row[Any]) -> Link:
    return Link(row.source, row.target, Relation(row.relation), row.created_at)
