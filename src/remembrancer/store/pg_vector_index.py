"""HNSW indexes over the vectors that are not kept in memory, one for each dimension in use.

The first search beyond memory has an index built in the background; until it is there, the
database reads and sorts.
"""

from __future__ import annotations

import threading
from typing import Any

import psycopg
from sqlalchemy import URL, Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

MAX_VECTOR_DIMENSIONS = 2000
MAX_HALFVEC_DIMENSIONS = 4000
"""pgvector's limits of what an HNSW index holds; half the precision holds twice as many."""

LOCK_NUMBER = 7_310_010
CLOSE_TIMEOUT_SECONDS = 10.0


def name_index(dimensions: int) -> str:
    return f"ix_embeddings_crowded_{dimensions}"


def column_expression(dimensions: int) -> str | None:
    """The indexed expression; None if no index holds as many dimensions."""
    if dimensions > MAX_HALFVEC_DIMENSIONS:
        return None
    kind = "vector" if dimensions <= MAX_VECTOR_DIMENSIONS else "halfvec"
    return f"(embeddings.vector::{kind}({dimensions}))"


def index_condition(dimensions: int) -> str:
    return f"vector_dims(embeddings.vector) = {dimensions}"


class VectorIndexBuilder:
    """Builds missing indexes as the owner of the tables."""

    def __init__(self, admin_url: URL) -> None:
        self._admin_url = admin_url
        self._lock = threading.Lock()
        self._seen: set[int] = set()
        self._threads: list[threading.Thread] = []
        self._connection: psycopg.Connection[Any] | None = None

    def ensure(self, dimensions: int) -> None:
        """Build the index for vectors of this length unless it is there; returns at once."""
        with self._lock:
            if dimensions in self._seen or column_expression(dimensions) is None:
                return
            self._seen.add(dimensions)
            thread = threading.Thread(
                target=self._try_build, args=(dimensions,), name="remembrancer-index", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def wait(self) -> None:
        """Wait for the indexes that are being built."""
        for thread in list(self._threads):
            thread.join()

    def close(self) -> None:
        """Cancel what is being built; another process or the next search builds it anew."""
        if (connection := self._connection) is not None:
            connection.cancel()
        for thread in self._threads:
            thread.join(CLOSE_TIMEOUT_SECONDS)

    def _try_build(self, dimensions: int) -> None:
        """Build it, unless the login may not or the server is gone: search is exact without it."""
        engine = create_engine(self._admin_url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                self._connection = connection.connection.driver_connection
                _build(connection, dimensions)
        except DBAPIError:
            pass
        finally:
            self._connection = None
            engine.dispose()


def _build(connection: Connection, dimensions: int) -> None:
    """One process at a time; an index that was left unfinished is built anew."""
    if not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({LOCK_NUMBER})").scalar():
        return
    name = name_index(dimensions)
    state = connection.exec_driver_sql(
        f"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{name}')"
    ).scalar()
    if state:
        return
    if state is False:
        connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    expression = str(column_expression(dimensions)).replace("embeddings.", "")
    operators = "vector_cosine_ops" if "::vector(" in expression else "halfvec_cosine_ops"
    condition = index_condition(dimensions).replace("embeddings.", "")
    connection.exec_driver_sql(
        f"CREATE INDEX CONCURRENTLY {name} ON embeddings "
        f"USING hnsw ({expression} {operators}) WHERE {condition} AND crowded"
    )
