"""What LangGraph's own stores have written comes in, from both of its databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory

langgraph = pytest.importorskip("langgraph.store.base")


def fill(store: langgraph.BaseStore) -> None:
    store.put(("ada", "memories"), "1", {"content": "Ada reads crime novels."})
    store.put(("ada", "memories", "deep"), "2", {"text": "Ada sings in a choir."})
    store.put(("bob", "memories"), "1", {"content": "Bob is somebody else."})


def check(me: Memory, place: str | Path) -> None:
    with pytest.raises(InvalidInput, match="several"):
        me.import_from(place)
    done = me.import_from(place, of="ada")
    assert (done.format, done.memories) == ("langgraph", 2)
    assert done.left_out == {"of another owner": 1}
    choir = me.get("choir")
    assert choir.metadata["namespace"] == "ada/memories/deep"
    assert me.import_from(place, of="ada").present == 2


def test_of_sqlite(me: Memory, tmp_path: Path) -> None:
    pytest.importorskip("langgraph.store.sqlite")
    from langgraph.store.sqlite import SqliteStore

    path = tmp_path / "graph.db"
    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        fill(store)
    check(me, path)


def test_of_postgres(me: Memory, postgres_server: Callable[[str], str]) -> None:
    pytest.importorskip("langgraph.store.postgres")
    from langgraph.store.postgres import PostgresStore

    address = postgres_server("langgraph_store")
    with PostgresStore.from_conn_string(address) as store:
        store.setup()
        store.delete(("ada", "memories"), "1")
        fill(store)
    check(me, address)
