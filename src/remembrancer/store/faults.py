"""Translates errors of files and of SQLite into ours, with what happened, where, and what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sqlite3
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from remembrancer.errors import (
    RemembrancerError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
OUT_OF_HANDLES = frozenset({errno.EMFILE, errno.ENFILE})

BUSY_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
DAMAGED_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
DISK_CODES = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})
"""Codes behind which there can be a full disk, a missing permission or a limit on handles."""

MISSING_SCHEMA = ("no such table", "no such column", "malformed")
"""What SQLite says of our own statements if the definition of a table is damaged."""

VALUE_ERRORS = (ValueError, LookupError, TypeError, AttributeError, OverflowError, EOFError)
DECODERS = (
    "store/",
    "search/index.py",
    "search/postings.py",
    "search/vectors.py",
    "transfer/ndjson.py",
)
"""Where values that were stored are decoded."""

PURE_MODULES = frozenset({"ids.py", "types.py", "clock.py", "decay.py"})
"""Called with values from a row; whoever calls them is to blame."""

HANDLES_PER_CONNECTION = 3
"""The file, its log and the index of the log."""

PROBE_BYTES = 1024 * 1024
"""More than most changes need."""

PACKAGE = Path(__file__).parents[1]
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


class OutOfHandles(StoreBusy):
    """The process has as many files open as it may."""


@contextlib.contextmanager
def translate_errors(path: Path | None) -> Iterator[None]:
    """Translate what SQLite raises about the file at `path`, or in memory if it is None."""
    try:
        yield
    except RemembrancerError:
        raise
    except Exception as error:
        if (found := translate_error(error, path)) is None:
            raise
        raise found from error


@contextlib.contextmanager
def translate_file_errors(path: Path) -> Iterator[None]:
    """Translate what the operating system says about the file or directory at `path`."""
    try:
        yield
    except OSError as error:
        raise translate_os_error(path, error) from error


def translate_error(error: Exception, path: Path | None) -> StoreUnavailable | None:
    """Our error for one of SQLite, or None if the file is not to blame."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return _translate_sqlite_error(original, path)
    if not isinstance(error, VALUE_ERRORS):
        return None
    if path is not None and not is_intact(path):
        return damaged_error(path)
    return _unreadable_error(path) if _was_decoding(error) else None


def translate_os_error(path: Path, error: OSError) -> StoreUnavailable:
    if error.errno in OUT_OF_HANDLES:
        return OutOfHandles(
            f"Too many files are open, so {path} cannot be opened. Try again, or raise the limit "
            "on open files (ulimit -n)."
        )
    if error.errno in FULL:
        return StoreFull(
            f"No space is left to write {path}. Nothing was stored. Free some space and try again."
        )
    if error.errno in READ_ONLY:
        return StoreReadOnly(
            f"{path} cannot be used: {error.strerror}. Give the user of this process the "
            "permission, or choose another directory with --store or store.path."
        )
    return StoreUnavailable(
        f"{path} cannot be used: {error.strerror}. "
        "Choose another directory with --store or store.path."
    )


def find_limit(error: Exception) -> StoreUnavailable | None:
    """Our error if the process or the disk has reached a limit, outside of any file of ours."""
    number = error.errno if isinstance(error, OSError) else None
    if number in OUT_OF_HANDLES:
        return OutOfHandles("Too many files and connections are open. Try again.")
    if number in FULL:
        return StoreFull("No space is left on the disk. Free some space, then look what was done.")
    return None


def os_error_type(error: OSError) -> type[StoreUnavailable]:
    """The class of error for a file that is not the store's own, such as a backup."""
    if error.errno in FULL:
        return StoreFull
    if error.errno in READ_ONLY:
        return StoreReadOnly
    return StoreBusy if error.errno in OUT_OF_HANDLES else StoreUnavailable


def damaged_error(path: Path | None) -> StoreDamaged:
    return StoreDamaged(
        f"{path or 'The memory'} is damaged or not a memory. Keep a copy of the file, look at "
        "`rem doctor`, then restore the file from a backup. Other people's files are not affected."
    )


