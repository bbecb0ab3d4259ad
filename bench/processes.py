"""Starts a system's process and talks to it; knows neither questions nor metrics."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.peers import python_with
from bench.systems import Entry

ROOT = Path(__file__).parent.parent
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "ORT_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
}
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")


class Failed(Exception):
    """The system could not go on; the message says why and names no place."""


class Process:
    """A running system: ask it, get its answer."""

    def __init__(
        self,
        entry: Entry,
        place: str,
        home: str,
        worker: str = "bench.systems.worker",
        under: Sequence[str] = (),
    ) -> None:
        python = python_with(*entry.packages) if entry.packages else Path(sys.executable)
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            [*under, python, "-m", worker, entry.name, place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            cwd=home,
            env=_environment(home),
        )
        self.versions: Mapping[str, str] = {}

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.send(request)
        return self.receive()

    def send(self, request: Mapping[str, Any]) -> None:
        """Ask without waiting for the answer."""
        assert self._process.stdin
        with suppress(BrokenPipeError):  # what it said before it died is still to be read
            print(json.dumps(request, default=str), file=self._process.stdin, flush=True)

    def kill(self) -> None:
        """End it at once, without a chance to tidy up."""
        self._process.kill()
        self._process.wait()

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": self._last_words()}
        if "error" in answer:
            raise Failed(without_places(answer["error"]))
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._log.seek(0)
        lines = self._log.read().strip().splitlines()
        return lines[-1] if lines else f"it ended with status {self._process.returncode}"

    def __enter__(self) -> Self:
        try:
            self.versions = self.receive()["versions"]
        except Failed:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()


@contextmanager
def running(entry: Entry, engine: str) -> Iterator[Process]:
    """The system with an empty store and a home directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        with place(entry, engine, home) as where, Process(entry, where, home) as process:
            yield process


def without_places(message: str) -> str:
    """A message without addresses, paths and line breaks."""
    bare = re.sub(r"\w+://[^\s'\"]+", "<address>", " ".join(message.split()))
    return re.sub(r"(?<![\w<])/[\w.@-]+(?:/[\w.@-]+)+", "<path>", bare)[:500]


@contextmanager
def place(entry: Entry, engine: str, home: str) -> Iterator[str]:
    """Where a system stores: its home, or for us a server of its own."""
    if entry.name != "ours" or engine == "sqlite":
        yield home
        return
    from tests.support.postgres import start_postgres

    server = start_postgres(tempfile.mkdtemp(prefix="bench-postgres-"))
    try:
        server.psql("CREATE DATABASE memory")
        yield server.get_uri("memory")
    finally:
        server.cleanup()


def _environment(home: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**kept, **QUIET, "HOME": home, "PYTHONPATH": str(ROOT)}
