"""Overwrites what the write-ahead log of PostgreSQL holds of removed rows.

The server keeps the log in segments. It renames those that it no longer needs, to write to them
again some day; until then they hold what was in them. So every segment of before is passed once:
switching to the next one fills the rest of a segment with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text

MAX_OVERWRITTEN_BYTES = 2 * 1024**3

RIGHTS_QUERY = text(
    """
    SELECT has_function_privilege('pg_switch_wal()', 'EXECUTE')
        AND has_function_privilege('pg_ls_waldir()', 'EXECUTE')
        AND (
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
            OR EXISTS (
                SELECT FROM pg_roles
                WHERE rolname = 'pg_checkpoint' AND pg_has_role(current_user, oid, 'USAGE')
            )
        )
    """
)

SEGMENTS_QUERY = text("SELECT name FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' ORDER BY name")

NO_RIGHTS = (
    "PostgreSQL's write-ahead log holds removed rows until the server has overwritten its old "
    "segments. Ask the administrator to run `rem erase` or `rem jobs run tidy` with a login that "
    "has the role pg_checkpoint and EXECUTE on pg_switch_wal and pg_ls_waldir."
)

ARCHIVED = (
    "The archive of PostgreSQL's write-ahead log (archive_mode) holds removed rows. Ask the "
    "administrator when what was archived before today is deleted."
)

REPLICATED = (
    "Standby servers or replication slots hold PostgreSQL's write-ahead log with removed rows "
    "until they have caught up and recycled it. Ask the administrator."
)

KEPT = (
    "PostgreSQL keeps {count} old segments of its write-ahead log (wal_keep_size or a replication "
    "slot), which hold removed rows until it recycles them. Ask the administrator to lift that for "
    "a while, and repeat this."
)

TOO_LONG = (
    "PostgreSQL's write-ahead log is too long to be overwritten at once: {count} segments hold "
    "removed rows until the server recycles them. Repeat this."
)


def can_overwrite(connection: Connection) -> bool:
    """True if the current role may switch, list and checkpoint the log."""
    return bool(connection.execute(RIGHTS_QUERY).scalar_one())


def overwrite_log(connection: Connection) -> tuple[str, ...]:
    """Overwrite the log up to now; returns what remains, and whom to ask.

    The connection must be in autocommit mode, in a role with the rights for it.
    """
    copies = tuple(_list_copies(connection))
    if not can_overwrite(connection):
        return (NO_RIGHTS, *copies)
    last = _switch(connection)
    connection.exec_driver_sql("CHECKPOINT")  # Renames or removes the segments of before.
    ahead = _list_segments(connection)[-1]
    for _ in range(MAX_OVERWRITTEN_BYTES // _measure_segment(connection)):
        if _switch(connection) >= ahead:
            break
    connection.exec_driver_sql("CHECKPOINT")
    segments, now = _list_segments(connection), _get_current(connection)
    kept = sum(name <= last for name in segments)
    unwritten = sum(now < name <= ahead for name in segments)
    reasons = [KEPT.format(count=kept)] if kept else []
    reasons += [TOO_LONG.format(count=unwritten)] if unwritten else []
    return (*reasons, *copies)


def list_log_files(connection: Connection) -> list[str]:
    """The paths of the segments, for a scan."""
    return [f"pg_wal/{name}" for name in connection.execute(SEGMENTS_QUERY).scalars()]


def _list_copies(connection: Connection) -> Iterator[str]:
    """The copies of the log that are out of reach."""
    if connection.execute(text("SHOW archive_mode")).scalar_one() != "off":
        yield ARCHIVED
    slots = text(
        "SELECT (SELECT count(*) FROM pg_replication_slots) "
        "+ (SELECT count(*) FROM pg_stat_replication)"
    )
    if connection.execute(slots).scalar_one():
        yield REPLICATED


def _list_segments(connection: Connection) -> list[str]:
    """The names of the segments without their timeline, in order."""
    return sorted(name[8:] for name in connection.execute(SEGMENTS_QUERY).scalars())


def _switch(connection: Connection) -> str:
    """Fill the current segment; returns its name without the timeline."""
    message = text("SELECT pg_logical_emit_message(false, 'remembrancer', 'overwritten')")
    connection.execute(message)
    name = connection.execute(text("SELECT pg_walfile_name(pg_switch_wal())")).scalar_one()
    return str(name)[8:]


def _get_current(connection: Connection) -> str:
    query = text("SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
    return str(connection.execute(query).scalar_one())[8:]


def _measure_segment(connection: Connection) -> int:
    query = text("SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'")
    return int(connection.execute(query).scalar_one())
