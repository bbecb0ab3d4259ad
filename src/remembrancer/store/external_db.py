"""Reads whole tables from other products' databases, without writing to them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, column, create_engine, inspect, select, table
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from remembrancer.errors import InvalidInput
from remembrancer.store.driver import require_driver

SQLITE_HEADER = b"SQLite format 3\0"
POSTGRES_SCHEMES = ("postgresql://", "postgres://")
BATCH_SIZE = 1000


def is_database_url(place: str) -> bool:
    """True if a place is a database URL, not a path."""
    return place.startswith(POSTGRES_SCHEMES)


def list_tables(place: str | Path) -> set[str]:
    with _open_engine(place) as engine:
        return set(inspect(engine).get_table_names())


def list_columns(place: str | Path, name: str) -> set[str]:
    with _open_engine(place) as engine:
        inspector = inspect(engine)
        exists = name in inspector.get_table_names()
        return {one["name"] for one in inspector.get_columns(name)} if exists else set()


def read_rows(
    place: str | Path, name: str, columns: Sequence[str], order: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, ordered by these columns."""
    with _open_engine(place) as engine:
        # Views are refused: they can run arbitrary queries.
        if name not in inspect(engine).get_table_names():
            raise InvalidInput(f"The database has no table {name!r}.")
        selected = table(name, *map(column, {*columns, *order}))
        query = select(*(selected.c[one] for one in columns))
        query = query.order_by(*(selected.c[one] for one in order))
        with engine.connect() as connection:
            found = connection.execution_options(yield_per=BATCH_SIZE).execute(query)
            for row in found:
                yield tuple(row)


@contextlib.contextmanager
def _open_engine(place: str | Path) -> Iterator[Engine]:
    engine = (
        _postgres_engine(str(place)) if is_database_url(str(place)) else _sqlite_engine(Path(place))
    )
    try:
        yield engine
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise InvalidInput(f"The database cannot be read: {reason}.") from error
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise InvalidInput(f"The database cannot be read: {error}.") from error
    finally:
        engine.dispose()


def _sqlite_engine(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
        # Functions that the file's schema calls are not trusted.
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=NullPool)


def _postgres_engine(address: str) -> Engine:
    require_driver()
    _, _, rest = address.partition("://")
    options = "-c default_transaction_read_only=on"
    return create_engine(
        f"postgresql+psycopg://{rest}", poolclass=NullPool, connect_args={"options": options}
    )
