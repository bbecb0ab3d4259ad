"""The small tables of the system: who has a memory here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from remembrancer.store import tables
from remembrancer.types import Json, Owner, Tenant


def register(connection: Connection, owner: Owner, now: datetime) -> None:
    """Enter a person, and their tenant, unless they are known."""
    insert = _insert(connection)
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


def setting(connection: Connection, tenant: Tenant, key: str) -> Json:
    """A setting of a tenant, None if there is none."""
    table = tables.settings
    query = select(table.c.value).where(table.c.tenant == tenant.name, table.c.key == key)
    value: Json = connection.execute(query).scalar()
    return value


def change_setting(
    connection: Connection,
    tenant: Tenant,
    key: str,
    change: Callable[[Json], Json],
    now: datetime,
) -> None:
    """Change a setting of a tenant, who is entered if they are not known, in one step."""
    insert = _insert(connection)
    row = {"name": tenant.name, "created_at": now}
    connection.execute(insert(tables.tenants).values(row).on_conflict_do_nothing())
    own = select(tables.tenants).where(tables.tenants.c.name == tenant.name)
    connection.execute(own.with_for_update())  # one after the other, also where many may write
    value = change(setting(connection, tenant, key))
    changed = {"value": value, "changed_at": now}
    connection.execute(
        insert(tables.settings)
        .values({"tenant": tenant.name, "key": key, **changed})
        .on_conflict_do_update(index_elements=["tenant", "key"], set_=changed)
    )


def _insert(connection: Connection) -> Any:
    """The engine's own insert, which knows what to do on a conflict."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    return insert


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
