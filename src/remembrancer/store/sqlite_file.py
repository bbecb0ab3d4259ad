"""SQLite files: how one is made, opened, configured and checkpointed."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.pool import NullPool, Pool, QueuePool, StaticPool
from sqlalchemy.util import LRUCache

from remembrancer.errors import StoreUnavailable
from remembrancer.store import schema, tables
from remembrancer.store.fsync import fsync_path

CHECKPOINT_BYTES = 4 * 1024 * 1024
"""How long the write-ahead log may grow before its pages are moved into the file."""

MAX_CACHED_STATEMENTS = 1000
"""How many compiled statements are kept, for all files together."""


class SqliteFile:
    """One open SQLite file (or memory, when `path` is None): a pool, and a lock for its writers."""

    def __init__(self, family: str, path: Path | None, lock_timeout_seconds: float) -> None:
        self.path = path
        self._serializes_reads = path is None
        self._lock = threading.RLock()
        self._lock_timeout_ms = int(lock_timeout_seconds * 1000)
        self._gone = False
        self.engine = _make_engine(path, lock_timeout_seconds)
        with self.begin_read() as connection:
            current = schema.read_revision(connection) == schema.HEAD
        # Its number is not given to another file as long as the pool holds this one open.
        self._inode = _get_inode(path)
        if not current:
            with self.begin_write() as connection:
                schema.ensure_current(connection, family)

    @contextlib.contextmanager
    def begin_read(self) -> Iterator[Connection]:
        """A snapshot: writers do not disturb it and it does not make them wait."""
        with self._lock if self._serializes_reads else contextlib.nullcontext():
            with self.engine.connect() as connection, connection.begin():
                yield connection

    @contextlib.contextmanager
    def begin_write(self) -> Iterator[Connection]:
        """The only writer, among this process's threads by a lock and beyond by the file's."""
        with self._lock:
            with self.engine.connect() as connection:
                immediate = connection.execution_options(rem_immediate=True)
                with immediate.begin():
                    yield immediate
            self._checkpoint_if_long()

    def is_in_place(self) -> bool:
        """Whether this is still the file that the path leads to: it may have been erased."""
        return not self._gone and _get_inode(self.path) == self._inode

    def detach(self) -> None:
        """Take the file out of everyone's reach; call it while nobody else can write."""
        self._gone = True
        if self.path is not None:
            os.replace(self.path, erasing_path(self.path))

    def scrub(self, timeout_seconds: float = 30) -> bool:
        """Write the file anew without what was deleted; False if a reader keeps the log."""
        if self.path is None:
            return True
        with self._lock:
            with contextlib.closing(self.engine.raw_connection()) as raw:
                raw.cursor().execute("VACUUM")
            log = self.path.with_name(self.path.name + "-wal")
            until = time.monotonic() + timeout_seconds
            while log.exists() and log.stat().st_size:
                self.checkpoint()
                if time.monotonic() > until:
                    return not log.stat().st_size
                time.sleep(0.02)
        return True

    def close(self) -> None:
        """Close every connection; the last one to leave the file empties its log."""
        with self._lock:
            self.engine.dispose()

    def checkpoint(self) -> None:
        """Move the log into the file, unless another process is doing so.

        SQLite before 3.51.3 can corrupt a file when two connections checkpoint at once, so this is
        the only place that does, and it holds a lock that all processes know.
        """
        if self.path is None:
            return
        with _try_process_lock(self.path.with_suffix(".lock")) as alone:
            if alone:
                with contextlib.closing(self.engine.raw_connection()) as raw:
                    cursor = raw.cursor()
                    cursor.execute(
                        "PRAGMA busy_timeout = 0"
                    )  # a reader may keep the log: later, then
                    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    cursor.execute(f"PRAGMA busy_timeout = {self._lock_timeout_ms}")

    def _checkpoint_if_long(self) -> None:
        if self.path is not None:
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size > CHECKPOINT_BYTES:
                self.checkpoint()


