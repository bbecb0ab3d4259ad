"""Shared by the tests of all models: a scripted endpoint, a question and a short retry policy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer.llm import Question
from remembrancer.retry import RetryPolicy
from remembrancer.testing import ModelEndpoint
from remembrancer.types import Json

KEY = "sk-secret-0123456789"
BRIEFLY = RetryPolicy(max_retries=2, initial_delay=0.01, max_delay=0.3)
SCHEMA: dict[str, Json] = {"type": "object", "properties": {"facts": {"type": "array"}}}
QUESTION = Question("Be exact.", "my diagnosis", SCHEMA, name="facts", max_tokens=300)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint() as server:
        yield server
