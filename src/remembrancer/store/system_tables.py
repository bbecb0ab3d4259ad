"""The small tables of the system: who has a memory here, their settings, and their keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    or_,
    select,
    update,
)

from remembrancer.store import tables
from remembrancer.store.contract import Erasure
from remembrancer.types import Json, Key, Owner, Tenant

KEY_BY_DIGEST = select(tables.keys).where(tables.keys.c.digest == bindparam("digest"))


def register_owner(connection: Connection, owner: Owner, now: datetime) -> None:
    """Enter a person, and their tenant, unless they are known."""
    register_tenant(connection, Tenant(owner.tenant), now)
    user = {
        "tenant": owner.tenant,
        "name": owner.user,
        "owner_id": owner.id,
        "created_at": now,
    }
    insert = _dialect_insert(connection)
    connection.execute(insert(tables.users).values(user).on_conflict_do_nothing())


def register_tenant(connection: Connection, tenant: Tenant, now: datetime) -> None:
    """Enter a tenant unless they are known."""
    row = {"name": tenant.name, "created_at": now}
    insert = _dialect_insert(connection)
    connection.execute(insert(tables.tenants).values(row).on_conflict_do_nothing())


def list_owners(connection: Connection) -> list[Owner]:
    """Everyone, by tenant and name."""
    table = tables.users
    query = select(table.c.tenant, table.c.name).order_by(table.c.tenant, table.c.name)
    return [Owner(row.tenant, row.name) for row in connection.execute(query)]


def list_tenants(connection: Connection) -> list[Tenant]:
    """Every tenant, by name."""
    query = select(tables.tenants.c.name).order_by(tables.tenants.c.name)
    return [Tenant(name) for name in connection.execute(query).scalars()]


def delete_owner(connection: Connection, owner: Owner) -> None:
    """Strike a person and their keys out."""
    for table in (tables.keys, tables.users):
        connection.execute(delete(table).where(_belongs_to(table, owner)))


def _belongs_to(table: Table, owner: Owner) -> ColumnElement[bool]:
    return and_(table.c.tenant == owner.tenant, table.c.name == owner.user)


def list_erasures(connection: Connection) -> list[Erasure]:
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


def save_erasure(connection: Connection, erasure: Erasure) -> None:
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
    insert = _dialect_insert(connection)
    statement = insert(tables.erasures).values({"id": erasure.id, **row})
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=row))


def get_setting(connection: Connection, tenant: Tenant, key: str) -> Json:
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
    register_tenant(connection, tenant, now)
    own = select(tables.tenants).where(tables.tenants.c.name == tenant.name)
    connection.execute(own.with_for_update())  # one after the other, also where many may write
    value = change(get_setting(connection, tenant, key))
    changed = {"value": value, "changed_at": now}
    connection.execute(
        _dialect_insert(connection)(tables.settings)
        .values({"tenant": tenant.name, "key": key, **changed})
        .on_conflict_do_update(index_elements=["tenant", "key"], set_=changed)
    )


def add_key(connection: Connection, key: Key, digest: str, now: datetime) -> None:
    """Keep a key by the digest of its secret."""
    register_owner(connection, key.owner, now)
    row = {
        "id": key.id,
        "digest": digest,
        "tenant": key.owner.tenant,
        "name": key.owner.user,
        "agent": key.agent,
        "capabilities": sorted(key.capabilities),
        "label": key.label,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "used_at": key.used_at,
    }
    connection.execute(tables.keys.insert(), row)


def get_key(connection: Connection, digest: str) -> Key | None:
    """The key whose secret has that digest."""
    row = connection.execute(KEY_BY_DIGEST, {"digest": digest}).first()
    return _key_from_row(row) if row is not None else None


def list_keys(connection: Connection, owner: Owner | None) -> list[Key]:
    """The keys of one person, or all, newest first."""
    table = tables.keys
    query = select(table).order_by(table.c.created_at.desc(), table.c.id.desc())
    if owner is not None:
        query = query.where(table.c.tenant == owner.tenant, table.c.name == owner.user)
    return [_key_from_row(row) for row in connection.execute(query)]


def revoke_key(connection: Connection, key_id: str, at: datetime) -> None:
    """Let a key open nothing from then on."""
    table = tables.keys
    valid = table.c.revoked_at.is_(None)
    connection.execute(update(table).where(table.c.id == key_id, valid).values(revoked_at=at))


def drop_key(connection: Connection, key_id: str) -> bool:
    """Remove a key; whether it was there."""
    return connection.execute(delete(tables.keys).where(tables.keys.c.id == key_id)).rowcount == 1


def record_key_use(connection: Connection, key_id: str, at: datetime) -> None:
    """Say when a key was used last."""
    table = tables.keys
    connection.execute(update(table).where(table.c.id == key_id).values(used_at=at))


def drop_keys(connection: Connection, before: datetime) -> int:
    """Destroy the keys that opened nothing any more at a moment."""
    table = tables.keys
    over = or_(table.c.expires_at < before, table.c.revoked_at < before)
    return connection.execute(table.delete().where(over)).rowcount


def _key_from_row(row: Any) -> Key:
    return Key(
        id=row.id,
        owner=Owner(row.tenant, row.name),
        agent=row.agent,
        capabilities=frozenset(row.capabilities),
        label=row.label,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        used_at=row.used_at,
    )


def _dialect_insert(connection: Connection) -> Any:
    """The engine's own insert, which knows what to do on a conflict."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    return insert


def build_owner_row(owner: Owner, now: datetime) -> dict[str, object]:
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
