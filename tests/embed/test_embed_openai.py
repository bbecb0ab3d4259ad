"""The OpenAI-compatible embedder against a real server on the loopback interface."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from remembrancer.embed.openai import OpenAICompatibleEmbedder
from remembrancer.errors import EmbeddingFailed
from remembrancer.retry import RetryPolicy

KEY = "sk-secret-0123456789"
BRIEFLY = RetryPolicy(max_retries=2, initial_delay=0.01, max_delay=0.3)

Reply = tuple[int, dict[str, str], bytes]


class Endpoint(ThreadingHTTPServer):
    """Answers with the scripted replies first, then as the protocol says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.script: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.arrivals: list[float] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.headers.append(dict(self.headers))
        self.server.paths.append(self.path)
        self.server.arrivals.append(time.monotonic())
        scripted = self.server.script.pop(0) if self.server.script else None
        status, headers, content = scripted or (200, {}, json.dumps(answer(body["input"])).encode())
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def raw(text: str) -> list[float]:
    return [float(len(text)), 3.0, -4.0]


def unit(text: str) -> np.ndarray:
    row = np.array(raw(text))
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def answer(texts: list[str]) -> dict[str, Any]:
    data = [{"index": place, "embedding": raw(text)} for place, text in enumerate(texts)]
    return {"object": "list", "data": data}


def ok(content: Any) -> Reply:
    return 200, {}, content if isinstance(content, bytes) else json.dumps(content).encode()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def connect(endpoint: Endpoint) -> Iterator[Callable[..., OpenAICompatibleEmbedder]]:
    opened: list[OpenAICompatibleEmbedder] = []

    def connect(url: str | None = None, **options: Any) -> OpenAICompatibleEmbedder:
        options = {"dimensions": 3, "key": KEY, "retry_policy": BRIEFLY, **options}
        opened.append(OpenAICompatibleEmbedder(url or endpoint.url, "some-model", **options))
        return opened[-1]

    yield connect
    for embedder in opened:
        embedder.close()


Connect = Callable[..., OpenAICompatibleEmbedder]


def test_texts_become_unit_rows_in_batches(endpoint: Endpoint, connect: Connect) -> None:
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    rows = connect(batch_size=2).embed(texts)
    assert rows.dtype == np.float32
    assert np.allclose(rows, [unit(text) for text in texts])
    assert [request["input"] for request in endpoint.requests] == [texts[:2], texts[2:4], texts[4:]]


def test_the_request_is_the_one_of_the_protocol(endpoint: Endpoint, connect: Connect) -> None:
    connect(endpoint.url + "/").embed(["tea"])
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert endpoint.requests == [
        {"model": "some-model", "input": ["tea"], "encoding_format": "float"}
    ]


def test_an_endpoint_without_a_key_gets_none(endpoint: Endpoint, connect: Connect) -> None:
    connect(key=None).embed(["tea"])
    assert "Authorization" not in endpoint.headers[0]


def test_no_texts_make_no_request(endpoint: Endpoint, connect: Connect) -> None:
    assert connect().embed([]).shape == (0, 3)
    assert endpoint.requests == []


def test_text_no_endpoint_would_take_is_made_fit(endpoint: Endpoint, connect: Connect) -> None:
    connect().embed(["", "\ud800x", "word " * 10_000])
    blank, surrogate, long = endpoint.requests[0]["input"]
    assert (blank, surrogate, len(long)) == (" ", "?x", 8000)


def test_the_index_decides_the_order(endpoint: Endpoint, connect: Connect) -> None:
    shuffled = answer(["a", "bb", "ccc"])
    shuffled["data"].reverse()
    endpoint.script = [ok(shuffled)]
    assert np.allclose(connect().embed(["a", "bb", "ccc"]), [unit(t) for t in ("a", "bb", "ccc")])


def test_other_dimensions_are_refused_with_the_number_to_set(
    endpoint: Endpoint, connect: Connect
) -> None:
    with pytest.raises(EmbeddingFailed, match="set the embedding dimensions to 3"):
        connect(dimensions=384).embed(["tea"])


