"""A mistake gets a sentence, an exit code, and never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.cli.exit_codes import exit_code
from remembrancer.errors import (
    Ambiguous,
    Conflict,
    EmbeddingFailed,
    InvalidSetting,
    NotFound,
    NotUndoable,
    RemembrancerError,
    SchemaTooNew,
    ScopeRequired,
    StoreUnavailable,
)

Run = Callable[..., Any]

USAGE = [
    ("remember",),
    ("remember", "x", "--no-such-option"),
    ("remember", "x", "--importance", "much"),
    ("remember", "x", "--importance", "99"),
    ("remember", "x", "--permanence", "eternal"),
    ("remember", "x", "--kind", "turn"),
    ("remember", "x", "--category", "nonsense"),
    ("remember", "x", "--valid-from", "yesterday"),
    ("remember", "x", "--valid-from", "2026-02-30"),
    ("remember", "x", "--valid-from", "2026-03-02", "--valid-until", "2026-03-01"),
    ("remember", "x", "--ttl-days", "-1"),
    ("remember", "x", "--subject", "Ada"),
    ("remember", "  "),
    ("remember", "half \ud800 character"),
    ("recall", ""),
    ("recall", "half \ud800 character"),
    ("recall", "x", "--mode", "psychic"),
    ("recall", "x", "--limit", "0"),
    ("recall", "x", "--as-of", "soon"),
    ("recall", "x", "--kind", "dream"),
    ("list", "--status", "asleep"),
    ("list", "--cursor", "nonsense"),
    ("list", "extra"),
    ("update", "only one"),
    ("get", " "),
    ("no-such-verb",),
    ("recall", "x", "--user"),
    ("--user", "", "list"),
]


@pytest.mark.parametrize("args", USAGE, ids=lambda args: " ".join(args).encode("ascii", "replace"))
def test_bad_usage_is_exit_code_2(rem: Run, args: tuple[str, ...]) -> None:
    told = rem(*args, code=2)
    assert told.stdout == ""
    assert told.stderr.startswith("Error: ")
    assert told.stderr.count("\n") == 1, "one sentence"


@pytest.mark.parametrize("args", USAGE, ids=lambda args: " ".join(args).encode("ascii", "replace"))
def test_bad_usage_is_json_if_that_is_wanted(rem: Run, args: tuple[str, ...]) -> None:
    error = json.loads(rem("--json", *args, code=2).stdout)["error"]
    assert error["code"] in ("usage", "bad_input", "bad_setting")
    assert error["message"]
    assert "candidates" not in error


def test_a_wrong_verb_gets_a_suggestion(rem: Run) -> None:
    assert "Did you mean 'remember'" in rem("remembre", "x", code=2).stderr


def test_words_typed_without_quotes_are_not_repeated(rem: Run) -> None:
    told = rem("update", "wifi", "the", "password", "is", "hunter2", code=2)
    assert "quotes" in told.stderr
    assert "hunter2" not in told.output


@pytest.mark.parametrize("verb", ["get", "confirm", "forget", "restore", "delete", "history"])
def test_not_found_is_exit_code_3(rem: Run, ask: Run, verb: str) -> None:
    assert rem(verb, "nowhere to be found", code=3).stderr.startswith("Error: No memory")
    missing = "fact_" + "0" * 26
    assert ask(verb, missing, code=3)["error"]["code"] == "not_found"


def test_another_persons_memory_is_not_found(ask: Run) -> None:
    hers = ask("remember", "The boat is red.", "--user", "ada")["memory"]["id"]
    assert ask("get", hers, code=3)["error"]["message"] == f"There is no memory {hers}."


def test_nothing_to_undo_is_not_found(ask: Run) -> None:
    assert ask("undo", code=3)["error"]["code"] == "not_found"
    assert ask("undo", "event_nonsense", code=3)["error"]["code"] == "not_found"


def test_several_fitting_memories_are_offered(rem: Run, ask: Run) -> None:
    red = ask("remember", "The boat is red.")["memory"]["id"]
    blue = ask("remember", "The neighbour's boat needs a new anchor.")["memory"]["id"]
    told = rem("get", "boat", code=4)
    assert told.stdout == ""
    assert told.stderr.startswith("Error: 2 memories match")
    assert f"{red}  The boat is red." in told.stderr
    error = ask("get", "boat", code=4)["error"]
    assert error["code"] == "ambiguous"
    assert {one["id"] for one in error["candidates"]} == {red, blue}


def test_a_conflict_is_exit_code_4(ask: Run) -> None:
    memory = ask("remember", "The boat is red.")["memory"]["id"]
    event = ask("forget", memory)["event"]["id"]
    assert ask("forget", memory, code=4)["error"]["code"] == "conflict"
    ask("undo", event)
    assert ask("undo", event, code=4)["error"]["code"] == "not_undoable"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidSetting("x"), 2),
        (ScopeRequired("x"), 2),
        (NotFound("x"), 3),
        (Ambiguous("x"), 4),
        (Conflict("x"), 4),
        (NotUndoable("x"), 4),
        (EmbeddingFailed("x"), 5),
        (StoreUnavailable("x"), 5),
        (SchemaTooNew("x"), 1),
        (RemembrancerError("x"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_each_error_has_its_exit_code(error: RemembrancerError, code: int) -> None:
    assert exit_code(error) == code


def test_a_store_that_cannot_be_opened_is_exit_code_5(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    done = CliRunner().invoke(app, ["--store", str(tmp_path / "file"), "list"])
    assert (done.exit_code, done.stdout) == (5, "")
    assert "cannot be used" in done.stderr


@pytest.mark.parametrize("text", ["profile = 'nope'", "colour = 1", "[store\n", "user = 3"])
def test_a_bad_configuration_is_explained(tmp_path: Path, text: str) -> None:
    file = tmp_path / "remembrancer.toml"
    file.write_text(text)
    done = CliRunner().invoke(app, ["--config", str(file), "list", "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["code"] == "bad_setting"


@pytest.mark.parametrize("option", ["--store", "--config", "--profile", "--user"])
def test_an_empty_option_of_the_root_is_refused(option: str, tmp_path: Path) -> None:
    place = [] if option == "--store" else ["--store", ":memory:"]
    done = CliRunner().invoke(app, [*place, option, "", "list"])
    assert (done.exit_code, done.stdout) == (2, "")


def test_a_missing_configuration_is_explained(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["--config", str(tmp_path / "none.toml"), "list"])
    assert done.exit_code == 2
    assert "none.toml cannot be read" in done.stderr
