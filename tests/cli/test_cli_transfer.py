"""Backup, restoring and moving from the shell."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_backup_is_made_checked_and_restored_by_one_command_each(
    rem: Run, ask: Run, process: Run, tmp_path: Path
) -> None:
    rem("remember", "Ada prefers tea")
    file = str(tmp_path / "memories.zip")

    said = rem("backup", file)
    checked = rem("backup", "--verify", file)
    elsewhere = str(tmp_path / "elsewhere")
    restored = process("restore-backup", file, "--store", elsewhere)
    again = process("restore-backup", file, "--store", elsewhere)
    found = process("list", "--store", elsewhere)

    assert said.stdout.startswith("Written and checked: 1 person, 8 rows, ")
    assert f"{file}, made 2 Mar 2026, 13:00" in said.stdout
    assert checked.stdout.startswith("Sound: 1 person, 8 rows, ")
    assert restored.stdout == "1 person was restored, 6 rows.\n"
    assert again.stdout == "1 person had the same memories there already.\n"
    assert "Ada prefers tea" in found.stdout
    for told in (said, checked, restored, again):
        assert told.stderr == "", "no bar without a terminal"


def test_without_a_name_it_is_named_after_the_time(
    ask: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = ask("backup")
    assert made["path"] == str(tmp_path / "remembrancer-20260302T120000Z.zip")
    assert made["created_at"] == "2026-03-02T12:00:00+00:00"
    assert made["bytes"] == os.stat(made["path"]).st_size


def test_what_is_wrong_with_a_file_is_said(rem: Run, ask: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_text("not a zip")
    assert "is not a backup, or it is damaged" in rem("backup", "--verify", str(bad), code=2).stderr
    assert "Give one file" in rem("backup", "a.zip", "--verify", str(bad), code=2).stderr
    assert ask("restore-backup", str(bad), code=2)["error"]["code"] == "bad_backup"


def test_moving_tells_how_many_and_replaces_only_when_asked(
    rem: Run, ask: Run, process: Run, tmp_path: Path
) -> None:
    rem("remember", "Ada prefers tea")
    place = str(tmp_path / "place")

    assert rem("move", place).stdout == "1 person was copied, 6 rows.\n"
    assert rem("move", place).stdout == "1 person had the same memories there already.\n"
    process("remember", "I prefer coffee", "--store", place)
    assert "so nothing was changed" in rem("move", place, code=4).stderr
    assert ask("move", place, "--replace") == {
        "people": 1,
        "teams": 0,
        "team_facts": 0,
        "rows": 6,
        "present": 0,
        "teams_present": 0,
        "erased": 0,
    }
