"""Every test that takes `place` runs on both engines; teardown asserts that nothing leaked."""

from __future__ import annotations

import itertools
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import hypothesis
import pytest

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.embed.local import LocalEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.store.open import open_store
from tests.support.http_server import Served, served
from tests.support.opening import (
    ENGINES,
    NOON,
    Open,
    assert_no_connection_leaked,
    open_at_place,
    place_on,
)
from tests.support.postgres import start_postgres

hypothesis.settings.register_profile(
    "suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")

pytest_plugins = ["tests.support.fixtures"]

TESTS_PER_DATABASE = 25
SLOW_FOLDERS = ("browser", "faults", "lifecycle", "pages", "security", "server")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run slow folders first, so that no worker is left alone with a long test at the end.

    Tests marked `postgres_long` do not test the store: they run on PostgreSQL only in the long run.
    """
    items.sort(key=lambda item: item.path.parent.name not in SLOW_FOLDERS)
    if os.environ.get("REM_LONG"):
        return
    config.hook.pytest_deselected(items=[item for item in items if is_left_to_the_long_run(item)])
    items[:] = [item for item in items if not is_left_to_the_long_run(item)]


def is_left_to_the_long_run(item: pytest.Item) -> bool:
    return "postgres" in item.name and item.get_closest_marker("postgres_long") is not None


@pytest.fixture(autouse=True)
def _nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever runs the tests has settings and data of their own, which must not matter."""
    for name in os.environ:
        if name.startswith("REMEMBRANCER_"):
            monkeypatch.delenv(name)
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data-home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Callable[[str], str]]:
    """A real PostgreSQL server; call it with a database's name for its address."""
    # Not under pytest's own folder, which other runs tidy away.
    server = start_postgres(tempfile.mkdtemp(prefix="rem-postgres-"))

    @cache
    def address(database: str, template: str = "template1") -> str:
        server.psql(f"CREATE DATABASE {database} TEMPLATE {template}")
        return str(server.get_uri(database))

    yield address
    server.cleanup()


@pytest.fixture(scope="session")
def next_database(postgres_server: Callable[..., str]) -> Callable[[], str]:
    """A database for a few tests on end: the more that is in it, the slower each would be."""
    settings = Settings.model_validate({"store": {"url": postgres_server("migrated")}})
    open_store(settings, ManualClock(NOON)).close()
    numbers = itertools.count()
    return lambda: postgres_server(f"memory_{next(numbers) // TESTS_PER_DATABASE}", "migrated")


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to open a store, on each engine in turn."""
    return place_on(request.param, request, tmp_path)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands at noon of a Monday until it is moved."""
    return ManualClock(NOON)


@pytest.fixture(scope="session")
def embedder() -> CachedEmbedder:
    """The real model, loaded once."""
    return CachedEmbedder(LocalEmbedder())


@pytest.fixture
def tenant() -> str:
    """A tenant of this test's own, as all tests share one database server."""
    return f"tenant-{secrets.token_hex(8)}"


@pytest.fixture
def open_memory(
    place: str, clock: ManualClock, embedder: CachedEmbedder, tenant: str
) -> Iterator[Open]:
    """Open the store of this test: `open_memory(profile="assistant", profile_overrides={…})`."""
    with ExitStack() as opened:

        def start(profile: str = "default", **values: object) -> Remembrancer:
            chosen = {"profile": profile, "tenant": tenant, **values}
            return opened.enter_context(open_at_place(place, clock, embedder, **chosen))

        yield start
    assert_no_connection_leaked(place)


@pytest.fixture
def serve(open_memory: Open) -> Iterator[Callable[..., Served]]:
    """Serve the store of this test over HTTP: `serve(profile="agents")`."""
    with ExitStack() as running:

        def start(profile: str = "default", **values: object) -> Served:
            return running.enter_context(served(open_memory(profile, **values)))

        yield start


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    """An open store with the default profile."""
    return open_memory()


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    """Ada's memory."""
    return store.for_user("ada")
