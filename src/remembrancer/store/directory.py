"""The small tables of the system: who has a memory here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from remembrancer.store import tables
from remembrancer.types import Owner


def register(connection: Connection, owner: Owner, now: datetime) -> None:
    """Enter a person, and their tenant, unless they are known."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    tenant = {"name": owner.tenant, "created_at": now}
    user = {
        "tenant": owner.tenant,
        "name": owner.user,
        "owner_id": owner.id,
        "created_at": now,
    }
    for table, row in ((tables.tenants, tenant), (tables.users, user)):
        connection.execute(insert(table).values(row).on_conflict_do_nothing())


def registered(connection: Connection) -> list[Owner]:
    """Everyone, by tenant and name."""
    table = tables.users
    query = select(table.c.tenant, table.c.name).order_by(table.c.tenant, table.c.name)
    return [Owner(row.tenant, row.name) for row in connection.execute(query)]


def owner_row(owner: Owner, now: datetime) -> dict[str, object]:
    """The first row of a newcomer among their own tables: who they are, and nothing stored yet."""
    return {
        "owner_id": owner.id,
        "tenant": owner.tenant,
        "name": owner.user,
        "created_at": now,
        "documents_added": 0,
        "documents_removed": 0,
        "vectors_added": 0,
    }
