"""What is left of deleted rows in PostgreSQL: tables written anew, and a look at their bytes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection, func, select, text

from remembrancer.store import pg_roles, tables
from remembrancer.store.contract import Searched, Traces
from remembrancer.store.trace_scan import PIECE, counted, finder
from remembrancer.types import Owner

PATIENCE = 30.0
"""For how many seconds those are waited for who began to read before the rows were deleted."""

TABLES = tuple(
    name for family in tables.FAMILIES.values() for name in sorted(one for one in family.tables)
)

FILES = text(
    """
    WITH mine AS (
        SELECT oid, reltoastrelid FROM pg_class
        WHERE relname = ANY(CAST(:tables AS text[]))
        AND relnamespace = current_schema()::regnamespace
    ), parts AS (
        SELECT oid FROM mine UNION SELECT reltoastrelid FROM mine
        UNION SELECT indexrelid FROM pg_index
        WHERE indrelid IN (SELECT oid FROM mine UNION SELECT reltoastrelid FROM mine)
    )
    SELECT pg_relation_filepath(oid) FROM parts WHERE pg_relation_size(oid) > 0 ORDER BY 1
    """
)

MAY_REWRITE = text(
    "SELECT bool_and(has_table_privilege(name, 'MAINTAIN')) "
    "FROM unnest(CAST(:tables AS text[])) AS name"
)


def rewrite(connection: Connection) -> tuple[str, ...]:
    """Write every table anew, which leaves no byte of deleted rows; what kept it from that.

    The connection must commit each statement by itself. Whoever uses a table waits for it.
    """
    ours = {"tables": list(TABLES)}
    if not (_knows_maintain(connection) and connection.execute(MAY_REWRITE, ours).scalar_one()):
        return (f"{pg_roles.ROLE} may not rewrite tables: let their owner VACUUM FULL them.",)
    waiting = _readers_from_before(connection)
    for table in TABLES:
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
    if waiting:
        return ("Someone has been reading since before, so deleted rows may have been kept.",)
    return ()


def search_rows(connection: Connection, owner: Owner) -> Searched:
    """Count the rows of someone."""
    counts = [
        connection.execute(select(func.count()).where(table.c.owner_id == owner.id)).scalar_one()
        for table in (*tables.personal.sorted_tables, tables.users)
    ]
    return Searched("rows", 0, sum(counts))


def search_files(connection: Connection, traces: Traces) -> list[Searched]:
    """Look for ids that only someone has in the server's files, if the login may read them.

    Words are not looked for: in tables that many share, others may have used the same.
    """
    connection.exec_driver_sql("SET LOCAL ROLE NONE")
    reading = "pg_read_binary_file(text, bigint, bigint, boolean)"
    allowed = text("SELECT has_function_privilege(:reading, 'EXECUTE')")
    if not connection.execute(allowed, {"reading": reading}).scalar_one():
        return []
    find = finder(traces.ids)
    sizes: Counter[str] = Counter()
    found: set[bytes] = set()
    for path in connection.execute(FILES, {"tables": list(TABLES)}).scalars().all():
        found |= find(counted(_pieces(connection, path), sizes, path))
    return [Searched("tables and indexes", sizes.total(), len(found))]


def _knows_maintain(connection: Connection) -> bool:
    version = connection.execute(text("SHOW server_version_num")).scalar_one()
    return int(version) >= 170_000


def _readers_from_before(connection: Connection) -> bool:
    """Whether someone reads who may see rows that are deleted by now, after waiting for them."""
    horizon = connection.execute(text("SELECT pg_current_xact_id()::text")).scalar_one()
    older = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND age(backend_xmin) > age(:horizon ::xid)"
    )
    until = time.monotonic() + PATIENCE
    while connection.execute(older, {"horizon": horizon}).scalar_one():
        if time.monotonic() > until:
            return True
        time.sleep(0.1)
    return False


def _pieces(connection: Connection, path: str) -> Iterator[bytes]:
    """A file of the server, with those that it goes on in after a gigabyte."""
    number, at = 0, 0
    query = text("SELECT pg_read_binary_file(:path, :at, :length, true)")
    while True:
        name = path if number == 0 else f"{path}.{number}"
        given = {"path": name, "at": at, "length": PIECE}
        piece = connection.execute(query, given).scalar_one()
        if piece:
            yield bytes(piece)
            at += len(piece)
        elif at:
            number, at = number + 1, 0
        else:
            return
