"""What is left of deleted rows in PostgreSQL: tables written anew, and a look at their bytes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection, func, select, text

from remembrancer.store import pg_roles, tables
from remembrancer.store.contract import ScanResult, TraceTerms
from remembrancer.store.trace_scan import CHUNK_BYTES, build_finder, count_bytes
from remembrancer.types import Owner

READER_TIMEOUT_SECONDS = 30.0
"""For how many seconds those are waited for who began to read before the rows were deleted."""

TABLES = tuple(
    name for family in tables.FAMILIES.values() for name in sorted(one for one in family.tables)
)

RELATION_FILES_QUERY = text(
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

CAN_REWRITE_QUERY = text(
    "SELECT bool_and(has_table_privilege(name, 'MAINTAIN')) "
    "FROM unnest(CAST(:tables AS text[])) AS name"
)


def rewrite_tables(connection: Connection) -> tuple[str, ...]:
    """Write every table anew, which leaves no byte of deleted rows; what kept it from that.

    The connection must commit each statement by itself. Whoever uses a table waits for it.
    """
    ours = {"tables": list(TABLES)}
    if not (
        _supports_maintain(connection) and connection.execute(CAN_REWRITE_QUERY, ours).scalar_one()
    ):
        return (f"{pg_roles.APP_ROLE} may not rewrite tables: let their owner VACUUM FULL them.",)
    waiting = _has_older_readers(connection)
    for table in TABLES:
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
    if waiting:
        return ("Someone has been reading since before, so deleted rows may have been kept.",)
    return ()


def scan_rows(connection: Connection, owner: Owner) -> ScanResult:
    """Count the rows of someone."""
    counts = [
        connection.execute(select(func.count()).where(table.c.owner_id == owner.id)).scalar_one()
        for table in (*tables.personal.sorted_tables, tables.users)
    ]
    return ScanResult("rows", 0, sum(counts))


def scan_server_files(connection: Connection, traces: TraceTerms) -> list[ScanResult]:
    """Look for ids that only someone has in the server's files, if the login may read them.

    Words are not looked for: in tables that many share, others may have used the same.
    """
    connection.exec_driver_sql("SET LOCAL ROLE NONE")
    reading = "pg_read_binary_file(text, bigint, bigint, boolean)"
    allowed = text("SELECT has_function_privilege(:reading, 'EXECUTE')")
    if not connection.execute(allowed, {"reading": reading}).scalar_one():
        return []
    find = build_finder(traces.ids)
    sizes: Counter[str] = Counter()
    found: set[bytes] = set()
    for path in connection.execute(RELATION_FILES_QUERY, {"tables": list(TABLES)}).scalars().all():
        found |= find(count_bytes(_read_chunks(connection, path), sizes, path))
    return [ScanResult("tables and indexes", sizes.total(), len(found))]


def _supports_maintain(connection: Connection) -> bool:
    version = connection.execute(text("SHOW server_version_num")).scalar_one()
    return int(version) >= 170_000


def _has_older_readers(connection: Connection) -> bool:
    """Whether someone reads who may see rows that are deleted by now, after waiting for them."""
    horizon = connection.execute(text("SELECT pg_current_xact_id()::text")).scalar_one()
    older = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND age(backend_xmin) > age(:horizon ::xid)"
    )
    until = time.monotonic() + READER_TIMEOUT_SECONDS
    while connection.execute(older, {"horizon": horizon}).scalar_one():
        if time.monotonic() > until:
            return True
        time.sleep(0.1)
    return False


def _read_chunks(connection: Connection, path: str) -> Iterator[bytes]:
    """A file of the server, with those that it goes on in after a gigabyte."""
    number, at = 0, 0
    query = text("SELECT pg_read_binary_file(:path, :at, :length, true)")
    while True:
        name = path if number == 0 else f"{path}.{number}"
        given = {"path": name, "at": at, "length": CHUNK_BYTES}
        piece = connection.execute(query, given).scalar_one()
        if piece:
            yield bytes(piece)
            at += len(piece)
        elif at:
            number, at = number + 1, 0
        else:
            return
