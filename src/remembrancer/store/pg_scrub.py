"""Removes what remains of deleted rows in PostgreSQL and scans the server's files for traces."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, select, text

from remembrancer.store import pg_roles, pg_wal, tables
from remembrancer.store.contract import ScanResult, TraceTerms
from remembrancer.store.trace_scan import CHUNK_BYTES, build_finder, count_bytes
from remembrancer.types import Owner

READER_TIMEOUT_SECONDS = 30.0
"""The time to wait for transactions that began before the rows were deleted."""

MAX_REWRITTEN_BYTES = 1024**3
"""Larger tables are not rewritten by a job, because their users would wait for too long."""

TOO_LARGE = (
    "The tables are too large to be rewritten by a job: PostgreSQL overwrites deleted rows as it "
    "uses their space again. Ask the administrator for VACUUM FULL."
)

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


MEASURE_QUERY = text(
    "SELECT sum(pg_total_relation_size(CAST(name AS regclass))) "
    "FROM unnest(CAST(:tables AS text[])) AS name"
)


def rewrite_tables(connection: Connection) -> tuple[str, ...]:
    """Rewrite every table without its deleted rows; returns the reasons for any that was not.

    The connection must be in autocommit mode. Users of a table wait until it is rewritten.
    """
    ours = {"tables": list(TABLES)}
    if not (
        _supports_maintain(connection) and connection.execute(CAN_REWRITE_QUERY, ours).scalar_one()
    ):
        return (f"{pg_roles.APP_ROLE} cannot rewrite tables. Run VACUUM FULL as their owner.",)
    waiting = _has_older_readers(connection)
    for table in TABLES:
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
    if waiting:
        return ("An older transaction is still reading, so deleted rows can remain.",)
    return ()


def measure_tables(connection: Connection) -> int:
    """The size of all tables with their indexes, in bytes."""
    return int(connection.execute(MEASURE_QUERY, {"tables": list(TABLES)}).scalar_one())


def scan_rows(connection: Connection, owner: Owner) -> ScanResult:
    counts = [
        connection.execute(select(func.count()).where(table.c.owner_id == owner.id)).scalar_one()
        for table in (*tables.personal.sorted_tables, tables.users)
    ]
    return ScanResult("rows", 0, sum(counts))


def scan_server_files(connection: Connection, traces: TraceTerms) -> list[ScanResult]:
    """Scan the server's files for an owner's ids, if the login can read them.

    Words are not searched for: other owners in the same tables could have used them. The log is
    scanned if it could be overwritten.
    """
    reading = "pg_read_binary_file(text, bigint, bigint, boolean)"
    allowed = text("SELECT has_function_privilege(:reading, 'EXECUTE')")
    if not connection.execute(allowed, {"reading": reading}).scalar_one():
        return []
    relations = connection.execute(RELATION_FILES_QUERY, {"tables": list(TABLES)}).scalars().all()
    scanned = [_scan_files(connection, "tables and indexes", relations, traces)]
    if pg_wal.can_overwrite(connection):
        log = pg_wal.list_log_files(connection)
        scanned.append(_scan_files(connection, "write-ahead log", log, traces))
    return scanned


def _scan_files(
    connection: Connection, place: str, paths: Sequence[str], traces: TraceTerms
) -> ScanResult:
    find = build_finder(traces.ids)
    sizes: Counter[str] = Counter()
    found: set[bytes] = set()
    for path in paths:
        found |= find(count_bytes(_read_chunks(connection, path), sizes, place))
    return ScanResult(place, sizes[place], len(found))


def _supports_maintain(connection: Connection) -> bool:
    version = connection.execute(text("SHOW server_version_num")).scalar_one()
    return int(version) >= 170_000


def _has_older_readers(connection: Connection) -> bool:
    """Wait for transactions that can still see deleted rows. True if some remain."""
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
    """A table's file and its segments of one gigabyte each."""
    number, at = 0, 0
    query = text("SELECT pg_read_binary_file(:path, :at, :length, true)")
    while True:
        name = path if number == 0 else f"{path}.{number}"
        parameters = {"path": name, "at": at, "length": CHUNK_BYTES}
        chunk = connection.execute(query, parameters).scalar_one()
        if chunk:
            yield bytes(chunk)
            at += len(chunk)
        elif at:
            number, at = number + 1, 0
        else:
            return
