"""SQLite: a directory with one file per person, so that no query can reach another's memories."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, bindparam, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import DatabaseError, OperationalError

from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import Conflict, StoreUnavailable
from remembrancer.store import directory, dump, files, leases, tables
from remembrancer.store.columns import JsonValue
from remembrancer.store.contract import Embedding, Health, Hit, Lease, Reader, Row, Writer
from remembrancer.store.files import File
from remembrancer.store.indexes import Indexes
from remembrancer.store.nothing import Nothing
from remembrancer.store.team import APART, SqlTeamDesk, SqlTeamReader
from remembrancer.store.team_contract import TeamDesk, TeamReader
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Json, Key, Owner, Tenant

SAFE_CHECKPOINTS = (3, 51, 3)


class SqliteStore:
    """Memories in files under a directory, or in this process's memory when there is none."""

    def __init__(
        self,
        path: Path | None,
        *,
        clock: Clock | None = None,
        open_files: int = 64,
        busy_seconds: float = 30,
    ) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._limit = open_files
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._people: OrderedDict[str, _Person] = OrderedDict()
        self._teams: dict[str, File] = {}
        self._newcomer = threading.Lock()
        if path is not None:
            _make_private(path)

    @contextlib.contextmanager
    def reading(self, owner: Owner) -> Iterator[Reader]:
        if not self._is_known(owner):
            yield Nothing()
            return
        with self._person(owner) as person, person.file.reading() as connection:
            yield SqliteTransaction(connection, owner.id, person.indexes)

    @contextlib.contextmanager
    def writing(self, owner: Owner) -> Iterator[Writer]:
        self._welcome(owner)
        with self._person(owner) as person, _unlocked(), person.file.writing() as connection:
            _claim(connection, owner, self._clock)
            yield SqliteTransaction(connection, owner.id, person.indexes)

    @contextlib.contextmanager
    def recalling(self, tenant: Tenant) -> Iterator[TeamReader]:
        with self._team(tenant).reading() as connection:
            raw: Any = connection.connection.driver_connection
            raw.set_authorizer(_without_contributors)
            try:
                yield SqlTeamReader(connection, tenant.id)
            finally:
                raw.set_authorizer(None)

    @contextlib.contextmanager
    def reviewing(self, tenant: Tenant) -> Iterator[TeamDesk]:
        with _unlocked(), self._team(tenant).writing() as connection:
            yield SqlTeamDesk(connection, tenant.id)

    def owners(self) -> list[Owner]:
        with self._system.reading() as connection:
            return directory.registered(connection)

    @contextlib.contextmanager
    def dump(self, owner: Owner) -> Iterator[Iterator[Row]]:
        if not self._is_known(owner):
            yield iter(())
            return
        with self._person(owner) as person, person.file.reading() as connection:
            yield dump.personal_rows(connection, owner)

    def load(self, owner: Owner, rows: Iterable[Row], *, replace: bool = False) -> None:
        with self._system.writing() as connection:
            directory.register(connection, owner, self._clock.now())
        if self._path is None or self._is_known(owner):
            with self._person(owner) as person, _unlocked(), person.file.writing() as connection:
                removed = dump.make_room(connection, owner, replace=replace)
                _put(connection, owner, rows, removed)
        else:
            self._load_newcomer(owner, rows)

    @contextlib.contextmanager
    def dump_system(self) -> Iterator[Iterator[Row]]:
        with self._system.reading() as connection:
            yield dump.system_rows(connection)

    def load_system(self, rows: Iterable[Row]) -> None:
        with self._system.writing() as connection:
            dump.put_system(connection, rows)

    def setting(self, tenant: Tenant, key: str) -> Json:
        with self._system.reading() as connection:
            return directory.setting(connection, tenant, key)

    def change_setting(self, tenant: Tenant, key: str, change: Callable[[Json], Json]) -> None:
        with self._system.writing() as connection:
            directory.change_setting(connection, tenant, key, change, self._clock.now())

    def add_key(self, key: Key, digest: str) -> None:
        with self._system.writing() as connection:
            directory.add_key(connection, key, digest, self._clock.now())

    def key(self, digest: str) -> Key | None:
        with self._system.reading() as connection:
            return directory.key(connection, digest)

    def list_keys(self, owner: Owner | None = None) -> list[Key]:
        with self._system.reading() as connection:
            return directory.keys(connection, owner)

    def drop_keys(self, before: datetime) -> int:
        with self._system.writing() as connection:
            return directory.drop_keys(connection, before)

    def revoke_key(self, key_id: str, at: datetime) -> None:
        with self._system.writing() as connection:
            directory.revoke_key(connection, key_id, at)

    def note_use(self, key_id: str, at: datetime) -> None:
        with self._system.writing() as connection:
            directory.note_use(connection, key_id, at)

    def lease(self, job: str) -> Lease:
        with self._system.reading() as connection:
            return leases.read(connection, job)

    def take(self, job: str, seen: Lease, holder: str, until: datetime) -> bool:
        with self._system.writing() as connection:
            return leases.take(connection, job, seen, holder, until)

    def finish(self, job: str, holder: str, at: datetime | None) -> None:
        with self._system.writing() as connection:
            leases.finish(connection, job, holder, at)

    def tidy(self) -> int:
        """Move every log into its file; files that nobody has open here have none of ours."""
        with self._lock:
            opened = [person.file for person in self._people.values()]
            opened += self._teams.values()
        for file in (self._system, *opened):
            file.checkpoint()
        return 1 + len(opened)

    def health(self) -> Health:
        version = sqlite3.sqlite_version_info
        warnings = []
        if version < SAFE_CHECKPOINTS:
            warnings.append(
                f"SQLite {sqlite3.sqlite_version} has a rare fault when two connections checkpoint "
                "at once; Remembrancer checkpoints from one place only. 3.51.3 has the cure."
            )
        people = len(self.owners())
        place = str(self._path) if self._path else "memory"
        details = {"sqlite": sqlite3.sqlite_version, "people": str(people)}
        return Health("sqlite", place, details, tuple(warnings))

    def close(self) -> None:
        with self._lock:
            for person in self._people.values():
                person.file.close()
            self._people.clear()
            for file in self._teams.values():
                file.close()
            self._teams.clear()
            if "_system" in self.__dict__:
                self._system.close()

    @functools.cached_property
    def _system(self) -> File:
        """The small tables; most calls never need them."""
        return self._open("system", "system")

    def _team(self, tenant: Tenant) -> File:
        """A team's file; there are as many as tenants, and they stay open."""
        with self._lock:
            if tenant.id not in self._teams:
                self._teams[tenant.id] = self._open("team", f"teams/{tenant.id}")
            return self._teams[tenant.id]

    @contextlib.contextmanager
    def _person(self, owner: Owner) -> Iterator[_Person]:
        """The person's file, kept open while it is used; the least recently used are closed."""
        with self._lock:
            person = self._people.get(owner.id)
            if person is None:
                person = _Person(self._open("personal", f"people/{owner.id}"))
                self._people[owner.id] = person
            self._people.move_to_end(owner.id)
            person.users += 1
        try:
            yield person
        finally:
            with self._lock:
                person.users -= 1
                self._close_spare()

    def _close_spare(self) -> None:
        if self._path is None:
            return
        spare = len(self._people) - self._limit
        idle = [key for key, person in self._people.items() if person.users == 0]
        for key in idle[: max(spare, 0)]:
            self._people.pop(key).file.close()

    def _is_known(self, owner: Owner) -> bool:
        if self._path is None:
            return owner.id in self._people
        return owner.id in self._people or self._file(f"people/{owner.id}").exists()

    def _welcome(self, owner: Owner) -> None:
        """Enter a newcomer before their file is made, so that no file is without a name."""
        with self._newcomer:
            if not self._is_known(owner):
                with self._system.writing() as connection:
                    directory.register(connection, owner, self._clock.now())
                with self._person(owner):
                    return

    def _load_newcomer(self, owner: Owner, rows: Iterable[Row]) -> None:
        path = self._file(f"people/{owner.id}")
        try:
            with files.building("personal", path, self._busy_seconds) as connection:
                _put(connection, owner, rows)
        except FileExistsError as error:
            raise Conflict(
                f"Someone writes memories of {owner.user} of {owner.tenant} at this moment; "
                "try again when they are done."
            ) from error
        except OSError as error:
            raise _unusable(path.parent, error) from error

    def _file(self, name: str) -> Path:
        assert self._path is not None
        return self._path / f"{name}.db"

    def _open(self, family: str, name: str) -> File:
        if self._path is None:
            return File(family, None, self._busy_seconds)
        path = self._file(name)
        try:
            if not path.exists():
                files.create(family, path)
            return File(family, path, self._busy_seconds)
        except OSError as error:
            raise _unusable(path.parent, error) from error
        except DatabaseError as error:
            raise StoreUnavailable(
                f"{path} cannot be read as a memory; put back a backup of it."
            ) from error


