"""Erasing from the shell: a dry run, a question, a receipt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_dry_run_counts_and_an_erasure_leaves_a_receipt(
    rem: Run, ask: Run, tmp_path: Path
) -> None:
    rem("--user", "ada", "remember", "Ada prefers tea")
    rem("--user", "bob", "remember", "Bob prefers coffee")
    file = tmp_path / "receipt.json"

    there = rem("erase", "ada", "--dry-run").stdout
    assert "There is of ada:" in there
    assert "1 facts" in there
    assert "Ada prefers tea" in rem("--user", "ada", "list").stdout

    said = rem("erase", "ada", "--yes", "--receipt", str(file))
    assert "Nothing is left." in said.stdout
    assert "Removing memories" in said.stderr
    assert json.loads(file.read_text())["user"] == "ada"
    assert rem("verify-receipt", str(file)).stdout.startswith("Genuine: ada of ")
    assert ask("--user", "ada", "list")["items"] == []
    assert "Bob prefers coffee" in rem("--user", "bob", "list").stdout

    file.write_text(file.read_text().replace('"ada"', '"bob"'))
    assert "someone has changed it" in rem("verify-receipt", str(file), code=1).stdout


@pytest.mark.feature("A2")
def test_everything_is_forgotten_in_the_terminal_and_the_keys_stay(rem: Run, ask: Run) -> None:
    rem("--user", "ada", "key-create")
    rem("--user", "ada", "remember", "All my cats are black")

    assert "names all memories" in rem("--user", "ada", "forget", "all", code=2).stderr
    said = rem("--user", "ada", "chat", input="forget everything about me\nyes\n").stdout

    assert "1 memory" in said
    assert "I have forgotten everything about you" in said
    assert ask("--user", "ada", "list")["items"] == []
    rem("--user", "ada", "remember", "Ada prefers tea")
    assert "Nothing is left." in rem("erase", "ada", "--keep-account", "--yes").stdout
    assert ask("--user", "ada", "list")["items"] == []
    assert len(ask("--user", "ada", "key-list")) == 1


def test_it_asks_first_and_says_what_is_wrong(rem: Run, ask: Run, tmp_path: Path) -> None:
    rem("--user", "ada", "remember", "Ada prefers tea")
    assert "Pass --yes" in rem("erase", "ada", code=2).stderr
    assert "is unknown" in rem("erase", "nobody", "--yes", code=3).stderr
    assert rem("erase", "nobody", "--dry-run").stdout == "There is nothing of nobody here.\n"
    there = tmp_path / "there.json"
    there.write_text("{}")
    assert "exists" in rem("erase", "ada", "--yes", "--receipt", str(there), code=2).stderr
    assert "not an erasure receipt" in rem("verify-receipt", str(there), code=2).stderr
    assert "no such file" in rem("verify-receipt", str(tmp_path / "no.json"), code=2).stderr
    assert ask("--user", "ada", "list")["items"][0]["content"] == "Ada prefers tea"
