"""N5: LangGraph's savers, sync and async, whose threads belong to their person."""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph

from remembrancer.errors import InvalidInput, InvalidSetting, NotAllowed, StoreUnavailable
from remembrancer.integrations.langgraph import (
    AssistantState,
    adelete_threads,
    aopen_saver,
    delete_threads,
    open_saver,
    run_config,
)
from tests.support.locks import FILE_IN_USE, is_locked

pytestmark = pytest.mark.feature("N5")


@pytest.fixture
def threads(place: str, tmp_path: Path) -> str:
    """Where the saver is, on the engine at hand."""
    return place if place.startswith("postgresql") else str(tmp_path / "threads.db")


def compile_chat(saver: Any) -> Any:
    """A graph that answers everything with the number of messages."""

    def count(state: AssistantState) -> dict[str, Any]:
        return {"messages": [AIMessage(str(len(state["messages"])))]}

    built = StateGraph(AssistantState, context_schema=dict)
    return built.add_node("count", count).add_edge(START, "count").compile(checkpointer=saver)


def say(words: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(words)]}


def test_N5_an_async_graph_keeps_its_threads(threads: str, tenant: str) -> None:
    ada, bob = (run_config(tenant, user, "first") for user in ("ada", "bob"))

    async def talk() -> list[str]:
        async with aopen_saver(threads) as saver:
            chat = compile_chat(saver)
            await asyncio.gather(
                chat.ainvoke(say("Hello."), ada, context={"user_id": "ada"}),
                chat.ainvoke(say("Hello."), bob),
            )
        async with aopen_saver(threads) as saver:
            chat = compile_chat(saver)
            state = await chat.ainvoke(say("Again."), ada)
            with pytest.raises(NotAllowed):
                await chat.aget_state(_taken_over(ada, "bob"))
            assert await adelete_threads(saver, tenant, "ada") == 1
            assert (await chat.aget_state(ada)).values == {}
            assert len((await chat.aget_state(bob)).values["messages"]) == 2
        return [one.text for one in state["messages"]]

    assert asyncio.run(talk()) == ["Hello.", "1", "Again.", "3"]


@pytest.mark.skipif(os.name != "posix", reason="only POSIX locks end when a handle is closed")
def test_N5_a_second_saver_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    threads = tmp_path / "threads.db"
    with open_saver(threads) as saver:
        config = run_config("default", "ada", "first")
        compile_chat(saver).invoke(say("Hello."), config)
        assert is_locked(threads, FILE_IN_USE)
        with open_saver(threads):
            assert is_locked(threads, FILE_IN_USE)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_N5_a_saver_behind_a_link_is_private_too(tmp_path: Path) -> None:
    link, threads = tmp_path / "link", tmp_path / "threads.db"
    link.symlink_to(threads)
    with open_saver(link):
        assert threads.stat().st_mode & 0o077 == 0


def _taken_over(config: Any, user: str) -> Any:
    """The same thread, asked for by somebody else."""
    return {"configurable": {**config["configurable"], "user_id": user}}


def test_N5_a_thread_opens_to_its_person_alone(threads: str, tenant: str) -> None:
    ada = run_config(tenant, "ada", "first")
    with open_saver(threads) as saver:
        chat = compile_chat(saver)
        chat.invoke(say("The key is under the tile."), ada)
        asking: list[Callable[[Any], object]] = [
            chat.get_state,
            lambda config: list(chat.get_state_history(config)),
            lambda config: chat.invoke(say("Where is it?"), config),
            lambda config: chat.update_state(config, say("Nowhere.")),
        ]
        for ask in asking:
            for stranger in (_taken_over(ada, "bob"), _taken_over(ada, "ad")):
                with pytest.raises(NotAllowed, match="name it with run_config"):
                    ask(stranger)
            with pytest.raises(InvalidInput, match="Say whose thread it is"):
                ask({"configurable": {"thread_id": ada["configurable"]["thread_id"]}})
        with pytest.raises(InvalidInput, match="Say whose thread it is"):
            list(saver.list(None))
        said = [one.text for one in chat.get_state(ada).values["messages"]]
    assert said == ["The key is under the tile.", "1"]


def test_N5_the_context_of_a_run_names_the_person_of_its_thread(threads: str, tenant: str) -> None:
    person = {"user_id": "ada", "org_id": tenant}
    thread_id = run_config(tenant, "ada", "first")["configurable"]["thread_id"]
    thread: Any = {"configurable": {"thread_id": thread_id}}

    async def talk_later() -> int:
        async with aopen_saver(threads) as saver:
            state = await compile_chat(saver).ainvoke(say("Again."), thread, context=person)
            return len(state["messages"])

    with open_saver(threads) as saver:
        chat = compile_chat(saver)
        chat.invoke(say("Hello."), thread, context=person)
        for other in ({**person, "user_id": "bob"}, {"user_id": "ada"}):
            with pytest.raises(NotAllowed):
                chat.invoke(say("Hello."), thread, context=other)
        with pytest.raises(InvalidInput, match="in configurable or in the context"):
            chat.invoke(say("Hello."), thread)
        with pytest.raises(InvalidInput, match=r"open one with aopen_saver\(…\)"):
            asyncio.run(chat.ainvoke(say("Hello."), thread, context=person))
    assert asyncio.run(talk_later()) == 4


