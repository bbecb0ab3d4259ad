"""Creates, opens, configures and checkpoints SQLite files."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, Pool, QueuePool, StaticPool
from sqlalchemy.util import LRUCache

from remembrancer.errors import StoreUnavailable
from remembrancer.store import schema, tables
from remembrancer.store.commit_groups import CommitGroups
from remembrancer.store.fsync import fsync_path, make_directories

CHECKPOINT_BYTES = 4 * 1024 * 1024
"""The size of the write-ahead log from which it is checkpointed."""

MAX_CACHED_STATEMENTS = 1000
"""The number of compiled statements kept for all files together."""


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are opened; those that are not durable are synced only now and then."""

    lock_timeout_seconds: float = 30
    is_durable: bool = True


class SqliteFile:
    """An open SQLite file (in memory if `path` is None): a pool and the turns of its writers.

    `after_failure` is called when a transaction fails whose rows other writers may have read.
    """

    def __init__(
        self,
        family: str,
        path: Path | None,
        options: FileOptions,
        after_failure: Callable[[], None] = lambda: None,
    ) -> None:
        self.path = path
        self._serializes_reads = path is None
        self._lock_timeout_ms = int(options.lock_timeout_seconds * 1000)
        self._gone = False
        self._is_checkpoint_due = False
        self.engine = _make_engine(path, options)
        self._forget_failed = after_failure
        self._writes = CommitGroups(
            self.engine,
            is_shared=path is not None and options.is_durable,
            after_commit=self._checkpoint_if_due,
            after_failure=self._clean_up_failure,
        )
        with self.begin_read() as connection:
            current = schema.read_revision(connection) == schema.HEAD
        # The inode is not reused while the pool holds the file open.
        self._inode = _get_inode(path)
        if not current:
            with self.begin_write(alone=True) as connection:
                schema.ensure_current(connection, family)

    @contextlib.contextmanager
    def begin_read(self) -> Iterator[Connection]:
        """Begin a snapshot; it neither waits for writers nor blocks them."""
        with self._writes.exclude() if self._serializes_reads else contextlib.nullcontext():
            with self.engine.connect() as connection, connection.begin():
                yield connection

    def begin_write(
        self, *, alone: bool = False, durable: bool = True
    ) -> AbstractContextManager[Connection]:
        """Begin the only write transaction: threads take turns, and the file's lock excludes other
        processes.

        It may be shared with other threads, unless it is to be `alone`. One that need not be
        `durable` can be lost in a power cut.
        """
        return self._writes.begin(alone=alone, durable=durable)

    def checkpoint_after_write(self) -> None:
        """Checkpoint when the write that is under way has ended: the log has pages of before."""
        self._is_checkpoint_due = True

    def is_in_place(self) -> bool:
        """False if the path now leads to another file, or to none: the file was erased."""
        return not self._gone and _get_inode(self.path) == self._inode

    def detach(self) -> None:
        """Rename the file so that no one can open it; call this while holding the write lock."""
        self._gone = True
        if self.path is not None:
            os.replace(self.path, erasing_path(self.path))
            fsync_path(self.path.parent)

    def scrub(self, timeout_seconds: float = 30) -> bool:
        """Vacuum the file and empty its log. False if a reader still holds the log."""
        if self.path is None:
            return True
        with self._writes.exclude():
            with contextlib.closing(self.engine.raw_connection()) as raw:
                raw.cursor().execute("VACUUM")
            log = self._log_path
            until = time.monotonic() + timeout_seconds
            while log.exists() and log.stat().st_size:
                self.checkpoint()
                if time.monotonic() > until:
                    return not log.stat().st_size
                time.sleep(0.02)
        return True

    def close(self) -> None:
        """Close every connection; the last one to close empties the log."""
        with self._writes.exclude():
            self.engine.dispose()

    def checkpoint(self) -> None:
        """Move the log into the file, unless another process is doing so.

        SQLite before 3.51.3 can corrupt a file when two connections checkpoint at once. So only
        this method checkpoints, under a lock that all processes share.
        """
        if self.path is None:
            return
        with _try_process_lock(self.path.with_suffix(".lock")) as alone:
            if alone:
                with contextlib.closing(self.engine.raw_connection()) as raw:
                    cursor = raw.cursor()
                    # Do not wait for readers that hold the log; a later checkpoint moves it.
                    cursor.execute("PRAGMA busy_timeout = 0")
                    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    cursor.execute(f"PRAGMA busy_timeout = {self._lock_timeout_ms}")
                # Or else a power cut could bring back what was in the log, such as erased words.
                with contextlib.suppress(FileNotFoundError):
                    fsync_path(self._log_path)

    @property
    def _log_path(self) -> Path:
        assert self.path is not None
        return self.path.with_name(f"{self.path.name}-wal")

    def _checkpoint_if_due(self) -> None:
        if self.path is not None:
            log = self._log_path
            is_long = log.exists() and log.stat().st_size > CHECKPOINT_BYTES
            if is_long or self._is_checkpoint_due:
                self.checkpoint()
        self._is_checkpoint_due = False

    def _clean_up_failure(self) -> None:
        """After a failed commit: overwrite what SQLite would find in the log after a crash.

        If only the sync failed, the log holds the whole transaction, beyond what counts. The next
        transaction is written over it; this one changes nothing.
        """
        self._forget_failed()
        with contextlib.suppress(sqlite3.Error, SQLAlchemyError):
            with contextlib.closing(self.engine.raw_connection()) as raw:
                cursor = raw.cursor()
                (version,) = cursor.execute("PRAGMA user_version").fetchone()
                cursor.execute(f"PRAGMA user_version = {version}")


