"""N5, N6: the example graph fans out, shares what comes of it, resumes, branches, keeps apart."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph import (
    AssistantState,
    SharedStore,
    open_saver,
    run_config,
)
from remembrancer.integrations.langgraph.state import merge_by_id, merge_deep, take_latest
from tests.support.opening import ENGINES, Open

pytestmark = pytest.mark.feature("N5", "N6")

ON_ONE_ENGINE_AT_FIRST = pytest.mark.parametrize(
    "place", ENGINES if os.environ.get("REM_LONG") else ["sqlite"], indirect=True
)
"""Another process takes seconds to start."""

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph" / "errands.py"


def load_example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("errands", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["errands"] = module
    spec.loader.exec_module(module)
    return module


errands = load_example()


@pytest.fixture
def people(open_memory: Open) -> Remembrancer:
    return open_memory("namespaces")


@pytest.fixture
def graph(people: Remembrancer, place: str, tmp_path: Path) -> Iterator[Any]:
    """The example, on LangGraph's saver for the engine at hand."""
    where = place if place.startswith("postgresql") else str(tmp_path / "threads.db")
    with open_saver(where) as saver:
        yield errands.build(people, errands.Script()).compile(checkpointer=saver)


def say(words: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(words)]}


def test_N5_the_channels_of_an_assistant_replace_merge_or_keep_one_of_each() -> None:
    def first(_: AssistantState) -> dict[str, Any]:
        return {
            "previews": [{"actionId": "book", "id": "1", "text": "a train"}],
            "approvals": {"book": None},
            "intent": "travel",
            "kb": ["timetable"],
            "userContext": {"home": {"city": "Oslo"}},
        }

    def second(state: AssistantState) -> dict[str, Any]:
        return {
            "cursor": state["cursor"] + 1,
            "previews": [{"actionId": "book", "id": "2", "text": "a boat"}],
            "approvals": {"book": True},
            "kb": ["prices"],
            "userContext": {"home": {"zone": "CET"}, "name": "Ada"},
        }

    built = StateGraph(AssistantState).add_sequence([first, second]).add_edge(START, "first")
    state = built.compile().invoke({"messages": []})

    assert state["cursor"] == 1
    assert state["previews"] == [{"actionId": "book", "id": "2", "text": "a boat"}]
    assert [state["approvals"], state["intent"], state["kb"]] == [
        {"book": True},
        "travel",
        ["prices"],
    ]
    assert state["userContext"] == {"home": {"city": "Oslo", "zone": "CET"}, "name": "Ada"}


def test_N5_a_preview_without_an_id_is_answered_with_a_sentence() -> None:
    for preview in ({"text": "a train"}, {"id": None}, {"id": [1]}, "a train"):
        with pytest.raises(InvalidInput, match="A preview needs an actionId or an id"):
            merge_by_id([], [preview])  # type: ignore[list-item]


def test_N5_what_parallel_nodes_say_comes_together() -> None:
    assert take_latest([1], [2]) == [2]
    previews = merge_by_id([{"id": "a", "n": 1}, {"id": "b"}], [{"id": "a", "n": 2}, {"id": "c"}])
    assert previews == [{"id": "a", "n": 2}, {"id": "b"}, {"id": "c"}]
    old = {"done": ["a"], "by": {"a": {"x": 1, "y": 1}}, "kept": 1, "n": 1}
    new = {"done": ["a", "b"], "by": {"a": {"x": 2}, "b": {}}, "n": [1]}
    together = {"done": ["a", "b"], "by": {"a": {"x": 2, "y": 1}, "b": {}}, "kept": 1, "n": [1]}
    assert merge_deep(old, new) == together
    assert old["done"] == ["a"], "what was there is left as it was"


