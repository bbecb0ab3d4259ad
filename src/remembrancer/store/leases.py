"""Who does a job: one row per job, changed only by whoever saw it as it is."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Select, select, update

from remembrancer.store import tables
from remembrancer.store.contract import Lease

TABLE = tables.leases


def read(connection: Connection, job: str) -> Lease:
    """The lease of a job; of one that nobody took yet, an empty one."""
    row = connection.execute(_of(job)).first()
    return Lease(row.holder, row.held_until, row.finished_at) if row else Lease()


def take(connection: Connection, job: str, seen: Lease, holder: str, until: datetime) -> bool:
    """Hold a job until then, unless its lease has changed since it was seen.

    The caller's transaction lets one writer in at a time, or else the row is locked here.
    """
    row = connection.execute(_of(job).with_for_update()).first()
    if row is None:
        values = {"name": job, "holder": holder, "held_until": until}
        connection.execute(TABLE.insert(), values)
        return True
    if Lease(row.holder, row.held_until, row.finished_at) != seen:
        return False
    _change(connection, job, holder=holder, held_until=until)
    return True


def finish(connection: Connection, job: str, holder: str, at: datetime | None) -> None:
    """Give a job back, done at that time or not at all; what was lost to another is left alone."""
    row = connection.execute(_of(job).with_for_update()).first()
    if row is not None and row.holder == holder:
        done = {"finished_at": at} if at is not None else {}
        _change(connection, job, holder=None, held_until=None, **done)


def _of(job: str) -> Select[tuple[str | None, datetime | None, datetime | None]]:
    return select(TABLE.c.holder, TABLE.c.held_until, TABLE.c.finished_at).where(
        TABLE.c.name == job
    )


def _change(connection: Connection, job: str, **values: object) -> None:
    connection.execute(update(TABLE).where(TABLE.c.name == job).values(values))
