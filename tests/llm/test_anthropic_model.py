"""The Anthropic model against a real server on the loopback interface."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.llm import Answer, InvalidModelResponse, ModelUnavailable
from remembrancer.llm.anthropic import AnthropicModel
from remembrancer.testing import ModelEndpoint, ScriptedReply, fails, resets, says, sends
from remembrancer.types import Json
from tests.llm.conftest import BRIEFLY, KEY, QUESTION, SCHEMA

FACTS: dict[str, Json] = {"facts": ["tea"]}


def model_at(endpoint: ModelEndpoint, path: str = "", **options: Any) -> AnthropicModel:
    options = {"key": KEY, "retry_policy": BRIEFLY, "timeout": 5, **options}
    return AnthropicModel("some-model", url=endpoint.url + path, **options)


def test_the_tools_input_is_the_answer(endpoint: ModelEndpoint) -> None:
    endpoint.script = [says(FACTS)]
    assert model_at(endpoint).answer(QUESTION) == Answer(FACTS, "some-model", 11, 7)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_request_is_the_one_of_the_protocol(endpoint: ModelEndpoint, path: str) -> None:
    model_at(endpoint, path).answer(QUESTION)
    [request] = endpoint.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    tool = {"name": "facts", "description": "Give the answer.", "input_schema": SCHEMA}
    assert request.json == {
        "model": "some-model",
        "max_tokens": 300,
        "system": QUESTION.system,
        "messages": [{"role": "user", "content": QUESTION.prompt}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": "facts"},
    }


def test_a_model_that_cannot_be_forced_is_asked_from_then_on(endpoint: ModelEndpoint) -> None:
    refusal = 'tool_choice: type "tool" and "any" are not supported for this model.'
    endpoint.script = [fails(400, refusal), says(FACTS), says('My answer: {"facts": ["tea"]}')]
    model = model_at(endpoint)
    assert [model.answer(QUESTION).value for _ in range(2)] == [FACTS, FACTS]
    choices = [request.json["tool_choice"]["type"] for request in endpoint.requests]
    assert choices == ["tool", "auto", "auto"]
    assert "Call the tool facts" in endpoint.requests[1].json["system"]


def test_thinking_before_the_tool_is_passed_over(endpoint: ModelEndpoint) -> None:
    blocks = [
        {"type": "thinking", "thinking": '{"x": 0}', "signature": "s"},
        {"type": "text", "text": '{"x": 0}'},
        {"type": "tool_use", "id": "toolu_1", "name": "facts", "input": FACTS},
    ]
    endpoint.script = [sends({"content": blocks, "stop_reason": "tool_use"})]
    assert model_at(endpoint).answer(QUESTION).value == FACTS


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": "11", "output_tokens": None}])
def test_missing_token_counts_are_estimated(endpoint: ModelEndpoint, usage: Any) -> None:
    endpoint.script = [says({"a": "x" * 392}, usage=usage)]
    answer = model_at(endpoint).answer(QUESTION)
    assert 20 < answer.tokens_in < 200
    assert 100 <= answer.tokens_out <= 101


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"<html>hello</html>",
        b'{"content": [{"type": "tool_use", "input": {"a": NaN}}]}',
        b'{"content": [{"type": "tool_use", "input": ' + b'{"a":' * 200 + b"1" + b"}" * 202,
        [],
        None,
        {},
        {"content": None},
        {"content": []},
        {"content": "words"},
        {"content": [None, 7, {}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": "I would rather not."}]},
        {"content": [{"type": "tool_use", "input": None}]},
        {"content": [{"type": "tool_use", "input": [FACTS]}]},
        {"content": [{"type": "tool_use", "input": "{}"}]},
        {"content": [{"type": "tool_use", "input": {}}], "stop_reason": "max_tokens"},
        {"content": [], "stop_reason": "refusal"},
    ],
    ids=lambda body: str(body)[:50],
)
def test_an_answer_of_another_shape_is_refused(endpoint: ModelEndpoint, body: Any) -> None:
    endpoint.script = [sends(body)]
    with pytest.raises(InvalidModelResponse, match=r"^The model.+: .+\.$"):
        model_at(endpoint).answer(QUESTION)
    assert len(endpoint.requests) == 1


def test_a_huge_answer_is_left_unread(endpoint: ModelEndpoint) -> None:
    endpoint.script = [says({"facts": "x" * 3_000_000})]
    with pytest.raises(InvalidModelResponse, match="more than 1 MB"):
        model_at(endpoint).answer(QUESTION)


@pytest.mark.parametrize(
    "trouble",
    [
        fails(429, Retry_After="0.1"),
        fails(500),
        fails(529),
        resets(),
        resets("in mid-body"),
        says(FACTS, delay=3),
        says(FACTS, trickle=0.3),
    ],
    ids=lambda reply: f"{reply.status} {reply.reset} {reply.delay} {reply.trickle}",
)
def test_trouble_that_passes_is_waited_out(endpoint: ModelEndpoint, trouble: ScriptedReply) -> None:
    endpoint.script = [trouble, trouble, says(FACTS)]
    assert model_at(endpoint, timeout=0.5).answer(QUESTION).value == FACTS
    assert len(endpoint.requests) == 3


def test_an_overloaded_endpoint_is_given_up(endpoint: ModelEndpoint) -> None:
    endpoint.default = fails(529)
    with pytest.raises(ModelUnavailable, match=r"keeps failing \(529\)") as failure:
        model_at(endpoint).answer(QUESTION)
    assert failure.value.transient
    assert len(endpoint.requests) == 1 + BRIEFLY.max_retries


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413])
def test_what_will_not_pass_is_not_tried_again(endpoint: ModelEndpoint, status: int) -> None:
    endpoint.default = fails(status)
    with pytest.raises(ModelUnavailable, match=rf"\({status}\): check") as failure:
        model_at(endpoint).answer(QUESTION)
    assert not failure.value.transient
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_no_message_tells_the_key_or_the_question(endpoint: ModelEndpoint, status: int) -> None:
    endpoint.default = sends(f"tool_choice {KEY} asked: my diagnosis", status=status)
    with pytest.raises((ModelUnavailable, InvalidModelResponse)) as failure:
        model_at(endpoint).answer(QUESTION)
    told = f"{failure.value!r} {failure.value.__cause__!r}"
    assert KEY not in told
    assert "diagnosis" not in told


@pytest.mark.parametrize("key", ["", KEY + "\n"])
def test_a_key_that_cannot_be_sent_is_refused_unquoted(endpoint: ModelEndpoint, key: str) -> None:
    with pytest.raises(ModelUnavailable, match="copy it again") as failure:
        model_at(endpoint, key=key)
    assert KEY not in str(failure.value)
    assert not failure.value.transient


def test_a_closed_model_answers_again(endpoint: ModelEndpoint) -> None:
    model = model_at(endpoint)
    model.close()
    assert model.answer(QUESTION).value == {}
    assert model.name == "some-model"
