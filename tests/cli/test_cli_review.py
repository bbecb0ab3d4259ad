"""`rem review` walks through what was learned in doubt; elsewhere it is listed with the reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder
from tests.cli.conftest import SCRIPT, Rem
from tests.support.terminal import run_in_terminal
from tests.support.unconfirmed import learn_in_doubt

HOME = {"subject": "user", "predicate": "home"}


@pytest.fixture
def me(shelf: Remembrancer) -> Memory:
    return shelf.for_user()


def test_without_a_terminal_it_prints_the_list_and_the_commands(rem: Rem, me: Memory) -> None:
    one = learn_in_doubt(me, "Lives in Lisbon", said="I would move to Lisbon at once!")

    told = rem("review").stdout

    assert told.splitlines() == [
        "Lives in Lisbon",
        f"fact · unconfirmed · 2 Mar 2026 · {one.id}",
        "  You may have meant this hypothetically.",
        "  You said: “I would move to Lisbon at once!”",
        "",
        "1 memory is not confirmed.",
        'Keep: rem confirm ID · Forget: rem forget ID · Correct: rem update ID "…"',
    ]


def test_json_has_the_reason_and_the_commands(ask: Callable[..., Any], me: Memory) -> None:
    one = learn_in_doubt(me, "Lives in Lisbon", "planned", importance=1)
    learn_in_doubt(me, "Owns a boat")

    found = ask("review", "--limit", "1")
    (second,) = ask("review", "--cursor", found["cursor"])["items"]

    assert second["memory"]["id"] == one.id
    assert second["why"] == "This may be a plan that has not happened yet."
    assert second["commands"]["keep"] == f"rem confirm {one.id}"


def test_there_is_nothing_to_review(rem: Rem, ask: Callable[..., Any]) -> None:
    assert rem("review").stdout == "There is nothing to review.\n"
    assert ask("review") == {"items": [], "cursor": None}


def test_the_list_by_status_has_the_reason_too(rem: Rem, me: Memory) -> None:
    learn_in_doubt(me, "Lives in Lisbon", "other_person")

    assert "Lisbon" not in rem("list").stdout
    assert "  This may be about another person.\n" in rem("list", "--status", "unconfirmed").stdout
    assert "  This may be about another person.\n" in rem("get", "lives in lisbon").stdout


def test_the_commands_do_what_they_say(rem: Rem, me: Memory) -> None:
    rem("remember", "Lives in Bergen", "--subject", "user", "--predicate", "home")
    home = learn_in_doubt(me, "Lives in Lisbon", **HOME)
    boat, bike = learn_in_doubt(me, "Owns a boat"), learn_in_doubt(me, "Owns a bike")

    kept = rem("confirm", home.id).stdout
    rem("forget", boat.id)
    rem("update", bike.id, "Owns a tricycle")

    assert "Confirmed. “Lives in Lisbon”\nReplaced “Lives in Bergen”\n" in kept
    assert sorted(one.content for one in me.list().items) == ["Lives in Lisbon", "Owns a tricycle"]
    assert rem("review").stdout == "There is nothing to review.\n"


def test_learning_says_what_is_to_be_reviewed(rem: Rem, me: Memory) -> None:
    learn_in_doubt(me, "Lives in Lisbon", session_id="monday")

    told = rem("learn", "-", "--session", "monday", input="User: Hello there, it rains.").stdout

    assert "\nNot sure about\nLives in Lisbon\n" in told
    assert "Decide: rem review" in told


def test_a_prompt_has_a_time(rem: Rem) -> None:
    rem("remember", "Lives in Bergen")

    assert "Bergen" in rem("context", "home").stdout
    assert "Bergen (from " in rem("context", "home", "--now", "2020-05-01").stdout
    refused = rem("context", "home", "--now", "yesterday", code=2).stderr
    assert "--now: give a date such as 2026-03-02" in refused


def answer(command: list[str], typed: bytes, environment: dict[str, str]) -> str:
    code, shown = run_in_terminal(command, typed, environment)
    assert code == 0, shown
    return shown.decode()


def test_in_a_terminal_it_asks_about_each(home: dict[str, str], tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    with remembrancer.open(place, embedder=FakeEmbedder()) as store:
        for content in ("Owns a boat", "Owns a bike", "Owns a dog", "Owns a cat", "Owns a hat"):
            learn_in_doubt(store.for_user(), content, said=f"Perhaps: {content}")
    command = [str(SCRIPT), "--store", place, "review"]
    environment = home | {"COLUMNS": "80", "TERM": "xterm"}

    shown = answer(command, b"y\nwhat\nn\ns\ne\nOwns two bikes\nq\n", environment)

    assert "You said: “Perhaps: Owns a hat”" in shown
    assert "y = keep, n = forget, e = edit, s = skip, q = quit" in shown
    assert "1 kept, 1 forgotten, 1 skipped, 1 corrected." in shown
    with remembrancer.open(place, embedder=FakeEmbedder()) as store:
        me = store.for_user()
        assert [one.content for one in me.list().items] == ["Owns two bikes", "Owns a hat"]
        left = [one.content for one in me.list(status="unconfirmed").items]
        assert left == ["Owns a dog", "Owns a boat"]
    assert "Nothing was changed." in answer(command, b"q\n", environment)