def vector(*numbers: Any) -> dict[str, Any]:
    return {"data": [{"index": 0, "embedding": list(numbers)}]}


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff\xfe\xff",
        b"[" * 100_000,
        b"<html>hello</html>",
        [],
        None,
        {"data": None},
        {"data": []},
        {"data": [{"embedding": [1, 2, 3]}]},
        {"data": [{"index": 1, "embedding": [1, 2, 3]}]},
        answer(["tea", "milk"]),
        {"data": [answer(["a"])["data"][0]] * 2},
        {"data": [{"index": 0, "embedding": "AACAPwAAAEA="}]},
        vector("1", "2", "3"),
        vector(True, False, True),
        vector(None, 1, 2),
        vector(float("nan"), 1, 2),
        vector(float("inf"), 1, 2),
        vector(10**400, 1, 2),
        vector(1e200, 1e200, 1e200),
        vector(0, 0, 0),
    ],
    ids=lambda content: str(content)[:40],
)
def test_an_answer_that_is_no_vector_is_refused(
    endpoint: Endpoint, connect: Connect, content: Any
) -> None:
    endpoint.script = [ok(content)]
    with pytest.raises(EmbeddingFailed, match=r"^The embedding endpoint .+: .+\.$"):
        connect().embed(["tea"])
    assert len(endpoint.requests) == 1


def test_retry_after_is_honoured(endpoint: Endpoint, connect: Connect) -> None:
    endpoint.script = [(429, {"Retry-After": "0.2"}, b"")]
    assert np.allclose(connect().embed(["tea"]), [unit("tea")])
    first, second = endpoint.arrivals
    assert second - first >= 0.2


def test_an_endpoint_cannot_make_us_wait_for_ever(endpoint: Endpoint, connect: Connect) -> None:
    endpoint.script = [(429, {"Retry-After": "86400"}, b"")]
    started = time.monotonic()
    connect().embed(["tea"])
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("asked", ["soon", "-1", "nan", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_pause_we_cannot_read_is_ours_to_choose(
    endpoint: Endpoint, connect: Connect, asked: str
) -> None:
    endpoint.script = [(503, {"Retry-After": asked}, b"")]
    assert np.allclose(connect().embed(["tea"]), [unit("tea")])


def test_an_endpoint_that_keeps_failing_is_given_up(endpoint: Endpoint, connect: Connect) -> None:
    endpoint.script = [(500, {}, b"")] * 9
    with pytest.raises(EmbeddingFailed, match="keeps failing"):
        connect().embed(["tea"])
    assert len(endpoint.requests) == 1 + BRIEFLY.max_retries


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "model's name"),
        (401, "check the embedding key"),
        (403, "check the embedding key"),
        (404, "check the embedding url"),
        (301, "check the embedding url"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(
    endpoint: Endpoint, connect: Connect, status: int, advice: str
) -> None:
    endpoint.script = [(status, {"Location": "http://127.0.0.1:9/"}, b"")]
    with pytest.raises(EmbeddingFailed, match=advice):
        connect().embed(["tea"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 429, 500, 200])
def test_no_message_tells_the_key_or_the_text(
    endpoint: Endpoint, connect: Connect, status: int
) -> None:
    endpoint.script = [(status, {}, f"{KEY} said: my diagnosis".encode())] * 9
    with pytest.raises(EmbeddingFailed) as failure:
        connect().embed(["my diagnosis"])
    told = f"{failure.value!r} {failure.value.__cause__!r}"
    assert KEY not in told
    assert "diagnosis" not in told


def test_a_key_that_cannot_be_sent_is_refused_unquoted(connect: Connect) -> None:
    with pytest.raises(EmbeddingFailed, match="copy it again") as failure:
        connect(key=KEY + "\r\nX-Evil: 1")
    assert KEY not in str(failure.value)


def test_a_refused_connection_says_what_to_check(connect: Connect) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(EmbeddingFailed, match=r"could not be reached \(ConnectError\)"):
            connect(url).embed(["tea"])


def test_a_silent_endpoint_is_left_after_the_timeout(connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        embedder = connect(url, timeout=0.1, retry_policy=RetryPolicy(max_retries=0))
        with pytest.raises(EmbeddingFailed, match="ReadTimeout"):
            embedder.embed(["tea"])


@pytest.mark.parametrize("url", ["localhost:11434/v1", "ftp://host/v1", "http://host:port/v1", ""])
def test_a_url_that_is_none_is_named_as_the_trouble(connect: Connect, url: str) -> None:
    embedder = OpenAICompatibleEmbedder(url, "some-model", dimensions=3)
    with pytest.raises(EmbeddingFailed, match="embedding url cannot be used"):
        embedder.embed(["tea"])


def test_a_closed_embedder_opens_again(connect: Connect) -> None:
    embedder = connect()
    embedder.embed(["tea"])
    embedder.close()
    assert np.allclose(embedder.embed(["tea"]), [unit("tea")])
