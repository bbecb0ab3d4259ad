"""The OpenAI-compatible model against a real server on the loopback interface."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remembrancer.llm import Answer, InvalidModelResponse, ModelUnavailable, Question
from remembrancer.llm.openai import OpenAICompatibleModel
from remembrancer.retry import RetryPolicy
from remembrancer.testing import ModelEndpoint, ScriptedReply, fails, resets, says, sends
from remembrancer.types import Json
from tests.llm.conftest import BRIEFLY, KEY, QUESTION, SCHEMA

ONCE = RetryPolicy(max_retries=0)
FACTS: dict[str, Json] = {"facts": ["tea"]}


def model_at(place: ModelEndpoint | str, **options: Any) -> OpenAICompatibleModel:
    url = place if isinstance(place, str) else place.openai
    return OpenAICompatibleModel(
        url, "some-model", **{"key": KEY, "retry_policy": BRIEFLY, "timeout": 5, **options}
    )


def test_an_object_comes_back_with_its_cost(endpoint: ModelEndpoint) -> None:
    endpoint.script = [says(FACTS)]
    assert model_at(endpoint).answer(QUESTION) == Answer(FACTS, "some-model", 11, 7)


def test_the_request_is_the_one_of_the_protocol(endpoint: ModelEndpoint) -> None:
    model_at(endpoint.openai + "/").answer(QUESTION)
    [request] = endpoint.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    system, prompt = request.json.pop("messages")
    assert (prompt["role"], prompt["content"]) == ("user", QUESTION.prompt)
    assert system["content"].startswith(QUESTION.system)
    assert "JSON" in system["content"]
    schema = {"name": "facts", "schema": SCHEMA, "strict": False}
    assert request.json == {
        "model": "some-model",
        "max_tokens": 300,
        "temperature": 0,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }


def test_an_endpoint_without_a_key_gets_none(endpoint: ModelEndpoint) -> None:
    model_at(endpoint, key=None).answer(QUESTION)
    assert "Authorization" not in endpoint.requests[0].headers


def test_text_that_cannot_be_encoded_is_asked_all_the_same(endpoint: ModelEndpoint) -> None:
    model_at(endpoint).answer(Question("Süß", "\ud800 日本 \0", {}))
    assert endpoint.requests[0].json["messages"][1]["content"] == "? 日本 \0"


@pytest.mark.parametrize("usage", [None, [], "many", {}, {"prompt_tokens": None}, {"x": -1}])
def test_missing_token_counts_are_estimated(endpoint: ModelEndpoint, usage: Any) -> None:
    endpoint.script = [says('{"a": "' + "x" * 392 + '"}', usage=usage)]
    answer = model_at(endpoint).answer(QUESTION)
    assert 20 < answer.tokens_in < 200
    assert 100 <= answer.tokens_out <= 101


def test_content_may_come_in_parts(endpoint: ModelEndpoint) -> None:
    parts = [{"type": "text", "text": '{"facts": '}, 7, {"type": "text", "text": '["tea"]}'}]
    endpoint.script = [sends({"choices": [{"message": {"content": parts}}]})]
    assert model_at(endpoint).answer(QUESTION).value == FACTS


def chosen(message: Any, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\xff",
        b"[" * 100_000,
        b"<html>hello</html>",
        b'data: {"choices": []}\n\ndata: [DONE]\n',
        b'{"choices": NaN}',
        [],
        None,
        "words",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{}]},
        chosen(None),
        chosen({}),
        chosen({"content": None}),
        chosen({"content": ""}),
        chosen({"content": []}),
        chosen({"content": [{"type": "text"}, {"type": "text", "text": 7}, None]}),
        chosen({"content": 42}),
        chosen({"content": {"facts": []}}),
        chosen({"content": "I would rather not."}),
        chosen({"content": None, "refusal": "I would rather not."}),
        chosen({"content": '{"facts": [{"a": 1}, {"b": '}, "length"),
        chosen({"content": "[1, 2]"}),
        {"error": {"message": "no"}},
        {"error": {"code": True}},
    ],
    ids=lambda body: str(body)[:50],
)
def test_an_answer_of_another_shape_is_refused(endpoint: ModelEndpoint, body: Any) -> None:
    endpoint.script = [sends(body)]
    with pytest.raises(InvalidModelResponse, match=r"^The model.+: .+\.$"):
        model_at(endpoint).answer(QUESTION)
    assert len(endpoint.requests) == 1


def test_an_answer_cut_short_asks_for_more_tokens(endpoint: ModelEndpoint) -> None:
    endpoint.script = [says('{"facts": [{"a": 1}, ', finish="length"), says("", finish="length")]
    model = model_at(endpoint)
    for _ in range(2):
        with pytest.raises(InvalidModelResponse, match="raise its max_tokens"):
            model.answer(QUESTION)


def test_a_whole_answer_is_taken_though_the_tokens_ran_out(endpoint: ModelEndpoint) -> None:
    endpoint.script = [says(FACTS, finish="length")]
    assert model_at(endpoint).answer(QUESTION).value == FACTS


@pytest.mark.parametrize(
    "body",
    [chosen({"content": None, "refusal": "No."}), chosen({"content": "x"}, "content_filter")],
)
def test_a_refusal_is_called_one(endpoint: ModelEndpoint, body: Any) -> None:
    endpoint.script = [sends(body)]
    with pytest.raises(InvalidModelResponse, match="declined"):
        model_at(endpoint).answer(QUESTION)


@pytest.mark.parametrize(("code", "passing"), [(429, True), (502, True), (402, False)])
def test_an_error_inside_a_good_reply_is_an_error(
    endpoint: ModelEndpoint, code: int, passing: bool
) -> None:
    endpoint.script = [sends({"error": {"code": code, "message": "upstream"}})]
    with pytest.raises(ModelUnavailable, match=str(code)) as failure:
        model_at(endpoint).answer(QUESTION)
    assert failure.value.transient is passing


def test_a_huge_answer_is_left_unread(endpoint: ModelEndpoint) -> None:
    endless = sends(b" " * 1_100_000, headers={"Content-Length": str(10**12)})
    endpoint.script = [says({"facts": "x" * 30_000_000}), endless]
    model = model_at(endpoint)
    for _ in range(2):
        with pytest.raises(InvalidModelResponse, match="more than 1 MB"):
            model.answer(QUESTION)


@pytest.mark.parametrize(
    "trouble",
    [
        fails(429),
        fails(429, Retry_After="0.1"),
        fails(500),
        fails(503, Retry_After="soon"),
        fails(529),
        fails(408),
        resets(),
        resets("in mid-body"),
        sends(b"", headers={"Content-Length": "100"}),
        sends(b"{}", headers={"Content-Encoding": "gzip"}),
        says(FACTS, delay=3),
        says(FACTS, trickle=0.3),
    ],
    ids=lambda reply: f"{reply.status} {reply.reset} {reply.delay} {reply.trickle}",
)
def test_trouble_that_passes_is_waited_out(endpoint: ModelEndpoint, trouble: ScriptedReply) -> None:
    endpoint.script = [trouble, trouble, says(FACTS)]
    assert model_at(endpoint, timeout=0.5).answer(QUESTION).value == FACTS
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("trouble", "advice"),
    [
        (fails(429), "over its rate limit"),
        (fails(500), "keeps failing"),
        (resets(), r"could not be reached \(ReadError\)"),
        (resets("in mid-body"), r"could not be reached \(ReadError\)"),
        (says(FACTS, delay=3), "did not answer in time"),
    ],
)
def test_trouble_that_stays_is_given_up(
    endpoint: ModelEndpoint, trouble: ScriptedReply, advice: str
) -> None:
    endpoint.default = trouble
    with pytest.raises(ModelUnavailable, match=advice) as failure:
        model_at(endpoint, timeout=0.3).answer(QUESTION)
    assert failure.value.transient
    assert len(endpoint.requests) == 1 + BRIEFLY.max_retries


def test_retry_after_is_honoured(endpoint: ModelEndpoint) -> None:
    endpoint.script = [fails(429, Retry_After="0.2"), fails(429, Retry_After="86400")]
    model_at(endpoint).answer(QUESTION)
    first, second, third = (request.at for request in endpoint.requests)
    assert second - first >= 0.2
    assert third - second < 5


@pytest.mark.parametrize("pause", [0.002, 0.2], ids=["body", "head"])
def test_a_trickle_cannot_hold_us(endpoint: ModelEndpoint, pause: float) -> None:
    endpoint.default = says({"facts": "x" * 20_000}, trickle=pause)
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match="in time"):
        model_at(endpoint, timeout=1.5, retry_policy=ONCE).answer(QUESTION)
    assert 1.4 < time.monotonic() - started < 5


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 413, 422])
def test_what_will_not_pass_is_not_tried_again(endpoint: ModelEndpoint, status: int) -> None:
    endpoint.default = fails(status, Location="http://127.0.0.1:9/")
    with pytest.raises(ModelUnavailable, match=rf"\({status}\): (check|top up) ") as failure:
        model_at(endpoint).answer(QUESTION)
    assert not failure.value.transient
    assert len(endpoint.requests) == (3 if status in (400, 422) else 1)


def formats(endpoint: ModelEndpoint) -> list[str]:
    asked = [request.json.get("response_format", {"type": "none"}) for request in endpoint.requests]
    return [format["type"] for format in asked]


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_schemas_is_asked_more_plainly_from_then_on(
    endpoint: ModelEndpoint, status: int
) -> None:
    endpoint.script = [fails(status, "'response_format.type' must be 'json_object'"), says(FACTS)]
    model = model_at(endpoint)
    assert model.answer(QUESTION).value == FACTS
    model.answer(QUESTION)
    assert formats(endpoint) == ["json_schema", "json_object", "json_object"]


def test_a_server_without_formats_is_asked_in_words(endpoint: ModelEndpoint) -> None:
    endpoint.script = [fails(400), fails(400), says("Sure:\n```json\n{}\n```")]
    model = model_at(endpoint)
    model.answer(QUESTION)
    model.answer(QUESTION)
    assert formats(endpoint) == ["json_schema", "json_object", "none", "none"]


def test_a_refusal_of_something_else_changes_nothing(endpoint: ModelEndpoint) -> None:
    endpoint.script = [says(FACTS), fails(400, "the prompt is too long"), says(FACTS)]
    model = model_at(endpoint)
    model.answer(QUESTION)
    with pytest.raises(ModelUnavailable):
        model.answer(QUESTION)
    model.answer(QUESTION)
    assert formats(endpoint) == ["json_schema"] * 3


def test_a_rejected_dialect_is_not_remembered(endpoint: ModelEndpoint) -> None:
    endpoint.script = [fails(400), fails(400), fails(400), says(FACTS)]
    model = model_at(endpoint)
    with pytest.raises(ModelUnavailable):
        model.answer(QUESTION)
    model.answer(QUESTION)
    assert formats(endpoint)[-1] == "json_schema"


def test_reasoning_models_get_their_own_words(endpoint: ModelEndpoint) -> None:
    endpoint.script = [
        fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        fails(400, "Unsupported value: 'temperature' does not support 0 with this model."),
        says(FACTS),
    ]
    model = model_at(endpoint)
    model.answer(QUESTION)
    model.answer(QUESTION)
    for request in endpoint.requests[2:]:
        assert request.json["max_completion_tokens"] == 300
        assert not {"max_tokens", "temperature"} & request.json.keys()
    assert formats(endpoint) == ["json_schema"] * 4


@pytest.mark.parametrize("status", [200, 301, 400, 401, 404, 429, 500])
def test_no_message_tells_the_key_or_the_question(endpoint: ModelEndpoint, status: int) -> None:
    words = f"{KEY} asked: my diagnosis"
    endpoint.default = sends(words, status=status, headers={"Location": f"/{KEY}"})
    with pytest.raises((ModelUnavailable, InvalidModelResponse)) as failure:
        model_at(endpoint).answer(QUESTION)
    told = f"{failure.value!r} {failure.value.__cause__!r}"
    assert KEY not in told
    assert "diagnosis" not in told
    assert failure.value.__suppress_context__ or failure.value.__context__ is None


@pytest.mark.parametrize("key", [KEY + "\r\nX-Evil: 1", KEY + " ", "ключ"])
def test_a_key_that_cannot_be_sent_is_refused_unquoted(endpoint: ModelEndpoint, key: str) -> None:
    with pytest.raises(ModelUnavailable, match="copy it again") as failure:
        model_at(endpoint, key=key)
    assert key not in str(failure.value)
    assert not failure.value.transient


def test_a_refused_connection_says_what_to_check() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelUnavailable, match=r"reached \(ConnectError\): check") as failure:
            model_at(url).answer(QUESTION)
    assert failure.value.transient


def test_a_server_that_never_answers_is_left_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(ModelUnavailable, match="in time"):
            model_at(url, timeout=0.2, retry_policy=ONCE).answer(QUESTION)


def test_a_server_that_speaks_no_http_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as strange:
        url = f"http://127.0.0.1:{strange.getsockname()[1]}/v1"
        thread = threading.Thread(target=_greet, args=(strange,))
        thread.start()
        with pytest.raises(ModelUnavailable, match="reached"):
            model_at(url, retry_policy=ONCE).answer(QUESTION)
        thread.join()


def _greet(server: socket.socket) -> None:
    with server.accept()[0] as client:
        client.recv(65536)
        client.sendall(b"220 mail.example.org ESMTP\r\n\r\n")


@pytest.mark.parametrize("url", ["", "localhost:1/v1", "ftp://host/v1", "http://host:port/v1"])
def test_a_url_that_is_none_is_named_as_the_trouble(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="model url cannot be used") as failure:
        model_at(url).answer(QUESTION)
    assert not failure.value.transient


def test_many_threads_may_ask_at_once(endpoint: ModelEndpoint) -> None:
    endpoint.script = lambda asked: says({"echo": asked["messages"][1]["content"]})
    model = model_at(endpoint)
    questions = [Question("", str(number), {}) for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(model.answer, questions))
    assert [answer.value["echo"] for answer in answers] == [q.prompt for q in questions]


def test_it_can_be_asked_where_a_loop_is_running(endpoint: ModelEndpoint) -> None:
    async def notebook() -> Answer:
        return model_at(endpoint).answer(QUESTION)

    endpoint.default = says(FACTS)
    assert asyncio.run(notebook()).value == FACTS


def test_a_closed_model_answers_again(endpoint: ModelEndpoint) -> None:
    model = model_at(endpoint)
    model.close()
    assert model.answer(QUESTION).value == {}
    assert model.name == "some-model"
