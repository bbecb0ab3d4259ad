"""Who does a job: one row per job, changed only by whoever saw it as it is."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Select, select, update

from remembrancer.store import tables
from remembrancer.store.contract import Lease

TABLE = tables.leases


def read_lease(connection: Connection, job: str) -> Lease:
    """The lease of a job; of one that nobody took yet, an empty one."""
    row = connection.execute(_select_lease(job)).first()
    return Lease(row.holder, row.held_until, row.finished_at) if row else Lease()


def acquire_lease(
    connection: Connection, job: str, expected: Lease, holder: str, until: datetime
) -> bool:
    """Hold a job until then, unless its lease has changed since it was seen.

    The caller's transaction lets one writer in at a time, or else the row is locked here.
    """
    row = connection.execute(_select_lease(job).with_for_update()).first()
    if row is None:
        values = {"name": job, "holder": holder, "held_until": until}
        connection.execute(TABLE.insert(), values)
        return True
    if Lease(row.holder, row.held_until, row.finished_at) != expected:
        return False
    _update_lease(connection, job, holder=holder, held_until=until)
    return True


def release_lease(connection: Connection, job: str, holder: str, at: datetime | None) -> None:
    """Give a job back, done at that time or not at all; what was lost to another is left alone."""
    row = connection.execute(_select_lease(job).with_for_update()).first()
    if row is not None and row.holder == holder:
        done = {"finished_at": at} if at is not None else {}
        _update_lease(connection, job, holder=None, held_until=None, **done)


def _select_lease(job: str) -> Select[tuple[str | None, datetime | None, datetime | None]]:
    return select(TABLE.c.holder, TABLE.c.held_until, TABLE.c.finished_at).where(
        TABLE.c.name == job
    )


def _update_lease(connection: Connection, job: str, **values: object) -> None:
    connection.execute(update(TABLE).where(TABLE.c.name == job).values(values))
