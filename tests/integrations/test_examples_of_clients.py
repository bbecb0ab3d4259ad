"""The examples run as they stand, against a scripted model on loopback."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.testing import ModelEndpoint, ScriptedReply, sends, streams
from tests.support.anthropic_replies import call, says_or_calls
from tests.support.http_server import Served
from tests.support.waiting import soon

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "memory")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, models: ModelEndpoint, place: str) -> Callable[..., None]:
    """Run an example whose model is the script."""

    def start(name: str, *arguments: str, **environment: str) -> None:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        given = {
            "OPENAI_BASE_URL": models.openai,
            "ANTHROPIC_BASE_URL": models.url,
            "OPENAI_API_KEY": "key",
            "ANTHROPIC_API_KEY": "key",
            "STORE": place,
            **environment,
        }
        for variable, value in given.items():
            monkeypatch.setenv(variable, value)
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    return start


def calling(name: str, arguments: str) -> ScriptedReply:
    function = {"name": name, "arguments": arguments}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    envelope = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return sends({**envelope, "choices": [choice]})


def saying(text: str) -> ScriptedReply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    envelope = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return sends({**envelope, "choices": [{**choice, "finish_reason": "stop"}]})


def test_a_client_of_the_endpoint(
    run: Callable[..., None],
    proxied: Callable[..., Served],
    models: ModelEndpoint,
    capsys: pytest.CaptureFixture[str],
) -> None:
    models.script = [streams("Good to know."), streams("In ", "Bergen.")]
    served = proxied()
    address, secret = f"{served.address}/v1", served.engine.create_key("ada").secret
    for question in ("I moved to Bergen.", "Where do I live?"):
        run("openai_endpoint/chat.py", question, OPENAI_BASE_URL=address, OPENAI_API_KEY=secret)
        assert soon(lambda: bool(served.engine.for_user("ada").list().items))
    assert capsys.readouterr().out == "Good to know.\nIn Bergen.\n"
    assert "Moved to Bergen" in models.requests[1].json["messages"][0]["content"]


def test_the_memory_tool(
    run: Callable[..., None], models: ModelEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    models.script = [
        says_or_calls(
            call(1, command="create", path="/memories/tea.md", file_text="Ada drinks green tea.")
        ),
        says_or_calls({"type": "text", "text": "Noted."}),
    ]
    run("anthropic_memory_tool/notes.py")
    assert capsys.readouterr().out == "Noted.\nAda drinks green tea.\n"


def test_the_agents_sdk(
    run: Callable[..., None], models: ModelEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    models.script = [calling("tide", '{"harbour": "Oslo"}'), saying("At noon."), saying("In Oslo.")]
    run("openai_agents/desk.py")
    assert capsys.readouterr().out == "At noon.\nIn Oslo.\n"
    assert "Bluebird lies in Oslo" in str(models.requests[-1].json)


def test_pydantic_ai(
    run: Callable[..., None], models: ModelEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    models.script = [
        calling("remember", '{"content": "The user is allergic to peanuts."}'),
        saying("I will."),
        calling("recall", '{"query": "allergic to"}'),
        saying("Peanuts."),
    ]
    run("pydantic_ai/assistant.py")
    assert capsys.readouterr().out == "I will.\nPeanuts.\n"
    told: Any = models.requests[-1].json["messages"][-1]
    assert "allergic to peanuts" in told["content"]
