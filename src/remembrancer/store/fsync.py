"""Flushes files and directories to disk."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from remembrancer.environment import create_private_directory

CANNOT_SYNC = (errno.EACCES, errno.EINVAL, errno.ENOTSUP)
"""Directories that cannot be read, and file systems that cannot sync one; SQLite skips them too."""


def fsync_path(path: Path) -> None:
    """Flush a file, or the entries of a directory, to disk; a directory not on Windows."""
    is_directory = path.is_dir()
    if is_directory and sys.platform == "win32":
        return
    try:
        descriptor = os.open(path, os.O_RDONLY if is_directory else os.O_RDWR)
        try:
            _fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if not (is_directory and error.errno in CANNOT_SYNC):
            raise


def make_directories(path: Path) -> None:
    """Create a directory that only its owner can read, with those above it, and flush their names.

    Existing ones keep their mode.
    """
    missing = [one for one in (path, *path.parents) if not one.exists()]
    create_private_directory(path)
    for one in reversed(missing):
        fsync_path(one.parent)


def _fsync(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # There fsync leaves data in the cache of the drive.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)