def test_N5_a_saver_shares_a_pool_of_ten_connections(
    postgres_server: Callable[[str], str],
) -> None:
    async def measure(place: str) -> Any:
        async with aopen_saver(place) as saver:
            return saver.conn  # type: ignore[attr-defined]

    place = postgres_server("threads")
    with open_saver(place) as saver:
        pools: Any = (saver.conn, asyncio.run(measure(place)))  # type: ignore[attr-defined]
    for pool in pools:
        assert (pool.min_size, pool.max_size, pool.max_idle) == (1, 10, 30)
        assert pool.kwargs["connect_timeout"] == 2


def test_N5_a_run_goes_on_from_what_the_history_shows(threads: str, tenant: str) -> None:
    ada = run_config(tenant, "ada", "first")
    with open_saver(threads) as saver:
        chat = compile_chat(saver)
        for words in ("One.", "Two."):
            chat.invoke(say(words), ada)
        after_one = next(
            one
            for one in chat.get_state_history(ada)
            if not one.next and len(one.values["messages"]) == 2
        )
        state = chat.invoke(say("Three."), after_one.config)
        edited = chat.update_state(ada, say("Four."))

        assert [one.text for one in state["messages"]] == ["One.", "1", "Three.", "3"]
        assert chat.get_state(edited).values["messages"][-1].text == "Four."


def test_N5_the_threads_of_a_person_are_deleted_with_all_they_said(
    threads: str, tenant: str
) -> None:
    runs = [
        run_config(tenant, "ada", "first"),
        run_config(tenant, "ada", "second"),
        run_config(tenant, "ada:x", "first"),
        run_config(f"{tenant}2", "ada", "first"),
    ]
    with open_saver(threads) as saver:
        chat = compile_chat(saver)
        for run in runs:
            chat.invoke(say("Hello."), run)

        assert delete_threads(saver, tenant, "ada") == 2
        left = [len(chat.get_state(run).values) for run in runs]
        assert [bool(one) for one in left] == [False, False, True, True]
        assert delete_threads(saver, tenant, "ada") == 0


def test_N5_an_application_without_organisations_names_the_user_alone(
    threads: str, tenant: str
) -> None:
    # As many users of this name have been here before as there are tests.
    zoe = f"zoe of {tenant}"
    runs = [run_config(None, zoe, "first"), run_config(tenant, zoe, "first")]
    other = run_config(zoe, "max", "first")
    with open_saver(threads) as saver:
        chat = compile_chat(saver)
        for run in (*runs, other):
            chat.invoke(say("Hello."), run)
        listed = {
            one.config["configurable"]["thread_id"]
            for one in saver.list(None, filter={"user_id": zoe})
        }
        assert listed == {runs[0]["configurable"]["thread_id"]}
        with pytest.raises(NotAllowed):
            chat.get_state(
                {"configurable": {**other["configurable"], "org_id": None, "user_id": zoe}}
            )

        assert delete_threads(saver, None, zoe) == 1
        left = [bool(chat.get_state(run).values) for run in (*runs, other)]
    assert left == [False, True, True]


def test_N5_a_thread_is_named_by_text() -> None:
    anything: Any = 42
    with pytest.raises(InvalidInput, match="user_id must be text, not int"):
        run_config("acme", anything, "first")
    with pytest.raises(InvalidInput, match="thread must be text, not int"):
        run_config("acme", "ada", anything)
    with pytest.raises(InvalidInput, match="org_id must be text, not int"):
        run_config(anything, "ada", "first")


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        (None, "a file or at a postgresql:// URL, not None"),
        ("", "not ''"),
        ("mysql://x", "cannot be opened at mysql://: name a file, or write postgresql://"),
        ("postgresql+psycopg://x/y", r"write postgresql://"),
        ("missing/threads.db", "There is no folder missing: create it"),
        (".", "is a folder: name a file in it"),
    ],
)
def test_N5_a_place_that_is_none_is_refused(place: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        open_saver(place).__enter__()
    with pytest.raises(InvalidInput, match=sentence):
        asyncio.run(aopen_saver(place).__aenter__())


def test_N5_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"

    async def open_async() -> None:
        async with aopen_saver(url):
            pass

    with pytest.raises(StoreUnavailable, match="PostgreSQL does not answer"), open_saver(url):
        pass
    with pytest.raises(StoreUnavailable, match="PostgreSQL does not answer"):
        asyncio.run(open_async())


def test_N5_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without_libpq(name: str, *rest: Any) -> Any:
        if name == "psycopg":
            raise ImportError("no pq wrapper available")
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_libpq)
    missing = r"pip install 'remembrancer\[langgraph\]'"
    with pytest.raises(InvalidSetting, match=missing), open_saver("postgresql://nowhere/none"):
        pass
