"""Processes of their own for tests, begun in milliseconds: what they import is loaded once."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

forked = multiprocessing.get_context("forkserver")
forked.set_forkserver_preload(
    [
        "sqlalchemy.dialects.postgresql.psycopg",
        "remembrancer.cli.app",
        "remembrancer.engine",
        "remembrancer.opening",
        "remembrancer.search.index",
        "tests.conformance.test_migrations",
        "tests.faults.test_concurrency",
        "tests.faults.test_erasure_killed",
        "tests.faults.test_import_killed",
        "tests.faults.test_killed",
        "tests.faults.test_learned_once",
    ]
)


def rem(*args: str, env: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `rem …` to its end, with nothing to read."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, "out"), Path(folder, "err")]
        child = forked.Process(target=_rem, args=(args, dict(env), cwd, streams))
        child.start()
        child.join(120)
        assert child.exitcode is not None, "it takes too long"
        told, complained = (path.read_text("utf-8") for path in streams)
    return subprocess.CompletedProcess(args, child.exitcode, told, complained)


def _rem(args: list[str], env: dict[str, str], cwd: Path, streams: list[Path]) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    sys.argv = ["rem", *args]
    from remembrancer.cli import main

    main()
