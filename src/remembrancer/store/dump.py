"""Dumps and loads all rows of a person, a team or the system, in a form that both engines share.

Moments are ISO text in UTC, bytes and vectors are base64, numbers in JSON have one form, and rows
are ordered by their keys by code point. Two stores with the same memories give the same rows.
"""

from __future__ import annotations

import base64
import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from itertools import groupby, islice
from typing import Any, NamedTuple

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    LargeBinary,
    Table,
    Text,
    bindparam,
    func,
    select,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError

from remembrancer.errors import BadBackup, Conflict
from remembrancer.store import tables
from remembrancer.store.columns import JsonValue, Moment, Vector, to_utc_iso
from remembrancer.store.contract import DumpRow
from remembrancer.store.system_tables import insert_missing
from remembrancer.store.team import SqlTeamWriter
from remembrancer.types import Json, Owner, Tenant

_Converter = Callable[[Any], Any]

BATCH_SIZE = 500

MIN_EXPONENT_FLOAT = 1e16
"""From here on Python writes a float with an exponent, and jsonb returns it as an integer."""

INTEGER_BOUND = 2**31
MAX_VECTOR_DIMENSIONS = 16_000
"""The limit of pgvector."""

EXCLUDED_TABLES = (tables.leases, tables.erasures, tables.answers, tables.team_activity)
"""Leases, erasures, stored responses and counts of proposals belong to one installation and are not
dumped.
"""

PERSONAL_TABLES = tuple(one for one in tables.personal.sorted_tables if one not in EXCLUDED_TABLES)
TEAM_TABLES = tuple(
    one
    for one in tables.team.sorted_tables
    if one not in EXCLUDED_TABLES and one is not tables.teams
)
SYSTEM_TABLES = tuple(one for one in tables.system.sorted_tables if one not in EXCLUDED_TABLES)
"""The tables that are dumped, parents before children. A team's version counter is not dumped."""

EXCLUDED_COLUMNS = {"embeddings": {"crowded"}, "owners": {"documents_removed"}}
"""Columns that each store computes itself: vectors outside memory, and the count of removals."""


def personal_rows(connection: Connection, owner: Owner) -> Iterator[DumpRow]:
    """All rows of one owner; the transaction must see a single moment."""
    for table in PERSONAL_TABLES:
        yield from _dump_table(connection, table, table.c.owner_id == owner.id)


def team_rows(connection: Connection, tenant: Tenant) -> Iterator[DumpRow]:
    """All rows of one team, contributions and their key included; needs a snapshot too."""
    for table in TEAM_TABLES:
        yield from _dump_table(connection, table, table.c.tenant_id == tenant.id)


def system_rows(connection: Connection) -> Iterator[DumpRow]:
    """The rows of tenants, users, settings and keys."""
    for table in SYSTEM_TABLES:
        yield from _dump_table(connection, table)


def clear_person(connection: Connection, owner: Owner, *, replace: bool) -> int:
    """Delete an owner's rows if `replace` is set; returns the count of removals to start from.

    The caller's transaction must be the only writer. Raises Conflict if there are memories.
    """
    if not replace and _has_memories(connection, owner):
        raise Conflict(f"{owner.user} of {owner.tenant} has other memories here.")
    removed = _next_removal_count(connection, owner)
    for table in (tables.answers, *reversed(PERSONAL_TABLES)):
        connection.execute(table.delete().where(table.c.owner_id == owner.id))
    return removed


def load_person(
    connection: Connection,
    owner: Owner,
    rows: Iterable[DumpRow],
    *,
    max_vectors: int = sys.maxsize,
    removed: int = 0,
) -> None:
    """Insert all rows of an owner who has none, in the caller's transaction."""
    own: dict[str, Any] = {"owner_id": owner.id}
    with _translate_data_errors():
        for table, group in _group_by_table(PERSONAL_TABLES, rows):
            values = (own | decode_row(table, columns) for _, columns in group)
            if table is tables.owners:
                values = (row | {"documents_removed": removed} for row in values)
            if table is tables.embeddings:
                values = (row | {"crowded": int(row["number"]) > max_vectors} for row in values)
            _insert_rows(connection, table, values)


