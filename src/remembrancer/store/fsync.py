"""Making sure that what was written is on the disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def fsync_path(path: Path) -> None:
    """Wait until a file is on the disk, or the names in a directory (Windows does so itself)."""
    is_directory = path.is_dir()
    if is_directory and sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY if is_directory else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
