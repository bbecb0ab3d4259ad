"""Fetches the published tests of the installed versions, and runs them on both engines."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.postgres import start_postgres

SUITES = {
    "langgraph-checkpoint": ("test_store.py",),
    "langgraph-checkpoint-sqlite": ("test_store.py", "test_async_store.py", "test_ttl.py"),
}
PYTEST_PLUGINS = ("pytest-asyncio>=1.4", "pytest-mock>=3.15")
CACHE = Path(sys.prefix) / "langgraph-suite"
"""In the virtual environment, which git ignores."""


def main() -> int:
    plugins = install_pytest_plugins()
    folders = [fetch_tests(package) for package in SUITES]
    with tempfile.TemporaryDirectory() as data:
        server = start_postgres(data)
        try:
            codes = [
                run_tests(folder, files, plugins, place)
                for place in ("", str(server.get_uri()))
                for folder, files in zip(folders, SUITES.values(), strict=True)
            ]
        finally:
            server.cleanup()
    return max(codes)


def install_pytest_plugins() -> Path:
    """Install what only these tests need apart from our own environment."""
    folder = CACHE / "plugins"
    if not folder.exists():
        run_pip("install", "--no-deps", "--target", str(folder), *PYTEST_PLUGINS)
    return folder


def fetch_tests(package: str) -> Path:
    """Return the folder with the source of a package, in the version that is installed."""
    name = f"{package.replace('-', '_')}-{version(package)}"
    if not (CACHE / name).exists():
        requirement = f"{package}=={version(package)}"
        source_only = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation")
        run_pip("download", *source_only, "--dest", str(CACHE), requirement)
        with tarfile.open(CACHE / f"{name}.tar.gz") as archive:
            archive.extractall(CACHE, filter="data")
    return CACHE / name


def run_tests(folder: Path, files: tuple[str, ...], plugins: Path, place: str) -> int:
    engine = "PostgreSQL" if place else "SQLite"
    print(f"{folder.name} on {engine}", flush=True)
    sources = filter(None, [os.environ.get("PYTHONPATH")])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parent, plugins, *sources))),
        "REM_SUITE_PLACE": place,
    }
    paths = [f"tests/{file}" for file in files]
    settings = ("asyncio_mode=auto", "markers=flaky")
    options = ["-p", "store_swap", "-q"]
    options += [part for one in settings for part in ("-o", one)]
    command = [sys.executable, "-m", "pytest", *options, *paths, *sys.argv[1:]]

    def run(*more: str) -> int:
        return subprocess.run(
            [*command, *more], cwd=folder, env=environment, check=False
        ).returncode

    with tempfile.TemporaryDirectory() as cache:
        remembered = ("-o", f"cache_dir={cache}")
        code = run(*remembered)
        if code != pytest.ExitCode.TESTS_FAILED:
            return code
        # A TTL of one second can run out between two lines of a test on a loaded machine.
        print("Once more, what failed", flush=True)
        return run(*remembered, "--last-failed")


def run_pip(*arguments: str) -> None:
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", *arguments, *quiet], check=True)


if __name__ == "__main__":
    raise SystemExit(main())
