"""The baselines that need no model, and the process that a system runs in."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.data import load
from bench.processes import Failed, running, without_places
from bench.systems import ENTRIES, Entry, Query, System
from tests.bench.made_up import write

NAMES = ("bm25", "grep", "fts5")


@pytest.fixture(params=NAMES)
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[System]:
    """Each baseline with both histories in it."""
    started: System = importlib.import_module(ENTRIES[request.param].module).start(str(tmp_path))
    for history in load(write(tmp_path / "tiny.jsonl")):
        started.add(history)
    yield started
    started.close()


def test_the_turn_with_the_words_comes_first(system: System) -> None:
    found = system.search(Query("ada", "Who plays the cello in Vienna?", None), 20)

    assert found.turn_ids[0] == "s2:1"
    assert not found.nothing_relevant


def test_no_more_than_the_limit_is_found(system: System) -> None:
    found = system.search(Query("ada", "Ada Ben", None), 1)

    assert len(found.turn_ids) == 1


def test_a_history_knows_nothing_of_another(system: System) -> None:
    found = system.search(Query("eve", "cello bicycle", None), 20)

    assert found.turn_ids == ("s1:1",)
    assert found.context_chars == len("Eve: I sold a bicycle.")


def test_a_question_without_a_known_word_finds_nothing(system: System) -> None:
    found = system.search(Query("ada", "zyzzyva", None), 20)

    assert found.turn_ids == ()
    assert found.nothing_relevant


def test_grep_prefers_the_newest_of_equals(tmp_path: Path) -> None:
    from bench.systems.grep import start

    grep = start(str(tmp_path))
    grep.add(load(write(tmp_path / "tiny.jsonl"))[0])

    assert grep.search(Query("ada", "ADA", None), 20).turn_ids == ("s2:1", "s1:1")


def test_a_system_runs_in_a_process_that_tells_its_memory() -> None:
    with running(ENTRIES["grep"], "sqlite") as process:
        memory = process.ask({"memory": True})

    assert 0 < memory["now"] <= memory["peak"]


def test_a_system_that_cannot_start_says_why() -> None:
    with pytest.raises(Failed, match="KeyError"), running(Entry("nowhere", ""), "sqlite"):
        pass


def test_a_system_that_breaks_says_why() -> None:
    with running(ENTRIES["grep"], "sqlite") as process:
        with pytest.raises(Failed, match="not a request"):
            process.ask({"dance": True})


def test_an_error_names_no_place() -> None:
    told = without_places("no file /home/me/.cache/x.db\nat https://example.org/simple/x")

    assert told == "no file <path> at <address>"
