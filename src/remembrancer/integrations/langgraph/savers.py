"""Opens the SQLite and PostgreSQL checkpointers of LangGraph, sync and async."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from remembrancer.config import IN_MEMORY
from remembrancer.environment import open_private
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.integrations.langgraph.extra import explain_missing_extra
from remembrancer.integrations.langgraph.threads import PersonalSaver
from remembrancer.store.driver import require_driver

MAX_CONNECTIONS = 10
MAX_IDLE_SECONDS = 30.0
CONNECT_TIMEOUT_SECONDS = 2


@contextmanager
def open_saver(place: str | Path) -> Iterator[BaseCheckpointSaver[str]]:
    """Open a saver for a file or a `postgresql://` URL; creates its tables if necessary.

    It keeps threads to their person: each run needs a configuration of `run_config`.
    """
    _check_place(place)
    if _is_postgres(place):
        require_driver("langgraph")
        with explain_missing_extra():
            from langgraph.checkpoint.postgres import PostgresSaver

        with _open_pool(str(place)) as pool:
            saver = keep_to_person(PostgresSaver)(pool)
            saver.setup()
            yield saver
    else:
        with explain_missing_extra():
            from langgraph.checkpoint.sqlite import SqliteSaver

        _create_private_file(place)
        with keep_to_person(SqliteSaver).from_conn_string(str(place)) as saver:
            yield saver


@asynccontextmanager
async def aopen_saver(place: str | Path) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Like `open_saver`, for graphs that run with `ainvoke` or `astream`."""
    _check_place(place)
    if _is_postgres(place):
        require_driver("langgraph")
        with explain_missing_extra():
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        async with _open_async_pool(str(place)) as pool:
            saver = keep_to_person(AsyncPostgresSaver)(pool)
            await saver.setup()
            yield saver
    else:
        with explain_missing_extra():
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        _create_private_file(place)
        async with keep_to_person(AsyncSqliteSaver).from_conn_string(str(place)) as saver:
            yield saver


@cache
def keep_to_person(saver: type[BaseCheckpointSaver[str]]) -> Any:
    """Return the class of savers with the checks of `PersonalSaver`."""
    return type(f"Personal{saver.__name__}", (PersonalSaver, saver), {})


def _check_place(place: object) -> None:
    """Raise InvalidInput unless a saver can be opened there."""
    if not isinstance(place, str | Path) or not str(place):
        raise InvalidInput(f"A saver is opened in a file or at a postgresql:// URL, not {place!r}.")
    if _is_postgres(place) or place == IN_MEMORY:
        return
    scheme, is_url, _ = str(place).partition("://")
    if is_url:
        raise InvalidInput(
            f"A saver cannot be opened at {scheme}://: name a file, or write postgresql://."
        )
    path = Path(place)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(
            f"{path} is a folder: name a file in it."
            if path.is_dir()
            else f"There is no folder {path.parent}: create it before you open a saver there."
        )


def _create_private_file(place: str | Path) -> None:
    """Create the file unless it exists: SQLite would let everyone read it.

    One that exists is not opened: closing it would release the locks that SQLite has on it.
    """
    if place != IN_MEMORY:
        with suppress(FileExistsError), open(os.path.realpath(place), "xb", opener=open_private):
            pass


def _is_postgres(place: str | Path) -> bool:
    return str(place).startswith(("postgresql://", "postgres://"))


@contextmanager
def _open_pool(url: str) -> Iterator[Any]:
    with explain_missing_extra():
        from psycopg_pool import ConnectionPool, PoolTimeout

    pool: Any = ConnectionPool(url, open=False, **_pool_options())
    try:
        pool.open(wait=True, timeout=CONNECT_TIMEOUT_SECONDS)
    except PoolTimeout:
        pool.close()
        raise _unreachable_error() from None
    with pool:
        yield pool


@asynccontextmanager
async def _open_async_pool(url: str) -> AsyncIterator[Any]:
    with explain_missing_extra():
        from psycopg_pool import AsyncConnectionPool, PoolTimeout

    pool: Any = AsyncConnectionPool(url, open=False, **_pool_options())
    try:
        await pool.open(wait=True, timeout=CONNECT_TIMEOUT_SECONDS)
    except PoolTimeout:
        await pool.close()
        raise _unreachable_error() from None
    async with pool:
        yield pool


def _pool_options() -> dict[str, Any]:
    from psycopg.rows import dict_row

    connection = {
        "autocommit": True,
        "prepare_threshold": 0,
        "row_factory": dict_row,
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    }
    return {
        "min_size": 1,
        "max_size": MAX_CONNECTIONS,
        "max_idle": MAX_IDLE_SECONDS,
        "kwargs": connection,
    }


def _unreachable_error() -> StoreUnavailable:
    return StoreUnavailable(
        "PostgreSQL does not answer: check the address of the saver, and that the server runs."
    )
