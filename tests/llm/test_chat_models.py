"""Talking with a model over both protocols: streamed, bounded in time, sent so that it caches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import pytest

from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.llm.anthropic import AnthropicModel
from remembrancer.llm.chat import (
    ChatMessage,
    ChatModel,
    ChatPrompt,
    ToolCall,
    ToolDefinition,
    ToolRound,
)
from remembrancer.llm.command import CommandModel
from remembrancer.llm.openai import OpenAICompatibleModel
from remembrancer.testing import ModelEndpoint, ScriptedCall, fails, resets, sends, streams
from tests.llm.conftest import BRIEFLY, KEY

Connect = Callable[..., ChatModel]
OFFER = ToolDefinition("remember", "Keep it.", {"type": "object", "properties": {}})
HELLO = ChatPrompt("Be kind.", "Hello", tools=(OFFER,))


@pytest.fixture(params=["openai", "anthropic"])
def connect(request: pytest.FixtureRequest, endpoint: ModelEndpoint) -> Connect:
    """A model of either protocol at the scripted endpoint."""

    def made(timeout: float = 5) -> ChatModel:
        if request.param == "openai":
            return OpenAICompatibleModel(
                endpoint.openai, "m", key=KEY, timeout=timeout, retry_policy=BRIEFLY
            )
        return AnthropicModel("m", key=KEY, url=endpoint.url, timeout=timeout, retry_policy=BRIEFLY)

    return made


def test_text_comes_while_it_is_made(connect: Connect, endpoint: ModelEndpoint) -> None:
    endpoint.script = [streams("Good ", "morning", pause=0.1)]

    began = time.monotonic()
    pieces = []
    for piece in connect().reply(HELLO):
        pieces.append((piece, time.monotonic() - began))

    assert [piece for piece, _ in pieces] == ["Good ", "morning"]
    assert pieces[1][1] - pieces[0][1] > 0.05


def test_calls_of_tools_are_put_together(connect: Connect, endpoint: ModelEndpoint) -> None:
    endpoint.script = [streams("Wait.", ScriptedCall("remember", {"content": "tea"}, "c1"))]

    assert list(connect().reply(HELLO)) == ["Wait.", ToolCall("c1", "remember", {"content": "tea"})]


@pytest.mark.parametrize("arguments", ["{", "[]", "no", '{"a": NaN}', "[" * 5000])
def test_arguments_that_are_no_object_are_none(
    connect: Connect, endpoint: ModelEndpoint, arguments: str
) -> None:
    endpoint.script = [streams(ScriptedCall("remember", arguments))]

    (call,) = connect().reply(HELLO)

    assert isinstance(call, ToolCall)
    assert call.arguments is None


def test_the_results_of_calls_are_sent_back(connect: Connect, endpoint: ModelEndpoint) -> None:
    endpoint.script = [streams("Done.")]
    step = ToolRound("Wait.", (ToolCall("c1", "remember", {"content": "tea"}),), ("Remembered.",))

    list(
        connect().reply(
            ChatPrompt("s", "x", tools=(OFFER,), tool_rounds=(step,), allow_tool_calls=False)
        )
    )

    sent = endpoint.requests[0].json
    assert str(sent["messages"][-1]).count("Remembered.") == 1
    assert "c1" in str(sent["messages"][-1])
    assert sent["tool_choice"] in ("none", {"type": "none"})


def test_a_deadline_holds_for_the_whole_answer(connect: Connect, endpoint: ModelEndpoint) -> None:
    endpoint.default = streams(*"slow" * 50, pause=0.1)

    began = time.monotonic()
    heard = []
    with pytest.raises(ModelUnavailable, match="in time"):
        heard.extend(connect(timeout=1).reply(HELLO))

    assert 0.9 < time.monotonic() - began < 5
    assert len(endpoint.requests) <= 1


def test_a_transient_failure_is_retried_before_the_first_event(
    connect: Connect, endpoint: ModelEndpoint
) -> None:
    endpoint.script = [fails(503), resets(), streams("There.")]

    assert list(connect().reply(HELLO)) == ["There."]
    assert len(endpoint.requests) == 3


def test_an_answer_that_breaks_off_is_not_asked_for_again(
    connect: Connect, endpoint: ModelEndpoint
) -> None:
    endpoint.script = [streams("One ", "two ", "three ", "four", reset="in mid-body")]

    heard: list[str | ToolCall] = []
    with pytest.raises(ModelUnavailable) as error:
        heard.extend(connect().reply(HELLO))

    assert heard[0] == "One "
    assert error.value.transient
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
def test_refusals_say_what_to_do_and_quote_nothing(
    connect: Connect, endpoint: ModelEndpoint, status: int
) -> None:
    endpoint.script = [fails(status, "the secret reason")]

    with pytest.raises(ModelUnavailable) as error:
        list(connect().reply(HELLO))

    assert not error.value.transient
    assert "secret" not in str(error.value)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("body", ["data: {oops\n\n", "data: [DONE]\n\n", "<html>", ""])
def test_an_empty_answer_is_an_error(connect: Connect, endpoint: ModelEndpoint, body: str) -> None:
    endpoint.script = [sends(body, headers={"Content-Type": "text/event-stream"})]

    with pytest.raises(InvalidModelResponse):
        list(connect().reply(HELLO))


def test_closing_the_stream_cancels_the_request(connect: Connect, endpoint: ModelEndpoint) -> None:
    endpoint.script = [streams(*"endless" * 20, pause=0.2)]
    answer = connect().reply(HELLO)
    next(answer)

    began = time.monotonic()
    answer.close()

    assert time.monotonic() - began < 1
    assert "remembrancer-answer" not in [one.name for one in threading.enumerate()]


def test_the_prefix_is_the_same_bytes_and_the_note_comes_after_the_breakpoint(
    connect: Connect, endpoint: ModelEndpoint
) -> None:
    endpoint.default = streams("Ok.")
    model = connect()
    past = (ChatMessage("user", "Hi"), ChatMessage("assistant", "Hello"))
    for note in ("<remembered>one</remembered>", "<remembered>two</remembered>"):
        list(model.reply(ChatPrompt("Be kind.", "Now?", note=note, history=past, tools=(OFFER,))))

    first, second = (one.json for one in endpoint.requests)
    assert first["messages"][:-1] == second["messages"][:-1]
    assert {k: v for k, v in first.items() if k != "messages"} == {
        k: v for k, v in second.items() if k != "messages"
    }
    assert "one" in str(first["messages"][-1])
    assert "cache_control" not in str(first["messages"][-1])
    if "system" in first:  # Anthropic's protocol is told where to cache
        assert first["system"][-1]["cache_control"] == {"type": "ephemeral"}
        assert first["messages"][-2]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_a_server_without_tools_is_asked_without(endpoint: ModelEndpoint) -> None:
    endpoint.script = [fails(400, "this model does not support tools"), streams("Hi.")]
    model = OpenAICompatibleModel(endpoint.openai, "m", retry_policy=BRIEFLY)

    assert list(model.reply(HELLO)) == ["Hi."]
    assert "tools" not in endpoint.requests[1].json


def test_a_server_that_does_not_stream_is_understood(endpoint: ModelEndpoint) -> None:
    message = {"role": "assistant", "content": "All at once."}
    endpoint.script = [sends({"choices": [{"message": message, "finish_reason": "stop"}]})]

    model = OpenAICompatibleModel(endpoint.openai, "m", retry_policy=BRIEFLY)
    assert list(model.reply(HELLO)) == ["All at once."]


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (("<thi", "nk>Hm, ", "</think>", "\n\nGood day."), "Good day."),
        (("<think>a</think>Yes",), "Yes"),
        (("<", "3 you"), "<3 you"),
        (("<",), "<"),
        (("I <think> so",), "I <think> so"),
    ],
)
def test_thinking_that_a_server_lets_through_is_left_out(
    endpoint: ModelEndpoint, pieces: tuple[str, ...], said: str
) -> None:
    endpoint.script = [streams(*pieces)]
    model = OpenAICompatibleModel(endpoint.openai, "m", retry_policy=BRIEFLY)

    assert "".join(map(str, model.reply(HELLO))) == said


def test_thinking_alone_is_no_answer(endpoint: ModelEndpoint) -> None:
    endpoint.script = [streams("<think>", "for ever")]

    with pytest.raises(InvalidModelResponse):
        list(OpenAICompatibleModel(endpoint.openai, "m", retry_policy=BRIEFLY).reply(HELLO))


def test_a_command_answers_at_once_and_without_tools() -> None:
    script = "import json, sys; print(json.dumps({'answer': str('Hello' in sys.stdin.read())}))"
    model = CommandModel((sys.executable, "-c", script), timeout=20)

    assert list(model.reply(HELLO)) == ["True"]
