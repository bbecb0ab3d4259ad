"""Statements that every recall runs: compiled once and executed by the driver directly.

SQLAlchemy spends twice as long on such a statement as SQLite does, on looking it up and on wrapping
its parameters and rows. The measurements are in docs/decisions/prepared-statements.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, Dialect, Float, Select, Table
from sqlalchemy.types import TypeEngine

ResultProcessor = Callable[[Any], Any] | None


class PreparedStatement:
    """A compiled statement; parameters without a default are passed on each execution."""

    def __init__(self, statement: Select[Any], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
        self._text = str(compiled)
        self._order: list[str] | None = compiled.positiontup
        self._values: dict[str, object] = dict(compiled.params)
        self._binds = {
            name: bind
            for name, parameter in compiled.binds.items()
            if (bind := _impl(parameter.type, dialect).bind_processor(dialect)) is not None
        }

    def fetch_rows(
        self, connection: Connection, parameters: Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        """The rows as the driver returns them."""
        values = {**self._values, **parameters}
        for name, bind in self._binds.items():
            if name in values:
                values[name] = bind(values[name])
        raw: Any = connection.connection.driver_connection
        arguments = values if self._order is None else [values[name] for name in self._order]
        rows: list[tuple[Any, ...]] = raw.execute(self._text, arguments).fetchall()
        return rows


def build_result_processors(table: Table, dialect: Dialect) -> dict[str, ResultProcessor]:
    """The converters from the driver's values to ours, by column; floats need none."""
    return {
        column.name: _impl(column.type, dialect).result_processor(dialect, None)
        for column in table.columns
        if not isinstance(column.type, Float)
    }


def _impl(kind: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return kind.dialect_impl(dialect)
