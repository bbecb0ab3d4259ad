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
    enter(connection, Tenant(owner.tenant), now)
    user = {
        "tenant": owner.tenant,
        "name": owner.user,
        "owner_id": owner.id,
        "created_at": now,
    }
    insert = _insert(connection)
    connection.execute(insert(tables.users).values(user).on_conflict_do_nothing())


def enter(connection: Connection, tenant: Tenant, now: datetime) -> None:
    """Enter a tenant unless they are known."""
    row = {"name": tenant.name, "created_at": now}
    insert = _insert(connection)
    connection.execute(insert(tables.tenants).values(row).on_conflict_do_nothing())


def registered(connection: Connection) -> list[Owner]:
    """Everyone, by tenant and name."""
    table = tables.users
    query = select(table.c.tenant, table.c.name).order_by(table.c.tenant, table.c.name)
    return [Owner(row.tenant, row.name) for row in connection.execute(query)]


def entered(connection: Connection) -> list[Tenant]:
    """Every tenant, by name."""
    query = select(tables.tenants.c.name).order_by(tables.tenants.c.name)
    return [Tenant(name) for name in connection.execute(query).scalars()]


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
    enter(connection, tenant, now)
    own = select(tables.tenants).where(tables.tenants.c.name == tenant.name)
    connection.execute(own.with_for_update())  # one after the other, also where many may write
    value = change(setting(connection, tenant, key))
    changed = {"value": value, "changed_at": now}
    connection.execute(
        _insert(connection)(tables.settings)
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
