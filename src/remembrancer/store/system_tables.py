"""The tables that all owners of a store share: tenants, users, settings, keys, leases, erasures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any

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
from sqlalchemy.exc import IntegrityError

from remembrancer.guard.lookalike_names import explain_lookalike, refuse_lookalike_name
from remembrancer.store import leases, tables
from remembrancer.store.contract import Erasure, Lease
from remembrancer.store.statements import field_values, value_from_row
from remembrancer.types import Json, Key, Owner, Tenant

if TYPE_CHECKING:
    from remembrancer.clock import Clock

BeginTransaction = Callable[[], AbstractContextManager[Connection]]

KEY_BY_DIGEST = select(tables.keys).where(tables.keys.c.digest == bindparam("digest"))


class SystemTables:
    """Reads and writes the shared tables; every method is one transaction of its own."""

    def __init__(
        self, begin_read: BeginTransaction, begin_write: BeginTransaction, clock: Clock
    ) -> None:
        self._begin_read = begin_read
        self._begin_write = begin_write
        self._clock = clock

    def register_owner(self, owner: Owner, *, is_restored: bool = False) -> None:
        """Insert a user and their tenant unless they exist."""
        with self._begin_write() as connection:
            insert_owner(connection, owner, self._clock.now(), is_restored=is_restored)

    def check_owner(self, owner: Owner) -> None:
        """Raise InvalidInput if a user is not known and their name could be taken for another."""
        with self._begin_read() as connection:
            refuse_new_lookalike(connection, owner)

    def register_tenant(self, tenant: Tenant) -> None:
        """Insert a tenant unless it exists."""
        with self._begin_write() as connection:
            insert_tenant(connection, tenant, self._clock.now())

    def list_owners(self) -> list[Owner]:
        """Everyone who has ever stored something, by tenant and name."""
        table = tables.users
        query = select(table.c.tenant, table.c.name).order_by(table.c.tenant, table.c.name)
        with self._begin_read() as connection:
            return [Owner(row.tenant, row.name) for row in connection.execute(query)]

    def get_time_zone(self, owner: Owner) -> str | None:
        """The name of the zone that a user has set; None if they have set none."""
        table = tables.users
        query = select(table.c.time_zone).where(_belongs_to(table, owner))
        with self._begin_read() as connection:
            return connection.execute(query).scalar_one_or_none()

    def set_time_zone(self, owner: Owner, name: str | None) -> None:
        table = tables.users
        with self._begin_write() as connection:
            insert_owner(connection, owner, self._clock.now())
            connection.execute(
                update(table).where(_belongs_to(table, owner)).values(time_zone=name)
            )

    def list_tenants(self) -> list[Tenant]:
        """All tenants, by name."""
        query = select(tables.tenants.c.name).order_by(tables.tenants.c.name)
        with self._begin_read() as connection:
            return [Tenant(name) for name in connection.execute(query).scalars()]

    def delete_owner(self, owner: Owner) -> None:
        """Delete a user and their keys."""
        with self._begin_write() as connection:
            delete_owner_rows(connection, owner)

    def list_erasures(self) -> list[Erasure]:
        """Finished and unfinished erasures, in the order in which they began."""
        table = tables.erasures
        query = select(table).order_by(table.c.begun_at, table.c.id)
        with self._begin_read() as connection:
            return [_erasure_from_row(row) for row in connection.execute(query)]

    def save_erasure(self, erasure: Erasure) -> None:
        """Insert or update an erasure."""
        changed = {"traces": list(erasure.traces), "removed": dict(erasure.removed)}
        row = field_values(erasure) | changed
        row["name"] = row.pop("user")
        with self._begin_write() as connection:
            statement = _dialect_insert(connection)(tables.erasures).values(row)
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=row))

    def get_setting(self, tenant: Tenant, key: str) -> Json:
        """A tenant's setting, or None."""
        with self._begin_read() as connection:
            return _read_setting(connection, tenant, key)

    def change_setting(self, tenant: Tenant, key: str, change: Callable[[Json], Json]) -> None:
        """Replace a setting by `change(old)` atomically; registers the tenant if it is unknown."""
        with self._begin_write() as connection:
            now = self._clock.now()
            insert_tenant(connection, tenant, now)
            own = select(tables.tenants).where(tables.tenants.c.name == tenant.name)
            connection.execute(own.with_for_update())  # PostgreSQL lets several writers in
            value = change(_read_setting(connection, tenant, key))
            changed = {"value": value, "changed_at": now}
            connection.execute(
                _dialect_insert(connection)(tables.settings)
                .values({"tenant": tenant.name, "key": key, **changed})
                .on_conflict_do_update(index_elements=["tenant", "key"], set_=changed)
            )

    def add_key(self, key: Key, digest: str) -> None:
        """Store a key under the digest of its secret; its owner is registered if not known."""
        row = field_values(key) | {"digest": digest, "capabilities": sorted(key.capabilities)}
        row["tenant"], row["name"] = key.owner.tenant, key.owner.user
        del row["owner"]
        with self._begin_write() as connection:
            insert_owner(connection, key.owner, self._clock.now())
            connection.execute(tables.keys.insert(), row)

    def get_key(self, digest: str) -> Key | None:
        """The key whose secret has this digest, even if it has expired or was revoked."""
        with self._begin_read() as connection:
            row = connection.execute(KEY_BY_DIGEST, {"digest": digest}).first()
        return _key_from_row(row) if row is not None else None

    def list_keys(self, owner: Owner | None = None) -> list[Key]:
        """The keys of one owner, or all keys, newest first."""
        table = tables.keys
        query = select(table).order_by(table.c.created_at.desc(), table.c.id.desc())
        if owner is not None:
            query = query.where(_belongs_to(table, owner))
        with self._begin_read() as connection:
            return [_key_from_row(row) for row in connection.execute(query)]

    def list_valid_digests(self, now: datetime) -> frozenset[str]:
        """The digests of the keys that are neither expired nor revoked."""
        table = tables.keys
        lasts = or_(table.c.expires_at.is_(None), table.c.expires_at > now)
        query = select(table.c.digest).where(table.c.revoked_at.is_(None), lasts)
        with self._begin_read() as connection:
            return frozenset(connection.execute(query).scalars())

    def revoke_key(self, key_id: str, at: datetime) -> None:
        """Revoke a key; one that was revoked before keeps its time."""
        table = tables.keys
        valid = table.c.revoked_at.is_(None)
        with self._begin_write() as connection:
            connection.execute(
                update(table).where(table.c.id == key_id, valid).values(revoked_at=at)
            )

    def drop_key(self, key_id: str) -> bool:
        """Delete a key. True for the one caller that deleted it."""
        table = tables.keys
        with self._begin_write() as connection:
            return connection.execute(delete(table).where(table.c.id == key_id)).rowcount == 1

    def drop_keys(self, before: datetime) -> int:
        """Delete the keys that expired or were revoked before a moment; returns their number."""
        table = tables.keys
        over = or_(table.c.expires_at < before, table.c.revoked_at < before)
        with self._begin_write() as connection:
            return connection.execute(table.delete().where(over)).rowcount

    def record_key_use(self, key_id: str, at: datetime) -> None:
        table = tables.keys
        with self._begin_write() as connection:
            connection.execute(update(table).where(table.c.id == key_id).values(used_at=at))

    def get_lease(self, job: str) -> Lease:
        """The lease of a job; an empty one if nobody has taken it yet."""
        with self._begin_read() as connection:
            return leases.read_lease(connection, job)

    def acquire_lease(self, job: str, expected: Lease, holder: str, until: datetime) -> bool:
        """Take or renew the lease of a job. False if it is no longer the expected one."""
        try:
            with self._begin_write() as connection:
                return leases.acquire_lease(connection, job, expected, holder, until)
        except IntegrityError:  # another process inserted the row of this job at the same moment
            return False

    def save_lease(self, name: str, lease: Lease) -> None:
        """Write a lease whoever has it; if another process does so first, its value stands."""
        with contextlib.suppress(IntegrityError), self._begin_write() as connection:
            leases.save_lease(connection, name, lease)

    def release_lease(self, job: str, holder: str, finished_at: datetime | None) -> None:
        """Release a lease if `holder` still has it; None if the job was not finished."""
        with self._begin_write() as connection:
            leases.release_lease(connection, job, holder, finished_at)


