"""The help teaches, and every example in it is a command that exists."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest
from typer.main import get_command

from remembrancer import __version__
from remembrancer.cli.app import VERBS, RootGroup, app
from remembrancer.cli.options import split_root_options

Run = Callable[..., Any]

NAMES = [verb.__name__.rstrip("_").replace("_", "-") for verbs in VERBS.values() for verb in verbs]
PROMISED = (
    "remember append recall context get list update confirm forget forget-all restore delete "
    "delete-all undo link unlink history activity helpful harmful promote demote disable stats "
    "audit simulate jobs reembed backup restore-backup move import export doctor demo tour learn "
    "me rejected review consolidate sessions turns close rename archive delete-session "
    "restore-session propose team team-review team-approve team-reject team-reopen team-edit "
    "team-importance team-delete team-stats team-switch erase verify-receipt key-create key-list "
    "key-revoke share-instances serve login mcp chat telegram telegram-link install run"
).split()


def command() -> RootGroup:
    found = get_command(app)
    assert isinstance(found, RootGroup)
    return found


def test_the_verbs_are_those_promised() -> None:
    assert sorted(NAMES) == sorted(PROMISED)
    assert sorted(command().commands) == sorted(PROMISED)


def test_the_root_lists_every_verb_in_a_group(rem: Run) -> None:
    told = rem("--help").stdout
    for group in (
        "Writing:",
        "Reading:",
        "Learning:",
        "Changing your mind:",
        "Trusting rules:",
        "Team:",
        "Talking:",
        "Coding agents:",
        "Serving:",
        "Looking after it:",
    ):
        assert f"\n{group}\n" in told
    for name in NAMES:
        assert f"\n  {name} " in told
    for option in ("user", "tenant", "agent", "profile", "config", "store", "json", "version"):
        assert f"--{option}" in told
    assert "..." not in told.split("Writing:")[1], "no summary is cut off"
    assert rem().stdout == told, "rem alone shows its help"


@pytest.mark.parametrize("name", NAMES)
def test_each_verb_explains_itself(rem: Run, name: str) -> None:
    told = rem(name, "--help").stdout
    assert f"Usage: rem {name}" in told
    assert "  Example" in told
    assert f"    rem {name}" in told
    paragraph = told.split("\n\n")[2]
    assert len(paragraph.split()) > 5
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_example_parses(rem: Run, name: str) -> None:
    told = rem(*filter(None, [name]), "--help").stdout
    root = command()
    examples = [line.strip() for line in told.splitlines() if line.startswith("    rem ")]
    assert examples
    for example in examples:
        front, rest = split_root_options(shlex.split(example.partition(" < ")[0])[1:])
        root.make_context("rem", [*front, *rest])
        root.commands[rest[0]].make_context(rest[0], rest[1:])


def test_the_version_is_told(rem: Run, ask: Run) -> None:
    assert rem("--version").stdout == f"remembrancer {__version__}\n"
    assert ask("--version") == {"version": __version__}


def test_options_of_the_root_may_stand_anywhere() -> None:
    assert split_root_options(["recall", "x", "--json", "--user", "ada", "--limit", "2"]) == (
        ["--json", "--user", "ada"],
        ["recall", "x", "--limit", "2"],
    )
    assert split_root_options(["remember", "--store=/a", "--", "--json", "--user"]) == (
        ["--store=/a"],
        ["remember", "--", "--json", "--user"],
    )
