"""SQLite engine: a directory with one file per person, so that no query can reach others' rows."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, bindparam, func, select
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import Conflict, StoreClosed, StoreUnavailable, UnknownPerson
from remembrancer.store import dump, faults, scan_process, sqlite_file, system_tables, tables
from remembrancer.store.columns import JsonValue
from remembrancer.store.contract import (
    DumpRow,
    Embedding,
    Health,
    Hit,
    Reader,
    ScanResult,
    TraceTerms,
    Writer,
)
from remembrancer.store.fsync import make_directories
from remembrancer.store.index_cache import IndexCache
from remembrancer.store.sqlite_file import FileOptions, SqliteFile
from remembrancer.store.system_tables import SystemTables
from remembrancer.store.team import PRIVATE_TABLES, SqlTeamReader, SqlTeamWriter
from remembrancer.store.team_contract import TeamReader, TeamWriter
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Owner, Tenant

SAFE_CHECKPOINT_VERSION = (3, 51, 3)


CPU_SLOTS = threading.BoundedSemaphore(os.cpu_count() or 1)
"""SQLite releases the interpreter at every row, and threads that compete for it there get a third
less done. The measurements are in docs/benchmarks.md."""


class SqliteStore:
    """Memories in files under a directory, or in memory if `path` is None."""

    def __init__(
        self,
        path: Path | None,
        *,
        clock: Clock | None = None,
        max_open_files: int = 64,
        lock_timeout_seconds: float = 30,
        is_durable: bool = True,
    ) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._max_open_files = min(max_open_files, _count_affordable_files())
        self._options = FileOptions(lock_timeout_seconds, is_durable)
        self._lock = threading.Lock()
        self._is_closed = False
        self._open_files: OrderedDict[str, _OpenFile] = OrderedDict()
        self._known_tenants: set[Tenant] = set()
        self._registration_lock = threading.Lock()
        self._empty_engine = sqlite_file.make_empty_engine()
        self.system = SystemTables(self._begin_system_read, self._begin_system_write, self._clock)
        if path is not None:
            _make_private(path)

    @contextlib.contextmanager
    def open_reader(self, owner: Owner) -> Iterator[Reader]:
        self._refuse_closed()
        if not self._has_file(owner):
            with self._empty_engine.begin() as connection:
                yield SqliteTransaction(connection, owner.id, IndexCache(max_vectors=sys.maxsize))
            return
        with self._use_person(owner) as person, person.file.begin_read() as connection:
            yield SqliteTransaction(connection, owner.id, person.indexes)

    @contextlib.contextmanager
    def open_writer(
        self, owner: Owner, *, create: bool = True, alone: bool = False, durable: bool = True
    ) -> Iterator[Writer]:
        while True:
            if create:
                self._ensure_registered(owner)
            elif not self._has_file(owner):
                raise UnknownPerson(f"{owner.user} of {owner.tenant} has no memories here.")
            beginning = self._begin_person_write(owner, alone=alone, durable=durable)
            with beginning as (person, connection):
                if person.file.is_in_place():
                    row = system_tables.build_owner_row(owner, self._clock.now())
                    system_tables.insert_missing(connection, tables.owners, row)
                    transaction = SqliteTransaction(connection, owner.id, person.indexes)
                    yield transaction
                    if transaction.has_removed_words:
                        person.file.checkpoint_after_write()
                    return
            # The owner was erased while this waited for the lock.

    @contextlib.contextmanager
    def open_team_reader(self, tenant: Tenant) -> Iterator[TeamReader]:
        with self._use_team(tenant) as team, team.file.begin_read() as connection:
            raw: Any = connection.connection.driver_connection
            raw.set_authorizer(_deny_contributors)
            try:
                yield SqlTeamReader(connection, tenant.id)
            finally:
                raw.set_authorizer(None)

    @contextlib.contextmanager
    def open_team_writer(self, tenant: Tenant, *, durable: bool = True) -> Iterator[TeamWriter]:
        with self._begin_team_write(tenant, durable=durable) as connection:
            yield SqlTeamWriter(connection, tenant.id)

    def cpu_slot(self) -> AbstractContextManager[object]:
        return CPU_SLOTS

    @contextlib.contextmanager
    def dump(self, owner: Owner) -> Iterator[Iterator[DumpRow]]:
        if not self._has_file(owner):
            yield iter(())
            return
        with self._use_person(owner) as person, person.file.begin_read() as connection:
            yield dump.personal_rows(connection, owner)

    def load(self, owner: Owner, rows: Iterable[DumpRow], *, replace: bool = False) -> None:
        self.system.register_owner(owner, is_restored=True)
        if self._path is None or self._has_file(owner):
            with self._begin_person_write(owner, alone=True) as (_, connection):
                removed = dump.clear_person(connection, owner, replace=replace)
                dump.load_person(connection, owner, rows, removed=removed)
        else:
            self._load_new_owner(owner, rows)

    def list_teams(self) -> list[Tenant]:
        return [one for one in self.system.list_tenants() if self._has_team_facts(one)]

    @contextlib.contextmanager
    def dump_team(self, tenant: Tenant) -> Iterator[Iterator[DumpRow]]:
        if not self._has_file(tenant):
            yield iter(())
            return
        with self._use_team(tenant) as team, team.file.begin_read() as connection:
            yield dump.team_rows(connection, tenant)

    def load_team(self, tenant: Tenant, rows: Iterable[DumpRow], *, replace: bool = False) -> int:
        with self._begin_team_write(tenant, alone=True) as connection:
            return dump.load_team(connection, tenant, rows, replace=replace)

    @contextlib.contextmanager
    def dump_system(self) -> Iterator[Iterator[DumpRow]]:
        with self._begin_system_read() as connection:
            yield dump.system_rows(connection)

    def load_system(self, rows: Iterable[DumpRow]) -> None:
        with self._begin_system_write(alone=True) as connection:
            dump.load_system(connection, rows)

    def delete_owner(self, owner: Owner, *, keep_account: bool = False) -> None:
        if self._has_file(owner):
            with self._begin_person_write(owner, alone=True) as (person, _):
                if person.file.is_in_place():
                    with faults.translate_file_errors(person.file.path or Path()):
                        person.file.detach()
        self._evict(_file_stem(owner))
        if self._path is not None:
            path = self._file_path(_file_stem(owner))
            with faults.translate_file_errors(path):
                sqlite_file.remove_leftovers(path)
        if not keep_account:
            self.system.delete_owner(owner)

    def scrub(self, owners: Sequence[Owner] = ()) -> tuple[str, ...]:
        self.evict_erased()
        with faults.translate_errors(self._system_file.path):
            kept = [] if self._system_file.scrub() else ["the system file"]
        for tenant in filter(self._has_file, self.system.list_tenants()):  # even without facts
            with self._use_team(tenant) as team:
                kept += [] if team.file.scrub() else [f"the file of team {tenant.name}"]
        for owner in filter(self._has_file, owners):
            with self._use_person(owner) as person:
                kept += [] if person.file.scrub() else [f"the file of {owner.user}"]
        return tuple(f"A reader still uses {which}." for which in kept)

    def scrub_deleted(self) -> tuple[str, ...]:
        return ()

    def scan_traces(self, owner: Owner | None, traces: TraceTerms) -> list[ScanResult]:
        return [] if self._path is None else scan_process.scan_files(self._path, traces)

    def evict_erased(self) -> bool:
        with self._lock:
            gone = [name for name, one in self._open_files.items() if not one.file.is_in_place()]
        for name in gone:
            self._evict(name)
        return bool(gone)

    def tidy(self) -> int:
        """Checkpoint the write-ahead log of every open file."""
        with self._lock:
            opened = [one.file for one in self._open_files.values()]
        for file in (self._system_file, *opened):
            with faults.translate_errors(file.path):
                file.checkpoint()
        return 1 + len(opened)

    def check_health(self) -> Health:
        version = sqlite3.sqlite_version_info
        warnings = []
        if version < SAFE_CHECKPOINT_VERSION:
            warnings.append(
                f"SQLite {sqlite3.sqlite_version} can corrupt a file if two connections checkpoint "
                "at once. Remembrancer uses only one. SQLite 3.51.3 has the fix."
            )
        people = len(self.system.list_owners())
        place = str(self._path) if self._path else "memory"
        details = {"sqlite": sqlite3.sqlite_version, "people": str(people)}
        return Health("sqlite", place, details, tuple(warnings))

    def check_writable(self) -> None:
        self.system.list_tenants()
        if self._path is not None:
            fault = faults.find_disk_fault(self._file_path("system"))
            if fault is not None:
                raise fault

    def find_damage(self) -> list[str]:
        if self._path is None:
            return []
        paths = sorted(path for path in self._path.glob("**/*.db"))
        checks = [partial(sqlite_file.check_file, path) for path in paths]
        checks += [partial(self._read_all, owner) for owner in self.system.list_owners()]
        found: dict[str, None] = {}
        for check in checks:
            try:
                check()
            except StoreUnavailable as error:
                found[str(error)] = None
        return list(found)

    def _read_all(self, owner: Owner) -> None:
        with self.dump(owner) as rows:
            for _ in rows:
                pass

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for one in self._open_files.values():
                self._dispose(one)
            self._open_files.clear()
            self._empty_engine.dispose()
            if "_system_file" in self.__dict__:
                self._system_file.close()

    @functools.cached_property
    def _system_file(self) -> SqliteFile:
        """Opened on first use; most calls never need it."""
        return self._open_file("system", "system")

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise StoreClosed

    @contextlib.contextmanager
    def _begin_system_read(self) -> Iterator[Connection]:
        self._refuse_closed()
        file = self._system_file
        with faults.translate_errors(file.path), file.begin_read() as connection:
            yield connection

    @contextlib.contextmanager
    def _begin_system_write(self, **options: bool) -> Iterator[Connection]:
        self._refuse_closed()
        file = self._system_file
        with faults.translate_errors(file.path), file.begin_write(**options) as connection:
            yield connection

    @contextlib.contextmanager
    def _begin_person_write(
        self, owner: Owner, **options: bool
    ) -> Iterator[tuple[_OpenFile, Connection]]:
        with self._use_person(owner) as person, person.file.begin_write(**options) as connection:
            yield person, connection

    @contextlib.contextmanager
    def _begin_team_write(self, tenant: Tenant, **options: bool) -> Iterator[Connection]:
        """Lock a team for writing; its tenant is registered first, so that no file lacks a name."""
        if tenant not in self._known_tenants:
            self.system.register_tenant(tenant)
            self._known_tenants.add(tenant)
        with self._use_team(tenant) as team, team.file.begin_write(**options) as connection:
            yield connection

    def _has_team_facts(self, tenant: Tenant) -> bool:
        if not self._has_file(tenant):
            return False
        with self._use_team(tenant) as team, team.file.begin_read() as connection:
            return dump.count_team_facts(connection, tenant) > 0

    def _use_person(self, owner: Owner) -> AbstractContextManager[_OpenFile]:
        return self._use_file("personal", _file_stem(owner))

    def _use_team(self, tenant: Tenant) -> AbstractContextManager[_OpenFile]:
        return self._use_file("team", _file_stem(tenant))

    @contextlib.contextmanager
    def _use_file(self, family: str, name: str) -> Iterator[_OpenFile]:
        """Open a file while it is used; the least recently used files are closed."""
        opened = self._acquire_file(family, name)
        try:
            with faults.translate_errors(opened.file.path):
                yield opened
        finally:
            with self._lock:
                opened.users -= 1
                if opened.is_evicted and opened.users == 0:
                    opened.file.close()
                self._close_idle()

    def _acquire_file(self, family: str, name: str) -> _OpenFile:
        """Open a file; if no handle is left, wait until others have done with theirs."""
        until = time.monotonic() + sqlite_file.MAX_HANDLE_WAIT_SECONDS
        while True:
            try:
                with self._lock:
                    return self._find_or_open(family, name)
            except faults.OutOfHandles:
                if time.monotonic() > until:
                    raise
            self._release_handles()

    def _release_handles(self) -> None:
        """Close every file that no one uses, and give others a moment to be done with theirs."""
        with self._lock:
            self._close_idle(keep=0)
        time.sleep(0.01)

    def _find_or_open(self, family: str, name: str) -> _OpenFile:
        self._refuse_closed()
        opened = self._open_files.get(name)
        if opened is None or not opened.file.is_in_place():
            self._dispose(opened)
            indexes = IndexCache(max_vectors=sys.maxsize)
            opened = _OpenFile(self._open_file(family, name, indexes.invalidate), indexes)
            self._open_files[name] = opened
        self._open_files.move_to_end(name)
        opened.users += 1
        return opened

    def _evict(self, name: str) -> None:
        with self._lock:
            self._dispose(self._open_files.pop(name, None))

    @staticmethod
    def _dispose(opened: _OpenFile | None) -> None:
        """Close a file once no one uses it: a connection that is returned later stays open."""
        if opened is None:
            return
        opened.indexes.clear()
        opened.is_evicted = True
        if opened.users == 0:
            opened.file.close()

    def _close_idle(self, keep: int | None = None) -> None:
        """Close the least recently used files beyond the number to keep."""
        if self._path is None:
            return
        spare = len(self._open_files) - (self._max_open_files if keep is None else keep)
        idle = [name for name, opened in self._open_files.items() if opened.users == 0]
        for name in idle[: max(spare, 0)]:
            self._open_files.pop(name).file.close()

    def _has_file(self, owner_or_tenant: Owner | Tenant) -> bool:
        name = _file_stem(owner_or_tenant)
        return name in self._open_files if self._path is None else self._file_path(name).exists()

    def _ensure_registered(self, owner: Owner) -> None:
        """Register a new owner before creating their file, so that no file lacks a name."""
        with self._registration_lock:
            if not self._has_file(owner):
                self.system.register_owner(owner)
                with self._use_person(owner):
                    return

    def _load_new_owner(self, owner: Owner, rows: Iterable[DumpRow]) -> None:
        path = self._file_path(_file_stem(owner))
        with faults.translate_file_errors(path), faults.translate_errors(path):
            try:
                with sqlite_file.build_file("personal", path, self._options) as draft:
                    dump.load_person(draft, owner, rows)
            except FileExistsError as error:
                raise Conflict(
                    f"Another process is writing memories of {owner.user} of {owner.tenant}. "
                    "Try again."
                ) from error

    def _file_path(self, name: str) -> Path:
        assert self._path is not None
        return self._path / f"{name}.db"

    def _open_file(
        self, family: str, name: str, after_failure: Callable[[], None] = lambda: None
    ) -> SqliteFile:
        if self._path is None:
            return SqliteFile(family, None, self._options)
        path = self._file_path(name)
        with faults.translate_file_errors(path), faults.translate_errors(path):
            if not path.exists():
                if sqlite_file.erasing_path(path).exists():
                    raise Conflict("This memory is being erased. Erase it again to finish.")
                sqlite_file.create_file(family, path)
            file = SqliteFile(family, path, self._options, after_failure)
        file.release_handles = self._release_handles
        return file


class _OpenFile:
    """An open file, its indexes, and the number of transactions that use it."""

    def __init__(self, file: SqliteFile, indexes: IndexCache) -> None:
        self.file = file
        self.indexes = indexes
        self.users = 0
        self.is_evicted = False


class SqliteTransaction(SqlTransaction):
    """Keeps all vectors of a person in memory, so none is outside the index."""

    dialect = SQLiteDialect_pysqlite()

    def nearest_outside_index(self, query: Embedding) -> list[Hit]:
        return []

    def _fetch_vectors(self, statement: Select[Any]) -> Iterator[Any]:
        return iter(self._connection.execute(statement))

    @staticmethod
    def is_among_ids(table: FromClause) -> ColumnElement[bool]:
        each = func.json_each(bindparam("ids", [], JsonValue())).table_valued("value")
        return table.c.id.in_(select(each.c.value))

    @staticmethod
    def has_tag(table: FromClause, tag: str) -> ColumnElement[bool]:
        each = func.json_each(table.c.tags).table_valued("value")
        return select(1).select_from(each).where(each.c.value == tag).exists()


def _file_stem(owner_or_tenant: Owner | Tenant) -> str:
    """The path of a person's or a team's file, without its suffix."""
    return f"{'teams' if isinstance(owner_or_tenant, Tenant) else 'people'}/{owner_or_tenant.id}"


def _count_affordable_files() -> int:
    """The number of files that may stay open with half of the handles that the process may have."""
    try:
        import resource
    except ImportError:  # Windows, which limits them otherwise
        return sys.maxsize
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(1, limit // 2 // sqlite_file.MAX_IDLE_HANDLES)


def _deny_contributors(action: int, table: str | None, *_: object) -> int:
    """SQLite authorizer that denies reads of the tables with contributors."""
    refused = action == sqlite3.SQLITE_READ and table in PRIVATE_TABLES
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _make_private(path: Path) -> None:
    with faults.translate_file_errors(path):
        make_directories(path)
