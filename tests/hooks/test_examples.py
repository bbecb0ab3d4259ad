"""The examples do what they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.hooks.sessions import Session
from tests.support.processes import rem

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_any_program_with_a_memory(tmp_path: Path) -> None:
    folder = EXAMPLES / "run"
    shown = re.findall(r"^\$ (rem .*)$", (folder / "README.md").read_text("utf-8"), re.M)
    done = [rem(*shlex.split(line)[1:], env=Session(tmp_path).env, cwd=folder) for line in shown]

    assert [one.returncode for one in done] == [0, 0, 0]
    assert "I was told: The shop is deployed on Thursdays." in done[1].stdout
    assert "Ran `python3 agent.py" in done[2].stdout
