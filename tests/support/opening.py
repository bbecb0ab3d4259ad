"""Opens stores for tests, and checks that they leave no connection or file open."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from remembrancer.clock import Clock
from remembrancer.config import Settings
from remembrancer.embed import Embedder
from remembrancer.engine import Remembrancer
from remembrancer.factory import open_models
from remembrancer.store.open import open_store

ENGINES = ("sqlite", "postgres")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
Open = Callable[..., Remembrancer]


def place_on(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to open a store on one engine."""
    if engine == "sqlite":
        return str(tmp_path / "memory")
    return str(request.getfixturevalue("next_database")())


def open_at_place(
    place: str, clock: Clock, embedder: Embedder, *, pool_size: int = 4, **values: object
) -> Remembrancer:
    """Open the store at a directory or a PostgreSQL URL, for the user Ada."""
    where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": pool_size}
    settings = Settings.model_validate({"user": "ada", "store": where, **values})
    models = open_models(settings.models)
    return Remembrancer(settings, open_store(settings, clock), embedder, clock, models)


def assert_no_connection_leaked(place: str) -> None:
    """After closing, the server knows of no connection of ours, and no file is held open."""
    if not place.startswith("postgresql"):
        held = [str(path) for path in open_files() if str(path).startswith(place)]
        assert not held, f"still open: {held}"
        return
    engine = create_engine(place.replace("postgresql://", "postgresql+psycopg://"))
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    others = 0
    for _ in range(50):  # a closed connection takes the server a moment to notice
        with engine.connect() as connection:
            others = connection.execute(query).scalar_one()
        if not others:
            break
        time.sleep(0.02)
    engine.dispose()
    assert others == 0, f"{others} connections still open"


def open_files() -> list[Path]:
    """The files this process holds open, where the system tells."""
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        return []
    found = []
    for descriptor in descriptors.iterdir():
        try:
            found.append(descriptor.readlink())
        except OSError:
            continue
    return found