def insert_owner(
    connection: Connection, owner: Owner, now: datetime, *, is_restored: bool = False
) -> None:
    """Insert a user and their tenant unless they exist.

    Raises InvalidInput if either is new and looks like another name, unless it is restored.
    """
    if not is_restored:
        refuse_new_lookalike(connection, owner)
    insert_tenant(connection, Tenant(owner.tenant), now)
    row = {"tenant": owner.tenant, "name": owner.user, "owner_id": owner.id, "created_at": now}
    insert_missing(connection, tables.users, row)


def refuse_new_lookalike(connection: Connection, owner: Owner) -> None:
    """Raise InvalidInput if a user is not known and their name could be taken for another."""
    if not (explain_lookalike(owner.user) or explain_lookalike(owner.tenant)):
        return
    table = tables.users
    if connection.execute(select(table.c.name).where(_belongs_to(table, owner))).first() is None:
        refuse_lookalike_name(owner.tenant, "tenant")
        refuse_lookalike_name(owner.user, "user")


def insert_tenant(connection: Connection, tenant: Tenant, now: datetime) -> None:
    """Insert a tenant unless it exists."""
    insert_missing(connection, tables.tenants, {"name": tenant.name, "created_at": now})


def insert_missing(connection: Connection, table: Table, *rows: Mapping[str, Any]) -> None:
    """Insert the rows whose key does not exist; existing ones do not change."""
    connection.execute(_dialect_insert(connection)(table).on_conflict_do_nothing(), list(rows))


def delete_owner_rows(connection: Connection, owner: Owner) -> None:
    """Delete a user and their keys."""
    for table in (tables.keys, tables.users):
        connection.execute(delete(table).where(_belongs_to(table, owner)))


def build_owner_row(owner: Owner, now: datetime) -> dict[str, object]:
    """The row of a new owner in the `owners` table, with all counters at zero."""
    return {
        "owner_id": owner.id,
        "tenant": owner.tenant,
        "name": owner.user,
        "created_at": now,
        "documents_added": 0,
        "documents_removed": 0,
        "vectors_added": 0,
    }


def _read_setting(connection: Connection, tenant: Tenant, key: str) -> Json:
    table = tables.settings
    query = select(table.c.value).where(table.c.tenant == tenant.name, table.c.key == key)
    value: Json = connection.execute(query).scalar()
    return value


def _belongs_to(table: Table, owner: Owner) -> ColumnElement[bool]:
    return and_(table.c.tenant == owner.tenant, table.c.name == owner.user)


def _erasure_from_row(row: Any) -> Erasure:
    return value_from_row(Erasure, row, user=row.name, traces=tuple(row.traces))


def _key_from_row(row: Any) -> Key:
    owner, capabilities = Owner(row.tenant, row.name), frozenset(row.capabilities)
    return value_from_row(Key, row, owner=owner, capabilities=capabilities)


def _dialect_insert(connection: Connection) -> Any:
    """The dialect's insert, which supports ON CONFLICT."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    return insert
