"""Leases of jobs: one row per job, changed by compare-and-set."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, Select, select, update

from remembrancer.store import tables
from remembrancer.store.contract import Lease
from remembrancer.store.statements import field_values

TABLE = tables.leases

CLOCK = "clock"
"""No job: when the clock was read last, and until when jobs wait after it leapt."""

SIGHTING_INTERVAL = timedelta(minutes=10)
"""How often it is written down that the clock was read, so that a tick hardly ever writes."""


def read_lease(connection: Connection, job: str) -> Lease:
    """The lease of a job; an empty one if nobody has taken it yet."""
    row = connection.execute(_select_lease(job)).first()
    return Lease(row.holder, row.held_until, row.finished_at) if row else Lease()


def acquire_lease(
    connection: Connection, job: str, expected: Lease, holder: str, until: datetime
) -> bool:
    """Take the lease unless it differs from `expected`.

    Relies on the caller's exclusive transaction (SQLite) or on the row lock (PostgreSQL).
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
    """Release a lease; one that another holder has taken stays."""
    row = connection.execute(_select_lease(job).with_for_update()).first()
    if row is not None and row.holder == holder:
        done = {"finished_at": at} if at is not None else {}
        _update_lease(connection, job, holder=None, held_until=None, **done)


def save_lease(connection: Connection, name: str, lease: Lease) -> None:
    """Write a lease whoever has it."""
    values = field_values(lease)
    if not connection.execute(update(TABLE).where(TABLE.c.name == name).values(values)).rowcount:
        connection.execute(TABLE.insert(), {"name": name, **values})


def _select_lease(job: str) -> Select[tuple[str | None, datetime | None, datetime | None]]:
    return select(TABLE.c.holder, TABLE.c.held_until, TABLE.c.finished_at).where(
        TABLE.c.name == job
    )


def _update_lease(connection: Connection, job: str, **values: object) -> None:
    connection.execute(update(TABLE).where(TABLE.c.name == job).values(values))
