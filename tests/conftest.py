"""Every test that takes `place` runs on both engines; teardown asserts that nothing leaked."""

from __future__ import annotations

import itertools
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from sqlalchemy import create_engine, text

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.embed.local import LocalEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.factory import open_models
from remembrancer.memory import Memory
from remembrancer.store.open import open_store
from tests.servers import start_postgres
from tests.serving import Served, served

hypothesis.settings.register_profile(
    "suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")

ENGINES = ("sqlite", "postgres")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TESTS_TOGETHER = 25
SURFACES = ("server", "mcp", "client", "assistant")
ON_BOTH = (
    "test_serve.py",
    "test_once.py",
    "test_keys.py",
    "test_leaving.py",
    "test_same_as_local.py",
)
ABOVE_THE_STORE = (
    "test_everywhere.py",
    "test_models_fail.py",
    "test_pydantic_ai.py",
    "test_A9_the_endpoint_leaves_what_clients_send_alone.py",
    "test_A23_memory_is_never_permission.py",
    "test_I1_I5_I6_I9_memories_of_instances_over_rest.py",
    "test_I4_six_categories.py",
    "test_M8_twelve_tools_for_agents.py",
    "test_M10_context_block_of_facts_rules_and_episodes.py",
    "test_M14_rest_endpoints.py",
    "test_M17_sessions_become_episodes_and_any_agent_gets_its_context.py",
    "test_N4_langgraph_nodes.py",
    "test_N8_similar_memories_versions_links_and_use.py",
    "test_P3_active_memories_load_at_the_start_of_a_chat.py",
    "test_P4_each_category_has_a_token_budget.py",
    "test_P6_tools_for_preferences.py",
    "test_P11_the_extractor_sees_memories_as_data.py",
    "test_P16_demo_sessions_vanish.py",
    "test_X3_every_recalled_memory_explains_itself.py",
    "test_X6_echoes_never_become_memories.py",
)
LONGEST = ("browser", "faults", "lifecycle", "security", "server")
Open = Callable[..., Remembrancer]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest come first, so that no process is left alone with one in the end.

    What does not touch the store itself is tried on PostgreSQL by `make test-long` alone.
    """
    items.sort(key=lambda one: one.path.parent.name not in LONGEST)
    if os.environ.get("REM_LONG"):
        return
    config.hook.pytest_deselected(items=[one for one in items if is_spared(one)])
    items[:] = [one for one in items if not is_spared(one)]


def is_spared(item: pytest.Item) -> bool:
    """Whether a test is left to the long run."""
    file, folder = item.path.name, item.path.parent.name
    above = file in ABOVE_THE_STORE or (folder in SURFACES and file not in ON_BOTH)
    return above and "postgres" in item.name


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
    return lambda: postgres_server(f"memory_{next(numbers) // TESTS_TOGETHER}", "migrated")


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to open a store, on each engine in turn."""
    return place_on(request.param, request, tmp_path)


def place_on(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to open a store on one engine."""
    if engine == "sqlite":
        return str(tmp_path / "memory")
    return str(request.getfixturevalue("next_database")())


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
    opened: list[Remembrancer] = []

    def start(profile: str = "default", **values: object) -> Remembrancer:
        where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 4}
        settings = Settings.model_validate(
            {"profile": profile, "tenant": tenant, "user": "ada", "store": where, **values}
        )
        models = open_models(settings.models)
        store = Remembrancer(settings, open_store(settings, clock), embedder, clock, models)
        opened.append(store)
        return store

    yield start
    for one in opened:
        one.close()
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
