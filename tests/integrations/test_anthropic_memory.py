"""Anthropic's memory tool in the hands of its own SDK, against a scripted model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import pytest

from remembrancer.integrations.anthropic_memory import AsyncMemoryTool, MemoryTool
from remembrancer.integrations.memory_files import MemoryFiles
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from tests.support.anthropic_replies import call, says_or_calls

TEA = "/memories/likes/tea.md"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """All of this lies above the store: one engine is enough."""
    return str(tmp_path / "memory")


CONVERSATION = [
    says_or_calls(call(1, command="view", path="/memories")),
    says_or_calls(call(2, command="create", path=TEA, file_text="Green tea\n")),
    says_or_calls(call(3, command="view", path="/memories/../etc/passwd")),
    says_or_calls({"type": "text", "text": "I have noted it."}),
]


def results(models: ModelEndpoint) -> list[dict[str, Any]]:
    """What the model was told of its calls."""
    last = [one.json["messages"][-1]["content"] for one in models.requests[1:]]
    return [one[0] for one in last]


def test_the_official_sdk_runs_it(me: Memory, models: ModelEndpoint) -> None:
    models.script = CONVERSATION
    with anthropic.Anthropic(base_url=models.url, api_key="key", max_retries=0) as client:
        said = client.beta.messages.tool_runner(
            model="claude",
            max_tokens=100,
            messages=[{"role": "user", "content": "I drink green tea."}],
            tools=[MemoryTool(me)],
        ).until_done()

    assert said.content[0].text == "I have noted it."
    assert models.requests[0].json["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    viewed, created, refused = results(models)
    assert "files and directories" in str(viewed["content"])
    assert TEA in str(created["content"])
    assert refused["is_error"]
    assert MemoryFiles(me).list_files()[TEA].content == "Green tea\n"


async def run_async(me: Memory, url: str) -> str:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="key", max_retries=0) as client:
        said = await client.beta.messages.tool_runner(
            model="claude",
            max_tokens=100,
            messages=[{"role": "user", "content": "I drink green tea."}],
            tools=[AsyncMemoryTool(me)],
        ).until_done()
        return str(said.content[0].text)


def test_the_official_sdk_runs_it_asynchronously(me: Memory, models: ModelEndpoint) -> None:
    models.script = CONVERSATION
    assert asyncio.run(run_async(me, models.url)) == "I have noted it."
    assert MemoryFiles(me).list_files()[TEA].content == "Green tea\n"
