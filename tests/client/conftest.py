"""The same person's memory twice: kept here, and on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import remembrancer
from remembrancer import RemoteMemory
from tests.support.http_server import Served

Connect = Callable[..., RemoteMemory]


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    """A served store with the default profile."""
    return serve()


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect someone to a server: `connect(served, "ada", agent="health")`."""
    opened: list[RemoteMemory] = []

    def start(served: Served, user: str = "ada", address: str | None = None, **options: Any) -> Any:
        secret = served.engine.create_key(user).secret
        opened.append(remembrancer.connect(address or served.address, secret, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.disconnect()


@pytest.fixture
def remote(served: Served, connect: Connect) -> RemoteMemory:
    """Ada's memory on the server."""
    return connect(served)
