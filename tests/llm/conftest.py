"""What the tests of every model share: a scripted endpoint, a question, and little patience."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer.llm import Question
from remembrancer.retry import Patience
from remembrancer.types import Json
from tests.llm.endpoint import ModelEndpoint

KEY = "sk-secret-0123456789"
BRIEFLY = Patience(retries=2, first_pause=0.01, longest_pause=0.3)
SCHEMA: dict[str, Json] = {"type": "object", "properties": {"facts": {"type": "array"}}}
QUESTION = Question("Be exact.", "my diagnosis", SCHEMA, name="facts", most_tokens=300)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint() as server:
        yield server
