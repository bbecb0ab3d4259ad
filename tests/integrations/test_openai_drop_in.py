"""X10: any client gets a memory by changing one URL, and Anthropic's memory tool a backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai
import pytest

from remembrancer.integrations.memory_files import MemoryFiles
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, streams
from tests.support.http_server import Served
from tests.support.waiting import soon

pytestmark = pytest.mark.feature("X10")


def test_X10_what_was_said_in_one_conversation_is_known_in_the_next(
    serve: Callable[..., Served], model: ModelEndpoint
) -> None:
    model.default = streams("Go", "od.")
    served = serve("assistant", server={"upstream": {"url": model.openai}})
    me = served.engine.for_user("ada")
    client = openai.OpenAI(
        base_url=f"{served.address}/v1", api_key=served.engine.create_key("ada").secret
    )
    with client:
        assert told(client, "I am allergic to peanuts.") == "Good."
        assert soon(lambda: bool(me.list().items))
        told(client, "What should I not eat?")

    first, second = (one.json["messages"][0]["content"] for one in model.requests)
    assert first == "I am allergic to peanuts."
    assert second.startswith("What should I not eat?\n\n<remembered>")
    assert "peanuts" in second


def told(client: openai.OpenAI, said: str) -> str:
    messages: Any = [{"role": "user", "content": said}]
    events = client.chat.completions.create(model="m", messages=messages, stream=True)
    return "".join(one.choices[0].delta.content or "" for one in events)


def test_X10_what_claude_notes_in_files_is_recalled_everywhere_and_has_a_history(
    me: Memory,
) -> None:
    files = MemoryFiles(me)
    files.do({"command": "create", "path": "/memories/tea.md", "file_text": "Ada drinks tea."})
    edit = {"command": "str_replace", "path": "/memories/tea.md", "old_str": "tea"}
    files.do({**edit, "new_str": "green tea"})

    (found,) = me.recall("What does Ada drink?")
    assert found.memory.content == "Ada drinks green tea."
    contents = [one.content for one in me.history(found.memory.id).versions]
    assert contents == ["Ada drinks tea.", "Ada drinks green tea."]
    me.undo()
    assert "green" not in files.do({"command": "view", "path": "/memories/tea.md"})