def _unreadable_error(path: Path | None) -> StoreDamaged:
    """For a file whose structure is sound: that a value is damaged is likely, but not certain."""
    return StoreDamaged(
        f"{path or 'The memory'} holds a value that cannot be read. Run `rem doctor`: if it names "
        "the file, keep a copy of it and restore it from a backup; if not, report this error."
    )


def probe_write(directory: Path) -> None:
    """Write and remove a small file; raises OSError if the directory takes no more."""
    path = directory / f".probe.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            if os.write(descriptor, _random_bytes()) < PROBE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def is_intact(path: Path) -> bool:
    """True if SQLite finds nothing wrong with the structure of a file."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            found: list[tuple[str]] = connection.execute("PRAGMA integrity_check(1)").fetchall()
            return found == [("ok",)]
    except UnicodeDecodeError:  # Python cannot read what SQLite says about it
        return False
    except sqlite3.DatabaseError as error:
        return _primary_code(error) in BUSY_CODES | DISK_CODES


@cache
def _random_bytes() -> bytes:
    """A file system can store zeros without space."""
    return os.urandom(PROBE_BYTES)


def find_disk_fault(path: Path) -> StoreUnavailable | None:
    """What the operating system says about writing a file and its directory.

    The file itself is not opened: closing it would release the locks that SQLite has on it.
    """
    if not path.exists():
        return StoreUnavailable(f"{path.name} was just erased. Try again.")
    handles = []
    try:
        for _ in range(HANDLES_PER_CONNECTION):
            handles.append(os.open(path.parent, os.O_RDONLY))
        if not os.access(path, os.R_OK | os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        probe_write(path.parent)
    except OSError as error:
        return translate_os_error(path, error)
    finally:
        for handle in handles:
            os.close(handle)
    return None


def _translate_sqlite_error(error: sqlite3.Error, path: Path | None) -> StoreUnavailable | None:
    code, place = _primary_code(error), path or "The memory"
    if code == sqlite3.SQLITE_FULL:
        return translate_os_error(Path(place), OSError(errno.ENOSPC, "full"))
    if code in BUSY_CODES:
        return StoreBusy("Another process has held the write lock for too long. Try again.")
    if code == sqlite3.SQLITE_NOMEM:
        return StoreBusy(f"No memory is left to work on {place}. Try again.")
    if code in DAMAGED_CODES or str(error).startswith(("Could not decode", *MISSING_SCHEMA)):
        return damaged_error(path)
    if code in DISK_CODES and path is not None:
        return find_disk_fault(path) or _disk_error(code, error, path)
    if path is not None and isinstance(error, sqlite3.DatabaseError) and not is_intact(path):
        return damaged_error(path)
    return None


def _disk_error(code: int, error: sqlite3.Error, path: Path) -> StoreUnavailable:
    if code == sqlite3.SQLITE_CANTOPEN:  # a handle was missing that is there again
        return OutOfHandles(f"{path} could not be opened this time. Try again.")
    return StoreUnavailable(
        f"The disk failed to read or write {path} ({error.sqlite_errorname}). The change was not "
        "confirmed. Check the disk, then try again."
    )


def _primary_code(error: sqlite3.Error) -> int:
    """The code without the bits that refine it; 0 if the error is not from SQLite itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _was_decoding(error: Exception) -> bool:
    """True if the error arose while values that were stored were decoded."""
    frames = traceback.extract_tb(error.__traceback__)
    paths = [Path(one.filename) for one in frames]
    names = [_name_module(one) for one in paths if not _is_library(one)]
    callers = [one for one in names if one not in PURE_MODULES]
    return bool(callers) and callers[-1].startswith(DECODERS)


def _name_module(path: Path) -> str:
    return (path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path).as_posix()


def _is_library(path: Path) -> bool:
    is_installed = any(path.is_relative_to(one) for one in LIBRARIES)
    return is_installed and not path.is_relative_to(PACKAGE)
