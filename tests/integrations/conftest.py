"""What tests of the endpoint share: a server whose models are a script on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from remembrancer.testing import ModelEndpoint, says
from tests.support.http_server import Served

KEY = "upstream-key-of-the-server"


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    """The upstream: set its `default` or its `script`."""
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint(default=says("Well.")) as endpoint:
        yield endpoint


@pytest.fixture
def proxied(serve: Callable[..., Served], models: ModelEndpoint) -> Callable[..., Served]:
    """Serve a store that passes chats on to the script: `proxied("assistant")`."""

    def start(profile: str = "assistant", **upstream: object) -> Served:
        given = {"url": models.openai, "key": KEY, "timeout_seconds": 10, **upstream}
        return serve(profile, server={"upstream": given})

    return start
