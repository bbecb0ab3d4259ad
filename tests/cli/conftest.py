"""Commands run in this process on a store that vanishes, or as real processes on a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from remembrancer.cli.app import app
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.store.open import open_store

Rem = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[str]"]

SCRIPT = Path(sys.executable).with_name("rem")


@pytest.fixture
def shelf(clock: ManualClock, embedder: CachedEmbedder) -> Iterator[Remembrancer]:
    """A store in memory, in Berlin's time zone."""
    settings = Settings(time_zone="Europe/Berlin")
    store = open_store(settings, clock, in_memory=True)
    with Remembrancer(settings, store, embedder, clock) as opened:
        yield opened


@pytest.fixture
def rem(shelf: Remembrancer) -> Rem:
    """Run `rem …` on the store in memory; an exception that is not ours fails the test."""

    def run(*args: str, input: str | bytes | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(app, args, input=input, obj=shelf, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def ask(rem: Rem) -> Callable[..., Any]:
    """Run `rem --json …` and return the one document it printed."""

    def run(*args: str, **options: Any) -> Any:
        return json.loads(rem("--json", *args, **options).stdout)

    return run


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a person who has just installed it."""
    places = {"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "HOME": "."}
    return {**os.environ} | {name: str(tmp_path / place) for name, place in places.items()}


@pytest.fixture
def process(home: dict[str, str]) -> Process:
    """Run the installed `rem` as a process of its own."""

    def run(
        *args: str, code: int = 0, env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(SCRIPT), *args],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=home | (env or {}),
            timeout=120,
            check=False,
            **options,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, (done.stdout, done.stderr)
        return done

    return run
