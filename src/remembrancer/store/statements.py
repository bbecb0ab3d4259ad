"""Runs statements over the rows of one owner or one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, func, select, update

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Value = TypeVar("Value", bound=DataclassInstance)


class BoundConnection:
    """A connection whose statements name one owner or tenant on every table."""

    key_column: ClassVar[str]

    def __init__(self, connection: Connection, key: str) -> None:
        self._connection = connection
        self._key = key

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c[self.key_column] == self._key

    def _insert_rows(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        own: dict[str, object] = {self.key_column: self._key}
        if rows:
            self._connection.execute(table.insert(), [own | dict(row) for row in rows])

    def _update(self, table: Table, *which: ColumnElement[bool], **values: object) -> int:
        statement = update(table).where(self._own(table), *which).values(values)
        return self._connection.execute(statement).rowcount

    def _delete(self, table: Table, *which: ColumnElement[bool]) -> int:
        return self._connection.execute(table.delete().where(self._own(table), *which)).rowcount

    def _count(self, table: Table, *which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(self._own(table), *which)
        return int(self._connection.execute(query).scalar_one())


def value_from_row(kind: type[Value], row: Any, /, **converted: object) -> Value:
    """A domain value from the columns named as its fields, except for those converted already."""
    names = [field.name for field in fields(kind) if field.name not in converted]
    return kind(**{name: getattr(row, name) for name in names}, **converted)


def field_values(value: DataclassInstance) -> dict[str, Any]:
    """The fields of a domain value; unlike `asdict`, it does not copy what they hold."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
