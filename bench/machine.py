"""What a reader must know of the machine to judge the numbers; nothing that says whose it is."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("remembrancer", "numpy", "onnxruntime", "tokenizers", "sqlalchemy")


def facts() -> dict[str, object]:
    """Cores, memory and versions."""
    return {
        "cores": _cores(),
        "memory_gb": _memory(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> float | None:
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return None
    kilobytes = int(meminfo.read_text().split("MemTotal:")[1].split()[0])
    return round(kilobytes * 1024 / 1e9, 1)
