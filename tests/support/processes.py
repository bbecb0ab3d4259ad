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
        "remembrancer.client",
        "remembrancer.engine",
        "remembrancer.factory",
        "remembrancer.search.index",
        "tests.conformance.test_migrations",
        "tests.conformance.test_upgrades",
        "tests.faults.test_concurrency",
        "tests.faults.test_damaged_files",
        "tests.faults.test_erasure_killed",
        "tests.faults.test_file_handles",
        "tests.faults.test_import_killed",
        "tests.faults.test_killed",
        "tests.faults.test_learned_once",
    ]
)


def rem(
    *args: str, env: Mapping[str, str], cwd: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `rem …` to its end."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "in")
        said.write_text(stdin, encoding="utf-8")
        streams = [said, Path(folder, "out"), Path(folder, "err")]
        child = forked.Process(target=_rem, args=(args, dict(env), cwd, streams))
        child.start()
        child.join(120)
        assert child.exitcode is not None, "it takes too long"
        told, complained = (path.read_text("utf-8") for path in streams[1:])
    return subprocess.CompletedProcess(args, child.exitcode, told, complained)


def _rem(args: list[str], env: dict[str, str], cwd: Path, streams: list[Path]) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.argv = ["rem", *args]
    from remembrancer.cli import main

    main()
