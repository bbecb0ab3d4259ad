"""Whatever is written can be read by its owner alone, whatever the umask."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import remembrancer
from remembrancer.access.login_links import ServerStart
from remembrancer.cli.app import app
from remembrancer.config import Settings
from remembrancer.integrations.hooks import seen_memories
from remembrancer.server import run
from tests.support.http_server import served

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")

Rem = Callable[..., str]


@pytest.fixture
def careless() -> Iterator[None]:
    """A person whose umask lets everyone read and write their files."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def rem(tmp_path: Path, careless: None) -> Rem:
    def call(*args: str, input: str | None = None) -> str:
        line = ["--store", str(tmp_path / "store"), *args]
        done = CliRunner().invoke(app, line, input=input, catch_exceptions=False)
        assert done.exit_code == 0, (args, done.output)
        return done.stdout

    return call


def open_to_others(folder: Path) -> list[str]:
    """What others could read or write."""
    return [
        f"{stat.S_IMODE(path.lstat().st_mode):o} {path.relative_to(folder)}"
        for path in sorted(folder.rglob("*"))
        if path.lstat().st_mode & 0o077
    ]


def test_no_command_writes_anything_that_others_can_read(rem: Rem, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir(mode=0o700)
    rem("remember", "Ada drinks tea.")
    rem("remember", "--kind", "episode", "The tea was cold, so Ada made a new pot of it.")
    rem("recall", "tea")
    rem("append", "-", "--session", "monday", input="user: My sister plays the cello.\n")
    rem("learn", "-", input="user: I live in Bergen.\n")
    rem("close", "monday")
    rem("key-create", "--label", "laptop")
    rem("consolidate", "--save", str(made / "plan.json"))
    rem("simulate", "--plot", str(made / "forecast.svg"))
    rem("export", str(made / "export.jsonl"))
    rem("backup", str(made / "all.zip"))
    rem("jobs", "run", "backup")
    rem("import", str(made / "export.jsonl"), "--user", "carol")
    rem("remember", "Bob rows on the lake.", "--user", "bob")
    rem("erase", "bob", "--yes", "--receipt", str(made / "receipt.json"))
    rem("doctor")
    assert len(list(made.iterdir())) == 5
    assert open_to_others(tmp_path) == []


def test_no_running_server_writes_anything_that_others_can_read(
    tmp_path: Path, careless: None
) -> None:
    place = tmp_path / "store"
    settings = Settings.model_validate({"store": {"path": place}})
    with remembrancer.open(settings=settings) as store, served(store) as running:
        run.publish_local_key(store, 1, ServerStart.new())
        ada = running.of("ada")
        for number in range(3):
            body = {"content": f"Ada drinks tea number {number}."}
            assert ada.post("/api/remember", json=body).is_success
        assert running.of("ada", capabilities=["users:edit"]).post("/api/backup").is_success
        store.tick()
        assert any(path.suffix == ".json" for path in place.iterdir())
        assert open_to_others(tmp_path) == []


def test_no_integration_writes_anything_that_others_can_read(
    tmp_path: Path, careless: None
) -> None:
    from remembrancer.integrations.hooks.hook import _log_error
    from remembrancer.integrations.hooks.store_session import _lock_state
    from remembrancer.integrations.langgraph import open_saver

    folder = tmp_path / "hooks"
    seen_memories.save_seen(folder / "seen.json", ["fact_1"])
    _log_error({"store": str(folder)}, "It failed.")
    with _lock_state(folder / "state.json") as state:
        state["told"] = 1
    with open_saver(tmp_path / "threads.db") as saver:
        saver.setup()  # type: ignore[attr-defined]
        assert open_to_others(tmp_path) == []
    assert json.loads((folder / "seen.json").read_text()) == ["fact_1"]
