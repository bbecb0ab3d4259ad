"""Flushes files and directories to disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def fsync_path(path: Path) -> None:
    """Flush a file, or the entries of a directory, to disk; does nothing on Windows."""
    is_directory = path.is_dir()
    if is_directory and sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY if is_directory else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