class _Person:
    """An open file, its index in memory, and how many transactions are using it."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.users = 0
        self.indexes = Indexes(most_vectors=sys.maxsize)


class SqliteTransaction(SqlTransaction):
    """All of a person's vectors are in memory: there is nothing beyond them."""

    dialect = SQLiteDialect_pysqlite()

    def beyond(self, query: Embedding) -> list[Hit]:
        return []

    def _vectors(self, statement: Select[Any]) -> Iterator[Any]:
        return iter(self._connection.execute(statement))

    @staticmethod
    def is_named(table: FromClause) -> ColumnElement[bool]:
        each = func.json_each(bindparam("ids", [], JsonValue())).table_valued("value")
        return table.c.id.in_(select(each.c.value))

    @staticmethod
    def has_tag(table: FromClause, tag: str) -> ColumnElement[bool]:
        each = func.json_each(table.c.tags).table_valued("value")
        return select(1).select_from(each).where(each.c.value == tag).exists()


def _without_contributors(action: int, table: str | None, *_: object) -> int:
    """Refuses recall every look at who said something."""
    refused = action == sqlite3.SQLITE_READ and table in APART
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _make_private(path: Path) -> None:
    """A directory that only its owner may look into; one that exists is left as it is."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"{path} cannot be used: {error.strerror}. "
        "Give another directory with --store or store.path."
    )


@contextlib.contextmanager
def _unlocked() -> Iterator[None]:
    """Say in our words that a file was not to be had in time."""
    try:
        yield
    except OperationalError as error:
        if "locked" in str(error):
            raise StoreUnavailable(
                "The memory is being written by another process for too long; try again."
            ) from error
        raise


def _put(connection: Connection, owner: Owner, rows: Iterable[Row], removed: int = 0) -> None:
    """Store everything of a person; all their vectors are held in memory here."""
    dump.put_person(connection, owner, rows, most_vectors=sys.maxsize, removed=removed)


def _claim(connection: Connection, owner: Owner, clock: Clock) -> None:
    row = directory.owner_row(owner, clock.now())
    connection.execute(insert(tables.owners).values(row).on_conflict_do_nothing())