def create_file(family: str, path: Path) -> None:
    """Make a new file with the current schema, unless another process makes it first.

    It is built beside its place and linked into it, so nobody ever sees half of it.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        draft.write_bytes(_blank_image(family))
        draft.chmod(0o600)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def build_file(family: str, path: Path, lock_timeout_seconds: float) -> Iterator[Connection]:
    """Make a file that holds something from the start; it is in its place when the block is left.

    It is built beside its place under a lock that all processes know, so what a killed process left
    there is nobody's. Raises FileExistsError when another makes the file first.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.building")
    with _try_process_lock(path.with_suffix(".lock")) as alone:
        if not alone:
            raise FileExistsError(path)
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        try:
            draft = beside / path.name
            create_file(family, draft)
            file = SqliteFile(family, draft, lock_timeout_seconds)
            try:
                with file.begin_write() as connection:
                    yield connection
            finally:
                file.close()
            fsync_path(draft)
            os.link(draft, path)
            fsync_path(path.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def erasing_path(path: Path) -> Path:
    """What a file is called between the moment nobody can reach it and the one it is gone."""
    return path.with_name(f"{path.name}.erasing")


def remove_leftovers(path: Path) -> None:
    """Remove what is left of a file that vanished; last what keeps another from being made."""
    for beside in (*path.parent.glob(f"{path.name}-*"), *path.parent.glob(f".{path.name}.*")):
        if beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        else:
            beside.unlink(missing_ok=True)
    path.with_suffix(".lock").unlink(missing_ok=True)
    erasing_path(path).unlink(missing_ok=True)
    if path.parent.exists():
        fsync_path(path.parent)


def supports_full_text() -> bool:
    """Whether this Python's SQLite was built with FTS5."""
    with contextlib.closing(sqlite3.connect(":memory:")) as probe:
        options = [name for (name,) in probe.execute("PRAGMA compile_options")]
    return "ENABLE_FTS5" in options


def _blank_image(family: str) -> bytes:
    """A file of this family with nothing in it, made once per process."""
    with _blank_lock:
        if family not in _blanks:
            memory = sqlite3.connect(":memory:")
            file = SqliteFile(family, None, 1)
            raw = file.engine.raw_connection()
            raw.driver_connection.backup(memory)  # type: ignore[union-attr]
            raw.close()
            file.close()
            image = bytearray(memory.serialize())
            image[18:20] = b"\x02\x02"  # read and write version 2: write-ahead logging
            _blanks[family] = bytes(image)
        return _blanks[family]


_blanks: dict[str, bytes] = {}
_blank_lock = threading.Lock()


def make_empty_engine() -> Engine:
    """An engine whose connections each see the personal tables in memory, without a row.

    No connection shares anything with another, so readers need no lock.
    """
    dialect, _ = _load_dialect()
    return _build_engine(_make_pool(_connect_empty, dialect))


def _connect_empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.deserialize(_empty_image())
    return connection


@cache
def _empty_image() -> bytes:
    """The personal tables without rows; made without Alembic, whose import takes long."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    try:
        with engine.begin() as connection:
            tables.personal.create_all(connection)
        raw: Any = engine.raw_connection()
        with contextlib.closing(raw):
            image: bytes = raw.driver_connection.serialize()
        return image
    finally:
        engine.dispose()


def _make_engine(path: Path | None, lock_timeout_seconds: float) -> Engine:
    dialect, _ = _load_dialect()
    creator: Any = partial(_connect, path, lock_timeout_seconds)
    if path is None:
        return _build_engine(StaticPool(creator, dialect=dialect))
    return _build_engine(_make_pool(creator, dialect))


def _make_pool(creator: Any, dialect: Dialect) -> Pool:
    return QueuePool(creator, pool_size=4, max_overflow=-1, dialect=dialect)


def _build_engine(pool: Pool) -> Engine:
    dialect, compiled = _load_dialect()
    url, options = make_url("sqlite://"), {"compiled_cache": compiled}
    engine = Engine(pool, dialect, url, hide_parameters=True, execution_options=options)
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


@cache
def _load_dialect() -> tuple[Dialect, LRUCache[Any, Any]]:
    """How SQLite is spoken to, and the statements compiled so far: the same for every file."""
    engine = create_engine("sqlite://", poolclass=NullPool)
    with engine.connect():  # It finds out what this SQLite can do.
        return engine.dialect, LRUCache(MAX_CACHED_STATEMENTS)


def _connect(path: Path | None, lock_timeout_seconds: float) -> sqlite3.Connection:
    """A connection to a file that exists: one that was erased must not come back empty."""
    if path is None:
        return sqlite3.connect(":memory:", check_same_thread=False)
    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        return sqlite3.connect(address, lock_timeout_seconds, check_same_thread=False, uri=True)
    except sqlite3.OperationalError as error:
        if path.exists():
            raise
        raise StoreUnavailable(f"{path.name} was erased at this moment; try again.") from error


def _get_inode(path: Path | None) -> int | None:
    """The number of the file that a path leads to."""
    try:
        return None if path is None else path.stat().st_ino
    except FileNotFoundError:
        return None


@cache
def _has_math_functions() -> bool:
    """Whether this SQLite is built with functions of mathematics: its own are many times faster."""
    with contextlib.closing(sqlite3.connect(":memory:")) as trying:
        try:
            trying.execute("SELECT exp(1.0)")
        except sqlite3.OperationalError:
            return False
    return True


def _configure(raw: Any, _: Any) -> None:
    raw.isolation_level = None
    if not _has_math_functions():
        raw.create_function("exp", 1, math.exp, deterministic=True)
    for pragma in (
        "foreign_keys = ON",
        "synchronous = NORMAL",
        "wal_autocheckpoint = 0",
        "secure_delete = ON",
        "temp_store = MEMORY",
    ):
        raw.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get("rem_immediate"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        # Nothing to wait for and nothing to wrap: every recall begins here.
        raw: Any = connection.connection.driver_connection
        raw.execute("BEGIN")


@contextlib.contextmanager
def _try_process_lock(lock_path: Path) -> Iterator[bool]:
    """Whether this process got the lock; it does not wait for it."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where several processes rarely share a file
        yield True
        return
    with lock_path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        # A lock that was cleared away meanwhile is nobody's.
        yield _get_inode(lock_path) == os.fstat(handle.fileno()).st_ino
