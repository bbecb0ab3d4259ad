"""Puts our store in the place of LangGraph's, and expects the failures that are known."""

from __future__ import annotations

import os
import tomllib
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
import pytest

import remembrancer
from remembrancer.integrations.langgraph import LangChainEmbedder, RemembrancerStore
from remembrancer.memory import Memory

KNOWN_FAILURES = tomllib.loads(
    (Path(__file__).parent / "known_failures.toml").read_text(encoding="utf-8")
)
OPENED = ExitStack()


def pytest_configure() -> None:
    langgraph.store.memory.InMemoryStore = MemoryStore  # type: ignore[misc]
    langgraph.store.sqlite.SqliteStore = FileStore  # type: ignore[misc]
    langgraph.store.sqlite.AsyncSqliteStore = AsyncFileStore  # type: ignore[misc]
    langgraph.store.sqlite.aio.AsyncSqliteStore = AsyncFileStore  # type: ignore[misc]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A known failure that passes is a failure too: the list stays true."""
    for item in items:
        name = f"{item.path.parents[1].name.rpartition('-')[0]}/{item.path.name}::{item.name}"
        for reason, names in KNOWN_FAILURES.items():
            if name in names:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def pytest_runtest_teardown() -> None:
    OPENED.close()


class MemoryStore(RemembrancerStore):
    """A store in memory, as LangGraph's InMemoryStore is made."""

    def __init__(self, *, index: Mapping[str, Any] | None = None) -> None:
        super().__init__(_open_memory(_new_place(), index), fields=_list_fields(index))


class FileStore(RemembrancerStore):
    """A store at a path, as LangGraph's SqliteStore is made."""

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: Mapping[str, Any] | None = None,
        ttl: Any = None,
    ) -> Iterator[RemembrancerStore]:
        place = _new_place() if conn_string == ":memory:" else f"{conn_string}.remembrancer"
        yield cls(_open_memory(place, index), fields=_list_fields(index), ttl=ttl)


class AsyncFileStore(FileStore):
    """The same for asynchronous programs."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: Mapping[str, Any] | None = None,
        ttl: Any = None,
    ) -> AsyncIterator[RemembrancerStore]:
        with FileStore.from_conn_string(conn_string, index=index, ttl=ttl) as store:
            yield store


def _open_memory(place: str, index: Mapping[str, Any] | None) -> Memory:
    """The memory of a user; on PostgreSQL the place is the tenant's name."""
    embedder = None
    if index and index.get("embed"):
        dims = index["dims"]
        embedder = LangChainEmbedder(index["embed"], model=f"suite-{dims}", dims=dims)
    url = os.environ["REM_SUITE_PLACE"]
    people = remembrancer.open(url or place, profile="namespaces", embedder=embedder)
    OPENED.callback(people.close)
    return people.for_user("ada", tenant=place if url else "suite")


def _new_place() -> str:
    if os.environ["REM_SUITE_PLACE"]:
        return uuid.uuid4().hex
    return str(Path(OPENED.enter_context(_temporary_folder())) / "memory")


@contextmanager
def _temporary_folder() -> Iterator[str]:
    import tempfile

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield folder


def _list_fields(index: Mapping[str, Any] | None) -> list[str] | None:
    return list(index["fields"]) if index and index.get("fields") else None
