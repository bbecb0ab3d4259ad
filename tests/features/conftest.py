"""What feature tests share: an embedder whose vectors a test sets, and a look at what is stored."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from set_embedder import SetEmbedder
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.store.open import open_store
from tests.conftest import assert_no_connection_leaked
from tests.llm.endpoint import ModelEndpoint, says

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def set_embedder() -> SetEmbedder:
    """An embedder whose vectors this test sets."""
    return SetEmbedder()


@pytest.fixture
def open_set(
    place: str, clock: ManualClock, set_embedder: SetEmbedder, tenant: str
) -> Iterator[Callable[..., Remembrancer]]:
    """Like `open_memory`, with the vectors that the test sets."""
    opened: list[Remembrancer] = []

    def start(profile: str = "default", **values: object) -> Remembrancer:
        where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 4}
        settings = Settings.model_validate(
            {"profile": profile, "tenant": tenant, "user": "ada", "store": where, **values}
        )
        opened.append(Remembrancer(settings, open_store(settings, clock), set_embedder, clock))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    """A model on loopback that answers as the test says: set its `default` or its `script`."""
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint(default=says({"operations": []})) as endpoint:
        yield endpoint


@pytest.fixture
def models(model: ModelEndpoint) -> dict[str, Any]:
    """The settings that make it the model of a store."""
    return {"fast": {"url": model.openai, "model": "scripted", "timeout_seconds": 5}}


@pytest.fixture
def fresh(tmp_path: Path, postgres_server: Callable[[str], str]) -> Iterator[Callable[[str], str]]:
    """Places of this test alone, with nothing in them: `fresh("sqlite")`, `fresh("postgres")`."""
    given: list[str] = []

    def place(engine: str) -> str:
        name = f"fresh_{secrets.token_hex(6)}"
        given.append(str(tmp_path / name) if engine == "sqlite" else postgres_server(name))
        return given[-1]

    yield place
    for one in given:
        assert_no_connection_leaked(one)


@pytest.fixture
def open_at(
    fresh: object, clock: ManualClock, set_embedder: SetEmbedder
) -> Iterator[Callable[..., Remembrancer]]:
    """Open a store at a place, with the vectors that the test sets."""
    opened: list[Remembrancer] = []

    def start(place: str, **values: object) -> Remembrancer:
        where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 1}
        settings = Settings.model_validate({"user": "ada", "store": where} | values)
        opened.append(Remembrancer(settings, open_store(settings, clock), set_embedder, clock))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def superuser(place: str) -> Iterator[Engine | None]:
    """The database as its superuser sees it, who is above row security; None on SQLite."""
    if not place.startswith("postgresql"):
        yield None
        return
    engine = create_engine(
        place.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
    )
    yield engine
    engine.dispose()


@pytest.fixture
def stored(place: str, superuser: Engine | None) -> Callable[[], Rows]:
    """Every row of every table, of everyone, as the database holds it."""

    def read() -> Rows:
        if superuser is not None:
            return _read_postgres(superuser)
        found: Rows = {}
        for path in sorted(Path(place).rglob("*.db")):
            for table, rows in _read_sqlite(path).items():
                found.setdefault(table, []).extend(rows)
        return found

    return read


def _read_postgres(engine: Engine) -> Rows:
    with engine.connect() as connection:
        tables = connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        ).scalars()
        return {
            table: [
                dict(row) for row in connection.execute(text(f"SELECT * FROM {table}")).mappings()
            ]
            for table in tables.all()
        }


def _read_sqlite(path: Path) -> Rows:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        return {
            table: [dict(row) for row in connection.execute(f"SELECT * FROM '{table}'")]
            for (table,) in tables
        }
