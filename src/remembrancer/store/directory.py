"""The small tables of the system: who has a memory here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, select

from remembrancer.store import tables
from remembrancer.store.contract import Erasure
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


def remove(connection: Connection, owner: Owner) -> None:
    """Strike a person and their keys out."""
    for table in (tables.keys, tables.users):
        connection.execute(delete(table).where(_theirs(table, owner)))


def keys_of(connection: Connection, owner: Owner) -> int:
    """How many keys a person has."""
    query = select(func.count()).where(_theirs(tables.keys, owner))
    return int(connection.execute(query).scalar_one())


def _theirs(table: Table, owner: Owner) -> ColumnElement[bool]:
    return and_(table.c.tenant == owner.tenant, table.c.name == owner.user)


def erasures(connection: Connection) -> list[Erasure]:
    """All erasures, in the order they were begun."""
    table = tables.erasures
    rows = connection.execute(select(table).order_by(table.c.begun_at, table.c.id))
    return [
        Erasure(
            id=row.id,
            tenant=row.tenant,
            mark=row.mark,
            begun_at=row.begun_at,
            contributions_only=row.contributions_only,
            user=row.name,
            traces=tuple(row.traces),
            removed=row.removed,
            finished_at=row.finished_at,
        )
        for row in rows
    ]


def keep_erasure(connection: Connection, erasure: Erasure) -> None:
    """Note an erasure, or how far it got."""
    row = {
        "tenant": erasure.tenant,
        "mark": erasure.mark,
        "begun_at": erasure.begun_at,
        "contributions_only": erasure.contributions_only,
        "name": erasure.user,
        "traces": list(erasure.traces),
        "removed": dict(erasure.removed),
        "finished_at": erasure.finished_at,
    }
    insert = _insert(connection)
    statement = insert(tables.erasures).values({"id": erasure.id, **row})
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=row))


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