def load_team(
    connection: Connection, tenant: Tenant, rows: Iterable[DumpRow], *, replace: bool
) -> int:
    """Insert all rows of a team, replacing its own with `replace`; returns the number of facts.

    The caller's transaction must be the only writer. Raises Conflict if there are facts.
    """
    if not replace and count_team_facts(connection, tenant):
        raise Conflict(f"The team of {tenant.name} has other memories here.")
    for table in reversed(TEAM_TABLES):
        connection.execute(table.delete().where(table.c.tenant_id == tenant.id))
    own: dict[str, Any] = {"tenant_id": tenant.id}
    with _translate_data_errors():
        for table, group in _group_by_table(TEAM_TABLES, rows):
            _insert_rows(
                connection, table, (own | decode_row(table, columns) for _, columns in group)
            )
    SqlTeamWriter(connection, tenant.id).bump_version()
    return count_team_facts(connection, tenant)


def count_team_facts(connection: Connection, tenant: Tenant) -> int:
    table = tables.team_facts
    query = select(func.count()).where(table.c.tenant_id == tenant.id)
    return int(connection.execute(query).scalar_one())


def load_system(connection: Connection, rows: Iterable[DumpRow]) -> None:
    """Insert the rows that are missing; existing ones do not change."""
    with _translate_data_errors():
        for table, group in _group_by_table(SYSTEM_TABLES, rows):
            values = (decode_row(table, columns) for _, columns in group)
            while batch := list(islice(values, BATCH_SIZE)):
                insert_missing(connection, table, *batch)


def check_row(known: Iterable[Table], row: DumpRow) -> None:
    """Raise BadBackup for a row that none of these tables can hold."""
    name, columns = row
    decode_row(_find_table(known, name), columns)


def decode_row(table: Table, columns: Mapping[str, Json]) -> dict[str, Any]:
    """The row's values as the database takes them."""
    codecs = _codecs(table)
    if columns.keys() != {one.name for one in codecs}:
        raise BadBackup(f"A row of {table.name} in the backup has the wrong columns.")
    try:
        return {one.name: one.from_dump(columns[one.name]) for one in codecs}
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise BadBackup(f"A row of {table.name} in the backup has an invalid value.") from error


def _dump_table(
    connection: Connection, table: Table, *which: ColumnElement[bool]
) -> Iterator[DumpRow]:
    codecs = _codecs(table)
    query = (
        select(*_dumped_columns(table))
        .where(*which)
        .order_by(*_primary_key_order(connection, table))
    )
    for row in connection.execute(query, execution_options={"yield_per": BATCH_SIZE}):
        pairs = zip(codecs, row, strict=True)
        yield table.name, {one.name: one.to_dump(value) for one, value in pairs}


def _dumped_columns(table: Table) -> list[Column[Any]]:
    """The dumped columns; the owner or tenant is stated once, by the archive."""
    left_out = EXCLUDED_COLUMNS.get(table.name, set())
    if table not in SYSTEM_TABLES:
        left_out = left_out | {"owner_id", "tenant_id"}
    return [one for one in table.columns if one.name not in left_out]


def _primary_key_order(connection: Connection, table: Table) -> list[ColumnElement[Any]]:
    """The primary key, with text ordered by code point on both engines."""
    order = "BINARY" if connection.dialect.name == "sqlite" else "C"
    return [
        column.collate(order) if isinstance(column.type, Text) else column
        for column in table.primary_key.columns
    ]


def _has_memories(connection: Connection, owner: Owner) -> bool:
    """True if an owner has rows beyond their registration."""
    return any(
        connection.execute(select(1).where(table.c.owner_id == owner.id).limit(1)).first()
        for table in PERSONAL_TABLES
        if table is not tables.owners
    )


def _next_removal_count(connection: Connection, owner: Owner) -> int:
    """A count of removals that no index has seen, so that all indexes are rebuilt."""
    table = tables.owners
    query = select(table.c.documents_removed).where(table.c.owner_id == owner.id)
    known = connection.execute(query).scalar()
    return 0 if known is None else int(known) + 1


def _group_by_table(
    known: Iterable[Table], rows: Iterable[DumpRow]
) -> Iterator[tuple[Table, Iterator[DumpRow]]]:
    for name, group in groupby(rows, key=lambda row: row[0]):
        yield _find_table(known, name), group