def create_file(family: str, path: Path) -> None:
    """Create a file with the current schema, unless another process creates it first.

    It is built under another name, synced and linked, so no one ever sees half of it. Whoever sees
    it can also rely on the name of its directory, even if the process that made that was killed.
    """
    make_directories(path.parent)
    fsync_path(path.parent.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        draft.write_bytes(_blank_image(family))
        draft.chmod(0o600)
        fsync_path(draft)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    fsync_path(path.parent)


@contextlib.contextmanager
def build_file(family: str, path: Path, options: FileOptions) -> Iterator[Connection]:
    """Create a file with content; it appears under its name when the block is left.

    It is built in a directory beside it, under a lock that all processes share, so leftovers of a
    killed process can be removed. Raises FileExistsError if another process creates the file first.
    """
    make_directories(path.parent)
    beside = path.with_name(f".{path.name}.building")
    with _try_process_lock(path.with_suffix(".lock")) as alone:
        if not alone:
            raise FileExistsError(path)
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        try:
            draft = beside / path.name
            create_file(family, draft)
            file = SqliteFile(family, draft, options)
            try:
                with file.begin_write(alone=True) as connection:
                    yield connection
            finally:
                file.close()
            fsync_path(draft)
            os.link(draft, path)
            fsync_path(path.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def erasing_path(path: Path) -> Path:
    """The name of a file during its erasure, when no one can open it any more."""
    return path.with_name(f"{path.name}.erasing")


def remove_leftovers(path: Path) -> None:
    """Remove the files beside an erased file; last the one that prevents its re-creation."""
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
    """True if this Python's SQLite was built with FTS5."""
    with contextlib.closing(sqlite3.connect(":memory:")) as probe:
        options = [name for (name,) in probe.execute("PRAGMA compile_options")]
    return "ENABLE_FTS5" in options


def _blank_image(family: str) -> bytes:
    """An empty file of this family, built once per process."""
    with _blank_lock:
        if family not in _blanks:
            memory = sqlite3.connect(":memory:")
            file = SqliteFile(family, None, FileOptions(lock_timeout_seconds=1))
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
    """An engine whose connections each see the personal tables in memory, without rows.

    Connections share nothing, so readers need no lock.
    """
    dialect, _ = _load_dialect()
    return _build_engine(_make_pool(_connect_empty, dialect), FileOptions())


def _connect_empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.deserialize(_empty_image())
    return connection


@cache
def _empty_image() -> bytes:
    """Built from the table definitions, because importing Alembic takes long."""
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


def _make_engine(path: Path | None, options: FileOptions) -> Engine:
    dialect, _ = _load_dialect()
    creator: Any = partial(_connect, path, options.lock_timeout_seconds)
    if path is None:
        return _build_engine(StaticPool(creator, dialect=dialect), options)
    return _build_engine(_make_pool(creator, dialect), options)


def _make_pool(creator: Any, dialect: Dialect) -> Pool:
    return QueuePool(creator, pool_size=4, max_overflow=-1, dialect=dialect)


def _build_engine(pool: Pool, options: FileOptions) -> Engine:
    dialect, compiled = _load_dialect()
    url, defaults = make_url("sqlite://"), {"compiled_cache": compiled}
    engine = Engine(pool, dialect, url, hide_parameters=True, execution_options=defaults)
    event.listen(engine, "connect", partial(_configure, options))
    event.listen(engine, "begin", partial(_begin, options))
    return engine


@cache
def _load_dialect() -> tuple[Dialect, LRUCache[Any, Any]]:
    """The dialect and the cache of compiled statements, shared by all files."""
    engine = create_engine("sqlite://", poolclass=NullPool)
    with engine.connect():  # the dialect detects SQLite's features here
        return engine.dialect, LRUCache(MAX_CACHED_STATEMENTS)


def _connect(path: Path | None, lock_timeout_seconds: float) -> sqlite3.Connection:
    """Connect to an existing file only, so that an erased one is not created again."""
    if path is None:
        return sqlite3.connect(":memory:", check_same_thread=False)
    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        return sqlite3.connect(address, lock_timeout_seconds, check_same_thread=False, uri=True)
    except sqlite3.OperationalError as error:
        if path.exists():
            raise
        raise StoreUnavailable(f"{path.name} was just erased. Try again.") from error


def _get_inode(path: Path | None) -> int | None:
    try:
        return None if path is None else path.stat().st_ino
    except FileNotFoundError:
        return None


@cache
def _has_math_functions() -> bool:
    """True if SQLite has its own math functions, which are many times faster than Python's."""
    with contextlib.closing(sqlite3.connect(":memory:")) as trying:
        try:
            trying.execute("SELECT exp(1.0)")
        except sqlite3.OperationalError:
            return False
    return True


def _configure(options: FileOptions, raw: Any, _: Any) -> None:
    raw.isolation_level = None
    if not _has_math_functions():
        raw.create_function("exp", 1, math.exp, deterministic=True)
    for pragma in (
        "foreign_keys = ON",
        f"synchronous = {_sync_mode(options.is_durable)}",
        "fullfsync = ON",  # on macOS a plain sync leaves data in the cache of the drive
        "wal_autocheckpoint = 0",
        "secure_delete = ON",
        "temp_store = MEMORY",
    ):
        raw.execute(f"PRAGMA {pragma}")


def _sync_mode(is_durable: bool) -> str:
    """FULL syncs the log at every commit, NORMAL only before a checkpoint."""
    return "FULL" if is_durable else "NORMAL"


def _begin(options: FileOptions, connection: Connection) -> None:
    # Executed by the driver, because every recall begins here.
    raw: Any = connection.connection.driver_connection
    wanted = connection.get_execution_options()
    if not wanted.get("rem_immediate"):
        raw.execute("BEGIN")
        return
    if options.is_durable:
        raw.execute(f"PRAGMA synchronous = {_sync_mode(wanted['rem_durable'])}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextlib.contextmanager
def _try_process_lock(lock_path: Path) -> Iterator[bool]:
    """Try to take the lock without waiting; yields True if it was taken."""
    try:
        import fcntl
    except ImportError:  # Windows, where processes rarely share a file
        yield True
        return
    with lock_path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        # A lock file that was removed meanwhile locks nothing.
        yield _get_inode(lock_path) == os.fstat(handle.fileno()).st_ino