def test_N6_errands_run_in_parallel_and_share_what_comes_of_them(
    graph: Any, people: Remembrancer, tenant: str
) -> None:
    people.for_user("ada").remember("Is vegetarian")
    run = run_config(tenant, "ada", "first")

    state = graph.invoke(say("a table for dinner, a train and a hotel"), run)
    assert [one["id"] for one in state["plan"]] == ["a table for dinner", "a train", "a hotel"]
    assert state["previews"] == [
        {"id": one, "state": "done"} for one in ("a table for dinner", "a train", "a hotel")
    ]
    assert sorted(state["artifacts"]["doneIds"]) == ["a hotel", "a table for dinner", "a train"]
    assert state["artifacts"]["memories"] == ["Is vegetarian"]
    assert "vegetarian" in state["artifacts"]["results"]["a table for dinner"]
    kept = SharedStore(people).search((tenant, "ada", "errands"))
    assert {one.key for one in kept} == {"a table for dinner", "a train", "a hotel"}

    state = graph.invoke(say("I live in Oslo, a cab"), run)
    people.flush()
    assert [one["id"] for one in state["plan"]] == ["I live in Oslo", "a cab"]
    assert len(state["previews"]) == 5
    state = graph.invoke(say("Where do I live?"), run_config(tenant, "ada", "second"))
    assert "User lives in Oslo" in state["messages"][-1].text


@pytest.mark.feature("N6")
def test_N6_an_errand_that_fails_is_recorded_and_the_others_go_on(
    people: Remembrancer, tenant: str
) -> None:
    seen: dict[str, list[str]] = {}

    def act(messages: Any, errand: str) -> str:
        seen[errand] = [one.text for one in messages]
        if errand == "a train":
            raise RuntimeError("no train")
        return f"{errand}: found"

    graph = errands.build(people, errands.Script(), act).compile(store=SharedStore(people))
    words = "a train then a hotel, a table then a friend to invite"
    state = graph.invoke(say(words), run_config(tenant, "ada", "first"))

    artifacts = state["artifacts"]
    assert artifacts["doneIds"] == ["a table", "a friend to invite"]
    assert artifacts["failedActions"] == {"a train": "no train", "a hotel": "needs a train"}
    assert artifacts["createdIds"]["a table"] == "errands/a table"
    assert "a hotel" not in seen
    assert "a table: found" in seen["a friend to invite"], "what it needs is there when it starts"
    assert "a train: failed, no train" in state["messages"][-1].text


@pytest.mark.feature("N6")
def test_N6_an_errand_that_spends_money_waits_for_approval(graph: Any, tenant: str) -> None:
    run = run_config(tenant, "ada", "first")
    state = graph.invoke(say("book a table, buy a train ticket, a friend to invite"), run)
    (asked,) = state["__interrupt__"]
    assert asked.value == {"approve": ["book a table", "buy a train ticket"]}
    assert state["artifacts"]["doneIds"] == []

    state = graph.invoke(Command(resume=["book a table"]), run)
    assert sorted(state["artifacts"]["doneIds"]) == ["a friend to invite", "book a table"]
    assert state["approvals"] == {"book a table": True, "buy a train ticket": False}
    assert state["artifacts"]["failedActions"] == {"buy a train ticket": "not approved"}


@pytest.mark.feature("N6")
def test_N6_an_errand_that_is_asked_for_again_is_run_again(graph: Any, tenant: str) -> None:
    run = run_config(tenant, "ada", "first")
    for _ in range(2):
        state = graph.invoke(say("a train"), run)
    assert state["artifacts"]["doneIds"] == ["a train", "a train (2)"]


def test_N5_two_branches_from_one_checkpoint_know_nothing_of_each_other(
    graph: Any, people: Remembrancer, tenant: str
) -> None:
    run = run_config(tenant, "ada", "first")
    graph.invoke(say("a train"), run)
    checkpoint = graph.get_state(run).config["configurable"]["checkpoint_id"]
    fork = run_config(tenant, "ada", "first", checkpoint=checkpoint)

    by_sea = graph.invoke(say("a boat"), fork)
    by_air = graph.invoke(say("a plane"), fork)

    for state, own, other in ((by_sea, "a boat", "a plane"), (by_air, "a plane", "a boat")):
        said = [one.text for one in state["messages"] if one.type == "human"]
        assert said == ["a train", own]
        assert sorted(state["artifacts"]["results"]) == sorted(["a train", own])
        state["artifacts"].pop("memories")  # the person's, in all branches
        assert other not in str({**state, "messages": said})
    told = [
        turn.content
        for turn in people.for_user("ada").turns(run["configurable"]["thread_id"])
        if turn.role == "user"
    ]
    assert told == ["a train", "a boat", "a plane"], "and memory heard everything once"


