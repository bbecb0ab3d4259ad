"""Fixtures with a fake embedder, a scripted model, and all stored rows."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.testing import FakeEmbedder, ModelEndpoint, says
from tests.support.opening import assert_no_connection_leaked, open_at_place

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def fake_embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def open_fake(
    place: str, clock: ManualClock, fake_embedder: FakeEmbedder, tenant: str
) -> Iterator[Callable[..., Remembrancer]]:
    """Like `open_memory`, with the fake embedder."""
    with ExitStack() as opened:

        def start(profile: str = "default", **values: object) -> Remembrancer:
            chosen = {"profile": profile, "tenant": tenant, **values}
            return opened.enter_context(open_at_place(place, clock, fake_embedder, **chosen))

        yield start


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
def weak_models(models: dict[str, Any]) -> dict[str, Any]:
    """The same model as one of low trust, whose proposals are compared word by word."""
    return {"fast": {**models["fast"], "trust": "low"}}


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
    fresh: object, clock: ManualClock, fake_embedder: FakeEmbedder
) -> Iterator[Callable[..., Remembrancer]]:
    """Open a store at a place, with the fake embedder."""
    with ExitStack() as opened:

        def start(place: str, **values: object) -> Remembrancer:
            return opened.enter_context(
                open_at_place(place, clock, fake_embedder, pool_size=1, **values)
            )

        yield start


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
