"""Peers live in environments of their own, made by the benchmark that needs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from platformdirs import user_cache_path


class NotInstalled(Exception):
    """A peer's packages could not be installed; the message is the installer's last word."""


def python_with(*packages: str) -> Path:
    """An interpreter that has these packages, in a virtual environment kept between runs."""
    name = "-".join(re.sub(r"[^\w.-]+", "-", package).strip("-") for package in packages)
    home = user_cache_path("remembrancer") / "bench" / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        _run(sys.executable, "-m", "venv", "--upgrade-deps", str(home))
        _run(str(python), "-m", "pip", "install", "--disable-pip-version-check", *packages)
        (home / "ready").touch()
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise NotInstalled(said[-1])
