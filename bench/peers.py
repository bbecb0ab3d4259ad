"""Peers live in environments of their own, made by the benchmark that needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from platformdirs import user_cache_path


def python_with(*packages: str) -> Path:
    """An interpreter that has these packages, in a virtual environment kept between runs."""
    name = "-".join(package.replace("=", "").replace("[", "-").rstrip("]") for package in packages)
    home = user_cache_path("remembrancer") / "bench" / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(install, check=True)
        (home / "ready").touch()
    return python
