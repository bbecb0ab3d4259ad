"""SQLite: a directory with one file per person, so that no query can reach another's memories."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, bindparam, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import DatabaseError, OperationalError

from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import Conflict, StoreUnavailable, UnknownPerson
from remembrancer.store import dump, files, leases, system_tables, tables, trace_scan
from remembrancer.store.columns import JsonValue
from remembrancer.store.contract import (
    Embedding,
    Erasure,
    Health,
    Hit,
    Lease,
    Reader,
    Row,
    Searched,
    Traces,
    Writer,
)
from remembrancer.store.empty_reader import Nothing
from remembrancer.store.files import File
from remembrancer.store.indexes import Indexes
from remembrancer.store.team import APART, SqlTeamDesk, SqlTeamReader
from remembrancer.store.team_contract import TeamDesk, TeamReader
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Json, Key, Owner, Tenant

SAFE_CHECKPOINTS = (3, 51, 3)


TURNS = threading.BoundedSemaphore(os.cpu_count() or 1)
"""SQLite lets go of the interpreter at every row; threads that take it from each other there get a
third less done. The measurements are in docs/benchmarks.md."""


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
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._entered: set[Tenant] = set()
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
    def writing(self, owner: Owner, *, newcomer: bool = True) -> Iterator[Writer]:
        while True:
            if newcomer:
                self._welcome(owner)
            elif not self._is_known(owner):
                raise UnknownPerson(f"{owner.user} of {owner.tenant} has no memory here.")
            with self._person(owner) as person, _unlocked(), person.file.writing() as connection:
                if person.file.is_in_place():
                    _claim(connection, owner, self._clock)
                    yield SqliteTransaction(connection, owner.id, person.indexes)
                    return
            # They were erased while this was waiting for its turn.

    @contextlib.contextmanager
    def recalling(self, tenant: Tenant) -> Iterator[TeamReader]:
        with self._team(tenant) as team, team.file.reading() as connection:
            raw: Any = connection.connection.driver_connection
            raw.set_authorizer(_without_contributors)
            try:
                yield SqlTeamReader(connection, tenant.id)
            finally:
                raw.set_authorizer(None)

    @contextlib.contextmanager
    def reviewing(self, tenant: Tenant) -> Iterator[TeamDesk]:
        with self._changing(tenant) as connection:
            yield SqlTeamDesk(connection, tenant.id)

    def turn(self) -> AbstractContextManager[object]:
        return TURNS

    def owners(self) -> list[Owner]:
        with self._system.reading() as connection:
            return system_tables.registered(connection)

    @contextlib.contextmanager
    def dump(self, owner: Owner) -> Iterator[Iterator[Row]]:
        if not self._is_known(owner):
            yield iter(())
            return
        with self._person(owner) as person, person.file.reading() as connection:
            yield dump.personal_rows(connection, owner)

    def load(self, owner: Owner, rows: Iterable[Row], *, replace: bool = False) -> None:
        with self._system.writing() as connection:
            system_tables.register(connection, owner, self._clock.now())
        if self._path is None or self._is_known(owner):
            with self._person(owner) as person, _unlocked(), person.file.writing() as connection:
                removed = dump.make_room(connection, owner, replace=replace)
                _put(connection, owner, rows, removed)
        else:
            self._load_newcomer(owner, rows)

    def teams(self) -> list[Tenant]:
        with self._system.reading() as connection:
            known = system_tables.entered(connection)
        return [one for one in known if self._knows_something(one)]

    @contextlib.contextmanager
    def dump_team(self, tenant: Tenant) -> Iterator[Iterator[Row]]:
        if not self._is_known(tenant):
            yield iter(())
            return
        with self._team(tenant) as team, team.file.reading() as connection:
            yield dump.team_rows(connection, tenant)

    def load_team(self, tenant: Tenant, rows: Iterable[Row], *, replace: bool = False) -> int:
        with self._changing(tenant) as connection:
            return dump.put_team(connection, tenant, rows, replace=replace)

    @contextlib.contextmanager
    def dump_system(self) -> Iterator[Iterator[Row]]:
        with self._system.reading() as connection:
            yield dump.system_rows(connection)

    def load_system(self, rows: Iterable[Row]) -> None:
        with self._system.writing() as connection:
            dump.put_system(connection, rows)

    def setting(self, tenant: Tenant, key: str) -> Json:
        with self._system.reading() as connection:
            return system_tables.setting(connection, tenant, key)

    def change_setting(self, tenant: Tenant, key: str, change: Callable[[Json], Json]) -> None:
        with self._system.writing() as connection:
            system_tables.change_setting(connection, tenant, key, change, self._clock.now())

    def remove(self, owner: Owner) -> None:
        if self._is_known(owner):
            with self._person(owner) as person, _unlocked(), person.file.writing():
                if person.file.is_in_place():
                    person.file.vanish()
        self._drop(_name(owner))
        if self._path is not None:
            files.clear_away(self._file(_name(owner)))
        with self._system.writing() as connection:
            system_tables.remove(connection, owner)

    def erasures(self) -> list[Erasure]:
        with self._system.reading() as connection:
            return system_tables.erasures(connection)

    def keep_erasure(self, erasure: Erasure) -> None:
        with self._system.writing() as connection:
            system_tables.keep_erasure(connection, erasure)

    def scrub(self) -> tuple[str, ...]:
        self.let_go()
        kept = [] if self._system.scrub() else ["the system's"]
        with self._system.reading() as connection:
            tenants = system_tables.entered(connection)
        for tenant in filter(self._is_known, tenants):  # also one that knows nothing any more
            with self._team(tenant) as team:
                kept += [] if team.file.scrub() else [f"that of the team {tenant.name}"]
        return tuple(f"Someone is reading a file, {which}." for which in kept)

    def search(self, owner: Owner | None, traces: Traces) -> list[Searched]:
        return [] if self._path is None else trace_scan.files(self._path, traces)

    def let_go(self) -> bool:
        with self._lock:
            gone = [name for name, one in self._opened.items() if not one.file.is_in_place()]
        for name in gone:
            self._drop(name)
        return bool(gone)

    def add_key(self, key: Key, digest: str) -> None:
        with self._system.writing() as connection:
            system_tables.add_key(connection, key, digest, self._clock.now())

    def key(self, digest: str) -> Key | None:
        with self._system.reading() as connection:
            return system_tables.key(connection, digest)

    def list_keys(self, owner: Owner | None = None) -> list[Key]:
        with self._system.reading() as connection:
            return system_tables.keys(connection, owner)

    def drop_keys(self, before: datetime) -> int:
        with self._system.writing() as connection:
            return system_tables.drop_keys(connection, before)

    def revoke_key(self, key_id: str, at: datetime) -> None:
        with self._system.writing() as connection:
            system_tables.revoke_key(connection, key_id, at)

    def drop_key(self, key_id: str) -> bool:
        with self._system.writing() as connection:
            return system_tables.drop_key(connection, key_id)

    def note_use(self, key_id: str, at: datetime) -> None:
        with self._system.writing() as connection:
            system_tables.note_use(connection, key_id, at)

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
            opened = [one.file for one in self._opened.values()]
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
            for one in self._opened.values():
                one.file.close()
            self._opened.clear()
            if "_system" in self.__dict__:
                self._system.close()

    @functools.cached_property
    def _system(self) -> File:
        """The small tables; most calls never need them."""
        return self._open("system", "system")

    @contextlib.contextmanager
    def _changing(self, tenant: Tenant) -> Iterator[Connection]:
        """The only writer of a team, who is entered first, so that no file is without a name."""
        with _unlocked():
            if tenant not in self._entered:
                with self._system.writing() as connection:
                    system_tables.enter(connection, tenant, self._clock.now())
                self._entered.add(tenant)
            with self._team(tenant) as team, team.file.writing() as connection:
                yield connection

    def _knows_something(self, tenant: Tenant) -> bool:
        if not self._is_known(tenant):
            return False
        with self._team(tenant) as team, team.file.reading() as connection:
            return dump.team_facts(connection, tenant) > 0

    def _person(self, owner: Owner) -> AbstractContextManager[_Opened]:
        return self._using("personal", _name(owner))

    def _team(self, tenant: Tenant) -> AbstractContextManager[_Opened]:
        return self._using("team", _name(tenant))

    @contextlib.contextmanager
    def _using(self, family: str, name: str) -> Iterator[_Opened]:
        """A file, kept open while it is used; the least recently used are closed."""
        with self._lock:
            opened = self._opened.get(name)
            if opened is None or not opened.file.is_in_place():
                # Whoever still uses a file that is gone closes the last of it.
                self._forsake(opened)
                opened = _Opened(self._open(family, name))
                self._opened[name] = opened
            self._opened.move_to_end(name)
            opened.users += 1
        try:
            yield opened
        finally:
            with self._lock:
                opened.users -= 1
                self._close_spare()

    def _drop(self, name: str) -> None:
        with self._lock:
            self._forsake(self._opened.pop(name, None))

    @staticmethod
    def _forsake(opened: _Opened | None) -> None:
        if opened is not None:
            opened.indexes.clear()
            opened.file.close()

    def _close_spare(self) -> None:
        if self._path is None:
            return
        spare = len(self._opened) - self._limit
        idle = [name for name, opened in self._opened.items() if opened.users == 0]
        for name in idle[: max(spare, 0)]:
            self._opened.pop(name).file.close()

    def _is_known(self, whose: Owner | Tenant) -> bool:
        name = _name(whose)
        return name in self._opened if self._path is None else self._file(name).exists()

    def _welcome(self, owner: Owner) -> None:
        """Enter a newcomer before their file is made, so that no file is without a name."""
        with self._newcomer:
            if not self._is_known(owner):
                with self._system.writing() as connection:
                    system_tables.register(connection, owner, self._clock.now())
                with self._person(owner):
                    return

    def _load_newcomer(self, owner: Owner, rows: Iterable[Row]) -> None:
        path = self._file(_name(owner))
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
                if files.erasing(path).exists():
                    raise Conflict("This memory is being erased; erase it again to finish that.")
                files.create(family, path)
            return File(family, path, self._busy_seconds)
        except OSError as error:
            raise _unusable(path.parent, error) from error
        except DatabaseError as error:
            raise StoreUnavailable(
                f"{path} cannot be read as a memory; put back a backup of it."
            ) from error


class _Opened:
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


def _name(whose: Owner | Tenant) -> str:
    """Where a person's or a team's file is."""
    return f"{'teams' if isinstance(whose, Tenant) else 'people'}/{whose.id}"


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
    row = system_tables.owner_row(owner, clock.now())
    connection.execute(insert(tables.owners).values(row).on_conflict_do_nothing())
