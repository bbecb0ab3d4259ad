"""Looks from another process whether this one has a POSIX lock on a byte of a file."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.processes import forked

INDEX_IN_USE = 128
"""The byte of a log's index that every connection of SQLite locks for as long as it is open."""

FILE_IN_USE = 0x40000002
"""The byte of a file with a log that every connection of SQLite locks for as long as it is open."""


def is_locked(path: Path, byte: int) -> bool:
    child = forked.Process(target=_exit_with_lock, args=(path, byte))
    child.start()
    child.join(60)
    assert child.exitcode in (0, 1)
    return bool(child.exitcode == 0)


def _exit_with_lock(path: Path, byte: int) -> None:
    import fcntl

    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except OSError:
            os._exit(0)
    os._exit(1)