def test_N5_memories_of_one_person_are_never_in_the_state_of_another(
    graph: Any, people: Remembrancer, tenant: str
) -> None:
    secret = "Ada hides the key under the third tile"
    people.for_user("ada").remember(secret)
    SharedStore(people).put((tenant, "ada", "errands"), "key", {"text": secret})
    for person in ((tenant, "ada"), (tenant, "bob"), (f"{tenant}2", "ada")):
        graph.invoke(say("find where the key is hidden"), run_config(*person, "first"))

    def seen(org: str, user: str) -> bool:
        states = graph.get_state_history(run_config(org, user, "first"))
        return any("third tile" in str(one) for one in states)

    assert seen(tenant, "ada")
    assert not seen(tenant, "bob")
    assert not seen(f"{tenant}2", "ada")


KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import errands, remembrancer
from remembrancer.integrations.langgraph import SharedStore, open_saver, run_config

log, place, threads, org = Path(sys.argv[2]), *sys.argv[3:]

def act(messages, errand):
    with log.open("a") as file:
        file.write(errand + "\\n")
    time.sleep(600 if errand == "slow" else 0)
    return "done"

with remembrancer.open(place, profile="namespaces") as people, open_saver(threads) as saver:
    graph = errands.build(people, errands.Script(), act)
    graph.compile(checkpointer=saver, store=SharedStore(people)).invoke(
        {"messages": [("user", "quick, brief and slow")]},
        run_config(org, "ada", "first"),
        durability="sync",
    )
"""


@ON_ONE_ENGINE_AT_FIRST
def test_N5_a_graph_that_is_killed_goes_on_where_it_was(
    open_memory: Open, place: str, tmp_path: Path, tenant: str
) -> None:
    threads = place if place.startswith("postgresql") else str(tmp_path / "threads.db")
    script, log = tmp_path / "killed.py", tmp_path / "log"
    script.write_text(KILLED)
    said = [str(EXAMPLE.parent), str(log), place, threads, tenant]
    with subprocess.Popen([sys.executable, str(script), *said]) as running:
        until(lambda: log.exists() and len(log.read_text().split()) == 3)
        until(lambda: finished(threads, tenant) == 2)
        running.kill()
    again: list[str] = []

    def act(_: object, errand: str) -> str:
        again.append(errand)
        return "done"

    people = open_memory("namespaces")
    with open_saver(threads) as saver:
        graph = errands.build(people, errands.Script(), act)
        compiled = graph.compile(checkpointer=saver, store=SharedStore(people))
        state = compiled.invoke(None, run_config(tenant, "ada", "first"))

    assert running.returncode == -signal.SIGKILL
    assert again == ["slow"], "what was done is not done again"
    assert state["artifacts"]["results"] == {"quick": "done", "brief": "done", "slow": "done"}
    assert [one.type for one in state["messages"]] == ["human", "ai"]


def finished(threads: str, tenant: str) -> int:
    """How many of the parallel errands are saved as done."""
    with open_saver(threads) as saver:
        saved = saver.get_tuple(run_config(tenant, "ada", "first"))
    writes = saved.pending_writes or [] if saved else []
    return len({task for task, channel, _ in writes if channel == "artifacts"})


def until(is_so: Any, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.1)


@pytest.mark.parametrize("person", [(), ("--org", "acme", "--user", "ada.l@x.org")])
def test_N6_the_example_runs_as_it_stands(tmp_path: Path, person: tuple[str, ...]) -> None:
    place = ("--place", str(tmp_path / "here"))
    told = subprocess.run(
        [sys.executable, str(EXAMPLE), "a table, a train", *place, *person],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "a table: done; a train: done\n"
