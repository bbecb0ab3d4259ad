"""What the tests of integrations share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import remembrancer
from remembrancer.access.login_links import ServerStart
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.memory import Memory
from remembrancer.server import run
from tests.hooks.sessions import Session
from tests.support.http_server import Served, served

Serve = Callable[[], Served]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a store of this test lies, by the computer's clock."""
    return tmp_path / "memory"


@pytest.fixture
def store(folder: Path, embedder: CachedEmbedder) -> Iterator[remembrancer.Remembrancer]:
    """The store, open in this process too."""
    with remembrancer.open(folder, settings=Settings(), embedder=embedder) as opened:
        yield opened


@pytest.fixture
def me(store: remembrancer.Remembrancer) -> Memory:
    """The memory of the person at this machine."""
    return store.for_user()


@pytest.fixture
def session(tmp_path: Path, folder: Path) -> Session:
    """A session with Claude Code."""
    return Session(tmp_path, ("--store", str(folder)))


@pytest.fixture
def serve(store: remembrancer.Remembrancer) -> Iterator[Serve]:
    """Serve the store, and leave word of it as `rem serve` does."""
    with ExitStack() as ending:

        def start() -> Served:
            server = ending.enter_context(served(store))
            port = int(server.address.rpartition(":")[2])
            begun = ServerStart.new()
            key, file = run.publish_local_key(store, port, begun)
            ending.callback(run.LocalAccess(begun, None, key, file).revoke, store)
            return server

        yield start
