"""Notices a write-ahead log that was deleted after a crash, by what is left of its index.

A process that closes any handle of a file loses all its POSIX locks on that file, SQLite's too. So
a handle of an index stays open for as long as this process uses the file.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from remembrancer.errors import StoreDamaged

WAL_INDEX_BYTES = 100
"""The part of a log's index that holds the number of its pages, and of those moved to the file."""


@dataclass(slots=True)
class _Use:
    """How many use a file in this process, and the handles to close after the last of them."""

    users: int = 0
    handles: list[int] = field(default_factory=list)


_uses: dict[str, _Use] = {}
_lock = threading.Lock()


@contextlib.contextmanager
def use_file(path: Path) -> Iterator[None]:
    """Enclose all connections to a file; raises StoreDamaged if its log was lost.

    The index of the log, which SQLite deletes first, then still says how many pages it had.
    """
    key = os.path.realpath(path)
    with _lock:
        use = _uses.setdefault(key, _Use())
        use.users += 1
    try:
        with _lock:
            _refuse_lost_log(path, use)
        yield
    finally:
        with _lock:
            use.users -= 1
            if not use.users:
                del _uses[key]
                for handle in use.handles:
                    os.close(handle)


def _refuse_lost_log(path: Path, use: _Use) -> None:
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    try:
        head = b"" if log.exists() else _read_head(index, use)
    except OSError:
        return
    if len(head) < WAL_INDEX_BYTES or log.exists():
        return
    is_valid, (pages, checkpointed) = head[12] == 1, struct.unpack("=16xI76xI", head)
    if is_valid and pages > checkpointed:
        raise StoreDamaged(
            f"The latest changes of {path} were in {log.name}, which was deleted. Put it back; to "
            f"go on without those changes, delete {index}."
        )


def _read_head(index: Path, use: _Use) -> bytes:
    handle = os.open(index, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    use.handles.append(handle)
    return os.read(handle, WAL_INDEX_BYTES)
