"""Column types that behave the same on both engines: moments, JSON, vectors and terms."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    DateTime,
    Dialect,
    Float,
    Integer,
    LargeBinary,
    String,
    Text,
    cast,
    func,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# PostgreSQL's types are imported where they are used, because that takes long.


class JsonValue(TypeDecorator[Any]):
    """JSON with None as SQL NULL; jsonb on PostgreSQL."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(JSON(none_as_null=True))
        from sqlalchemy.dialects.postgresql import JSONB

        return dialect.type_descriptor(JSONB(none_as_null=True))


class Terms(TypeDecorator[str]):
    """The terms of a text: separated by spaces on SQLite, a tsvector on PostgreSQL."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Text())
        from sqlalchemy.dialects.postgresql import TSVECTOR

        return dialect.type_descriptor(TSVECTOR())


class Moment(TypeDecorator[datetime]):
    """A moment in UTC: timestamptz on PostgreSQL, sortable ISO text of fixed width on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String())
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        return to_utc_iso(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        # A plain function for speed: every memory has seven moments.
        return _parse_moment if dialect.name == "sqlite" else _to_utc


class _PgVector(UserDefinedType[Any]):
    """pgvector's column type without a fixed dimension; each row names its model."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "VECTOR"

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str | None]:
        return lambda value: None if value is None else vector_literal(value)


class Vector(TypeDecorator["NDArray[np.float32]"]):
    """An embedding: a pgvector value on PostgreSQL, little-endian float32 bytes on SQLite."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(LargeBinary() if dialect.name == "sqlite" else _PgVector())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        return value.astype("<f4").tobytes()

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        import numpy as np

        if isinstance(value, str):
            return np.fromstring(value.strip("[]"), dtype=np.float32, sep=",")
        return None if value is None else np.frombuffer(value, dtype="<f4")


ROUND_DOWN_OFFSET = 0.499999
"""Subtracted before rounding, so that both engines round down."""


class days_between(FunctionElement[float]):  # noqa: N801 - it reads as a function of SQL
    """SQL expression for the days between two moments, with a fraction."""

    type = Float()
    inherit_cache = True


@compiles(days_between)
def _days_between(element: days_between, compiler: Any, **options: Any) -> str:
    first, second = (compiler.process(one, **options) for one in element.clauses)
    return f"(extract(epoch FROM {second} - {first}) / 86400)"


@compiles(days_between, "sqlite")
def _days_between_on_sqlite(element: days_between, compiler: Any, **options: Any) -> str:
    first, second = (compiler.process(one, **options) for one in element.clauses)
    return f"(julianday({second}) - julianday({first}))"


def periods_since(
    moment: ColumnElement[Any], now: ColumnElement[Any], days: int
) -> ColumnElement[int]:
    """SQL expression for the number of whole periods of `days` since a moment."""
    return cast(func.round(days_between(moment, now) / days - ROUND_DOWN_OFFSET), Integer)


class json_moment(FunctionElement[datetime]):  # noqa: N801
    """SQL expression for the moment in a field of a JSON column, as an event stores it."""

    type = Moment()
    inherit_cache = True


@compiles(json_moment)
def _json_moment(element: json_moment, compiler: Any, **options: Any) -> str:
    column, name = (compiler.process(one, **options) for one in element.clauses)
    return f"CAST({column} ->> {name} AS TIMESTAMP WITH TIME ZONE)"


@compiles(json_moment, "sqlite")
def _json_moment_on_sqlite(element: json_moment, compiler: Any, **options: Any) -> str:
    # Sorts like the text of a moment column: the parts before the zone decide.
    column, name = (compiler.process(one, **options) for one in element.clauses)
    return f"json_extract({column}, '$.' || {name})"


class has_json_field(FunctionElement[bool]):  # noqa: N801
    """SQL condition that a JSON column has a field, be it null."""

    type = Boolean()
    inherit_cache = True


@compiles(has_json_field)
def _has_json_field(element: has_json_field, compiler: Any, **options: Any) -> str:
    return f"jsonb_exists({compiler.process(element.clauses, **options)})"


@compiles(has_json_field, "sqlite")
def _has_json_field_on_sqlite(element: has_json_field, compiler: Any, **options: Any) -> str:
    column, name = (compiler.process(one, **options) for one in element.clauses)
    return f"(json_type({column}, '$.' || {name}) IS NOT NULL)"


class larger_of(FunctionElement[Any]):  # noqa: N801 - it reads as a function of SQL
    """SQL expression for the larger of two values; neither can be NULL."""

    inherit_cache = True


@compiles(larger_of)
def _larger_of(element: larger_of, compiler: Any, **options: Any) -> str:
    return f"greatest({compiler.process(element.clauses, **options)})"


@compiles(larger_of, "sqlite")
def _larger_of_on_sqlite(element: larger_of, compiler: Any, **options: Any) -> str:
    return f"max({compiler.process(element.clauses, **options)})"


def _parse_moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _to_utc(value: datetime | None) -> datetime | None:
    return value if value is None or value.tzinfo is UTC else value.astimezone(UTC)


def to_utc_iso(moment: datetime) -> str:
    """`2026-05-03T08:30:00.000000Z`: always UTC, always the same width."""
    # strftime would write the year 455 with three digits.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def vector_literal(vector: NDArray[np.float32]) -> str:
    """The vector in pgvector's text format."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def unpack_vector(packed: bytes) -> NDArray[np.float32]:
    """Decode pgvector's binary format: two 16-bit numbers, then big-endian floats."""
    import numpy as np

    return np.frombuffer(packed, dtype=">f4", offset=4).astype(np.float32)
