"""A scripted model to talk with, on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from remembrancer.testing import ModelEndpoint, streams


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    """A model that answers as the test says: set its `default` or its `script`."""
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint(default=streams("Good ", "day.")) as endpoint:
        yield endpoint


@pytest.fixture
def models(model: ModelEndpoint) -> dict[str, Any]:
    """The settings that make it the model to talk with, and no other."""
    return {"chat": {"url": model.openai, "model": "scripted", "timeout_seconds": 2}}