def _find_table(known: Iterable[Table], name: str) -> Table:
    for table in known:
        if table.name == name:
            return table
    raise BadBackup("The backup has rows of an unknown table.")


def _insert_rows(connection: Connection, table: Table, rows: Iterator[dict[str, Any]]) -> None:
    """Insert rows; a reference to a later row of the same table is set afterwards."""
    deferred: list[dict[str, str]] = []
    while batch := list(islice(rows, BATCH_SIZE)):
        for row in batch:
            if (row.get("supersedes") or "") > row.get("id", ""):
                deferred.append(
                    {"of": row["owner_id"], "later": row["id"], "to": row["supersedes"]}
                )
                row["supersedes"] = None
        connection.execute(table.insert(), batch)
    if deferred:
        where = (table.c.owner_id == bindparam("of"), table.c.id == bindparam("later"))
        connection.execute(update(table).where(*where).values(supersedes=bindparam("to")), deferred)


@contextlib.contextmanager
def _translate_data_errors() -> Iterator[None]:
    """Translate constraint and range errors into BadBackup."""
    try:
        yield
    except (IntegrityError, DataError) as error:
        raise BadBackup("The rows of the backup are inconsistent.") from error


@cache
def _codecs(table: Table) -> list[_Codec]:
    return [
        _Codec(one.name, bool(one.nullable), *_find_codec(one)) for one in _dumped_columns(table)
    ]


def _find_codec(column: Column[Any]) -> tuple[_Converter, _Converter]:
    for kind, pair in CODECS_BY_TYPE.items():
        if isinstance(column.type, kind):
            return pair
    raise AssertionError(f"{column} has a type that cannot be dumped")


class _Codec(NamedTuple):
    """Converts one column's values to and from a dump."""

    name: str
    nullable: bool
    encode: _Converter
    decode: _Converter

    def to_dump(self, value: Any) -> Json:
        return None if value is None else self.encode(value)

    def from_dump(self, value: Json) -> Any:
        return None if value is None and self.nullable else self.decode(value)


def _format_base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _normalise_json(value: Any) -> Json:
    """JSON with numbers as jsonb returns them."""
    match value:
        case dict():
            return {name: _normalise_json(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_normalise_json(inner) for inner in value]
        case float() if abs(value) >= MIN_EXPONENT_FLOAT:
            return int(Decimal(repr(value)))
        case float():
            return value + 0.0
        case _:
            return value  # type: ignore[no-any-return]


def _parse_moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if to_utc_iso(moment) != value:
        raise ValueError(value)
    return moment


def _parse_vector(value: Any) -> Any:
    import numpy as np

    vector = np.frombuffer(_parse_base64(value), dtype="<f4")
    if not 0 < vector.size <= MAX_VECTOR_DIMENSIONS or not np.isfinite(vector).all():
        raise ValueError("not a vector")
    return vector


def _parse_base64(value: Any) -> bytes:
    return base64.b64decode(value.encode("ascii"), validate=True)


def _check_json(value: Any) -> Any:
    if value is None:
        raise TypeError("missing")
    return value


def _check_float(value: Any) -> float:
    if not isinstance(value, float) or not math.isfinite(value):
        raise TypeError("not a float")
    return value


def _check_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _check_integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not an integer")
    if not -INTEGER_BOUND <= value < INTEGER_BOUND:
        raise OverflowError("too large")
    return value


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    value.encode()
    return value


def _identity(value: Any) -> Any:
    return value


CODECS_BY_TYPE: dict[type[Any], tuple[_Converter, _Converter]] = {
    Moment: (to_utc_iso, _parse_moment),
    Vector: (lambda vector: _format_base64(vector.astype("<f4").tobytes()), _parse_vector),
    LargeBinary: (_format_base64, _parse_base64),
    JsonValue: (_normalise_json, _check_json),
    Boolean: (bool, _check_boolean),
    Float: (lambda number: float(number) + 0.0, _check_float),  # without negative zero
    Integer: (int, _check_integer),
    Text: (_identity, _check_text),
}
"""The encoder and decoder of each column type."""
