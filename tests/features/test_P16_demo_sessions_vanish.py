"""P16: demo sessions live in memory and vanish."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import remembrancer
from tests.assistant.talk import chat_of, say

REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]


@pytest.mark.parametrize(
    "command", [["tour", "--fast"], ["--store", ":memory:", "chat"]], ids=["tour", "chat"]
)
def test_P16_nothing_is_written_to_disk(command: list[str], tmp_path: Path) -> None:
    places = {"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "HOME": "home", "TMPDIR": "tmp"}
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "PYTHONPATH": str(Path(remembrancer.__file__).parents[1])}
    env |= {name: str(tmp_path / place) for name, place in places.items()}

    done = subprocess.run(
        [*REM, *command],
        input="Remember that I like tea.\nWhat do you remember about me?\n",
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_P16_a_chat_in_memory_remembers_until_it_is_closed() -> None:
    with remembrancer.open(":memory:", profile="advisor") as store:
        say(chat_of(store), "Remember that I like tea.")
        assert "tea" in say(chat_of(store), "What do you remember about me?").text

    with remembrancer.open(":memory:", profile="advisor") as store:
        assert "nothing" in say(chat_of(store), "What do you remember about me?").text
