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
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool, Pool, QueuePool, StaticPool
from sqlalchemy.util import LRUCache

from remembrancer.environment import open_private
from remembrancer.errors import (
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from remembrancer.store import schema, tables
from remembrancer.store.commit_groups import CommitGroups
from remembrancer.store.faults import (
    OutOfHandles,
    damaged_error,
    find_disk_fault,
    translate_error,
    translate_errors,
)
from remembrancer.store.fsync import fsync_path, make_directories
from remembrancer.store.lost_log import use_file

CHECKPOINT_BYTES = 4 * 1024 * 1024
"""The size of the write-ahead log from which it is checkpointed."""

POOL_SIZE = 4
"""The number of connections that a file keeps."""

MAX_IDLE_HANDLES = 2 * POOL_SIZE + 1
"""The handles of these connections: each has the file and its log open, all share the index."""

MAX_HANDLE_WAIT_SECONDS = 5.0
"""How long a call waits for a file handle when the process has none left."""

PURGED_LOG_TIMEOUT = 2.0
"""The seconds to wait for readers that hold a log with purged words."""

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
        self._checkpoint_timeout: float | None = None
        self.release_handles: Callable[[], None] | None = None
        self.engine = _make_engine(path, options)
        self._forget_failed = after_failure
        self._writes = CommitGroups(
            self._connect,
            is_shared=path is not None and options.is_durable,
            after_commit=self._checkpoint_if_due,
            after_failure=self._clean_up_failure,
        )
        self._use = contextlib.ExitStack()
        try:
            if path is not None:
                self._use.enter_context(use_file(path))
            current = self._is_current()
        except BaseException:
            self._dispose()
            raise
        # The inode is not reused while the pool holds the file open.
        self._inode = _get_inode(path)
        if not current:
            with self.begin_write(alone=True) as connection:
                schema.ensure_current(connection, family)

    def _is_current(self) -> bool:
        with self.begin_read() as connection:
            if self.path is not None and schema.read_revision(connection) is None:
                raise damaged_error(self.path)  # empty, or of another product
            return schema.is_current(connection, self.path.name if self.path else "memory")

    @contextlib.contextmanager
    def begin_read(self) -> Iterator[Connection]:
        """Begin a snapshot; it neither waits for writers nor blocks them."""
        with self._writes.exclude() if self._serializes_reads else contextlib.nullcontext():
            with self._connect() as connection, _watch_lone_file(connection, self.path):
                with connection.begin():
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

    def _connect(self) -> Connection:
        """A connection of the pool; if no handle is left, wait until others have closed theirs."""
        until = time.monotonic() + MAX_HANDLE_WAIT_SECONDS
        while True:
            try:
                return self.engine.connect()
            except OperationalError as error:
                release, found = self.release_handles, translate_error(error, self.path)
                if release is None or not isinstance(found, OutOfHandles):
                    raise
                if time.monotonic() > until:
                    raise
            release()

    def checkpoint_after_write(self) -> None:
        """Empty the log when the write that is under way has ended: it has pages of before.

        If a reader holds the log for longer, every later write tries again.
        """
        self._checkpoint_timeout = PURGED_LOG_TIMEOUT

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
            return self._empty_log(timeout_seconds)

    def _empty_log(self, timeout_seconds: float) -> bool:
        """Checkpoint until the log is empty. False if a reader still holds it."""
        until = time.monotonic() + timeout_seconds
        self.checkpoint()
        while self._measure_log():
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
            self.checkpoint()
        return True

    def _measure_log(self) -> int:
        """The size of the write-ahead log in bytes."""
        if self.path is None or not self._log_path.exists():
            return 0
        return self._log_path.stat().st_size

    def close(self) -> None:
        """Close every connection; the last one to close empties the log."""
        with self._writes.exclude():
            self._dispose()

    def _dispose(self) -> None:
        self.engine.dispose()
        self._use.close()

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
        """Checkpoint after a commit, which no failure here can undo: a later write tries again."""
        with contextlib.suppress(OSError, sqlite3.Error):
            if self._checkpoint_timeout is not None:
                emptied = self._empty_log(self._checkpoint_timeout)
                self._checkpoint_timeout = None if emptied else 0
            elif self._measure_log() > CHECKPOINT_BYTES:
                self.checkpoint()

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


def check_file(path: Path) -> None:
    """Raise StoreDamaged if anything is wrong with the structure of a file."""
    with (
        use_file(path),
        translate_errors(path),
        contextlib.closing(_connect(path, 1)) as connection,
    ):
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise damaged_error(path)
        revision = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
        if connection.execute(revision).fetchone() is None:
            raise damaged_error(path)


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
    return QueuePool(creator, pool_size=POOL_SIZE, max_overflow=-1, dialect=dialect)


def _build_engine(pool: Pool, options: FileOptions) -> Engine:
    dialect, compiled = _load_dialect()
    url, defaults = make_url("sqlite://"), {"compiled_cache": compiled}
    engine = Engine(pool, dialect, url, hide_parameters=True, execution_options=defaults)
    event.listen(engine, "connect", partial(_configure, options))
    event.listen(engine, "begin", partial(_begin, options))
    event.listen(engine, "checkin", _discard_lone_file)
    return engine


@cache
def _load_dialect() -> tuple[Dialect, LRUCache[Any, Any]]:
    """The dialect and the cache of compiled statements, shared by all files."""
    engine = create_engine("sqlite://", poolclass=NullPool)
    with engine.connect():  # the dialect detects SQLite's features here
        return engine.dialect, LRUCache(MAX_CACHED_STATEMENTS)


class _LoneFile(sqlite3.Connection):
    """Reads a file without its log and without locks, where neither can be opened for writing."""


def _connect(path: Path | None, lock_timeout_seconds: float) -> sqlite3.Connection:
    """Connect to an existing file only, so that an erased one is not created again."""
    if path is None:
        return sqlite3.connect(":memory:", check_same_thread=False)
    try:
        return _open_handles(path, "mode=rw", lock_timeout_seconds)
    except sqlite3.OperationalError as error:
        if not path.exists():
            raise StoreUnavailable(f"{path.name} was just erased. Try again.") from error
        if not isinstance(find_disk_fault(path), StoreFull | StoreReadOnly) or _has_log(path):
            raise
        # On a full or read-only disk there can be no log. The file alone has everything then.
        return _open_handles(path, "mode=ro&immutable=1", lock_timeout_seconds, _LoneFile)


def _open_handles(
    path: Path,
    options: str,
    lock_timeout_seconds: float,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
) -> sqlite3.Connection:
    """Connect, and open the log at once, so that no handle is missing in mid-transaction."""
    address = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(
        address, lock_timeout_seconds, check_same_thread=False, factory=factory, uri=True
    )
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _watch_lone_file(connection: Connection, path: Path | None) -> Iterator[None]:
    """Refuse what was read from a lone file that changed meanwhile."""
    raw: Any = connection.connection.driver_connection
    if path is None or not isinstance(raw, _LoneFile):
        yield
        return
    before = path.stat()
    yield
    after = path.stat()
    if _has_log(path) or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise StoreBusy(f"Another process is writing {path}. Try again.")


def _discard_lone_file(raw: Any, record: Any) -> None:
    """Do not use it again: the disk can be writable next time."""
    if isinstance(raw, _LoneFile):
        record.invalidate()


def _has_log(path: Path) -> bool:
    """True if a log beside the file has changes, or could have: it cannot be looked at."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


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
    with open(lock_path, "a", opener=open_private) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        # A lock file that was removed meanwhile locks nothing.
        yield _get_inode(lock_path) == os.fstat(handle.fileno()).st_ino
