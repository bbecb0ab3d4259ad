"""Host, origin, body and rate limits; and the contents of the request log."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from remembrancer.server.middleware.rate_limit import TokenBuckets
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]
TEA = {"content": "Ada drinks tea."}


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.",
        "evil.example:8150",
        "",
        "127.0.0.1@x",
    ],
)
def test_a_foreign_host_is_refused_whatever_the_key(served: Served, host: str) -> None:
    secret = served.engine.create_key("ada").secret
    answer = served.client(secret, Host=host).get("/api/me")
    assert 400 <= answer.status_code < 500
    assert "ada" not in answer.json()["detail"]


def test_the_names_of_this_machine_and_those_configured_are_taken(serve: Serve) -> None:
    served = serve(server={"allowed_hosts": ["memory.example.org"]})
    secret = served.engine.create_key("ada").secret
    for host in ("localhost", "localhost:8150", "[::1]:8150", "Memory.Example.org", "127.0.0.1"):
        assert served.client(secret, Host=host).get("/api/me").status_code == 200
    assert served.client(secret, Host="other.example.org").get("/api/me").status_code == 400


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_another_sites_page_is_refused(served: Served, origin: str) -> None:
    ada = served.of("ada")
    for method in ("GET", "POST"):
        answer = ada.request(method, "/api/me", headers={"Origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")


def test_no_other_site_may_read_unless_it_is_named(serve: Serve) -> None:
    closed, open_ = serve(), serve(server={"allowed_origins": ["https://app.example.org"]})
    ask = {"Origin": "https://app.example.org", "Access-Control-Request-Method": "POST"}
    refused = closed.client().options("/api/remember", headers=ask)
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    allowed = open_.client().options("/api/remember", headers=ask)
    assert allowed.headers["access-control-allow-origin"] == "https://app.example.org"
    told = open_.of("ada").get("/api/me", headers={"Origin": "https://app.example.org"})
    assert told.headers["access-control-allow-origin"] == "https://app.example.org"


def test_a_large_body_is_refused_with_a_length_and_without(serve: Serve) -> None:
    ada = serve(server={"max_body_bytes": 10_000}).of("ada")

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1000

    for body in (b" " * 10_001, pieces()):
        answer = ada.post("/api/remember", content=body)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert ada.post("/api/remember", json=TEA).status_code == 200


@pytest.mark.parametrize("chunked", [True, False])
def test_a_slow_body_is_not_waited_for(serve: Serve, chunked: bool) -> None:
    served = serve(server={"body_timeout_seconds": 0.5})
    secret = served.engine.create_key("ada").secret
    host, port = served.address.removeprefix("http://").split(":")
    length = "Transfer-Encoding: chunked" if chunked else "Content-Length: 1000"
    head = f"POST /api/remember HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}\r\n"
    started = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(f"{head}Content-Type: application/json\r\n{length}\r\n\r\n".encode())
        line.sendall(b"1\r\n{\r\n" if chunked else b"{")
        answer = line.recv(10_000)
    assert b" 408 " in answer.split(b"\r\n")[0]
    assert time.monotonic() - started < 10


def test_who_asks_too_often_is_told_when_to_come_again(serve: Serve) -> None:
    served = serve(server={"requests_per_minute": 6, "burst": 3})
    ada, bob, nobody = served.of("ada"), served.of("bob"), served.client()
    assert [ada.get("/api/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = ada.get("/api/me")
    assert refused.json()["code"] == "too_many_requests"
    assert 1 <= int(refused.headers["retry-after"]) <= 10
    assert bob.get("/api/me").status_code == 200
    assert nobody.get("/healthz").status_code == 200


def test_a_bucket_fills_up_with_time() -> None:
    now = [0.0]
    buckets = TokenBuckets(60, 2, lambda: now[0])
    assert [buckets.take_token("ada") for _ in range(3)] == [0, 0, 1]
    now[0] += 1
    assert [buckets.take_token("ada") for _ in range(2)] == [0, 1]
    now[0] += 1000
    assert [buckets.take_token("ada") for _ in range(3)] == [0, 0, 1]


def test_every_error_has_one_shape(served: Served) -> None:
    ada = served.of("ada")
    answers = [
        served.client().get("/api/me"),
        ada.get("/nowhere"),
        ada.put("/api/me"),
        ada.post("/api/remember", content=b"{"),
        ada.post(
            "/api/remember", content=b"\xff\xfe", headers={"Content-Type": "application/json"}
        ),
        ada.post("/api/remember", json={"content": ""}),
        ada.post("/api/remember", json=[1]),
        ada.post("/api/undo", json={}),
        ada.get("/api/memory/nothing"),
    ]
    assert [one.status_code for one in answers] == [401, 404, 405, 422, 422, 422, 422, 404, 404]
    for one in answers:
        body = one.json()
        assert one.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "detail", "code", "request_id"} <= body.keys()
        assert body["status"] == one.status_code
        assert body["request_id"] == one.headers["x-request-id"]
        assert len(body["detail"]) > 5


def test_what_was_sent_is_not_repeated_in_an_error(served: Served) -> None:
    answer = served.of("ada").post("/api/remember", json={"content": 5, "importance": "zeppelin"})
    assert answer.status_code == 422
    assert "zeppelin" not in answer.text
    assert {one["where"] for one in answer.json()["errors"]} == {"content", "importance"}


def test_the_log_tells_routes_and_never_words_or_ids(served: Served) -> None:
    louise = served.of("louise")
    fact = louise.post("/api/remember", json=TEA).json()["memory"]["id"]
    louise.get(f"/api/memory/{fact}")
    louise.get("/api/memory/facts", params={"q": "zeppelin"})
    louise.get("/nowhere/zeppelin")
    louise.request("ZEPPELIN", "/api/me")

    log = served.log.getvalue()

    for word in (fact, "zeppelin", "ZEPPELIN", "tea", "louise", "rem_"):
        assert word not in log
    lines = served.logged()
    assert {"/api/memory/{id}", "/api/remember", "/api/memory/facts"} <= {
        one["route"] for one in lines
    }
    assert all(one.keys() >= {"request_id", "method", "status", "duration_ms"} for one in lines)


def test_metrics_are_counted_by_the_template_of_the_route(served: Served) -> None:
    root = served.of("root", capabilities=["users:view"])
    for number in range(3):
        root.get(f"/api/memory/nothing-{number}")
    text = root.get("/metrics").text
    counted = 'remembrancer_requests_total{method="GET",route="/api/memory/{id}",status="404"} 3.0'
    assert counted in text
    assert "nothing-" not in text


def test_what_nobody_expected_is_told_to_nobody(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("zeppelin")

    monkeypatch.setattr(served.engine, "check_writable", broken)
    answer = served.client().get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "zeppelin" not in answer.text + served.log.getvalue()
    assert served.logged()[0]["error"] == "RuntimeError"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_need_no_key_and_no_name(served: Served, path: str) -> None:
    answer = served.client(Host="10.0.0.7:8150").get(path)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_deeply_nested_json_is_refused(served: Served) -> None:
    ada = served.of("ada")
    for depth in (40, 900, 100_000):
        nested = '{"a":' * depth + "1" + "}" * depth
        body = f'{{"content": "Ada drinks tea.", "metadata": {nested}}}'
        answer = ada.post(
            "/api/remember", content=body, headers={"Content-Type": "application/json"}
        )
        assert 400 <= answer.status_code < 500


def test_a_client_that_goes_away_leaves_nothing_behind(served: Served) -> None:
    host, port = served.address.removeprefix("http://").split(":")
    secret = served.engine.create_key("ada").secret
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(
            f"POST /api/remember HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}\r\n"
            "Content-Length: 100\r\n\r\n{".encode()
        )
    assert served.client(secret).get("/api/memory/facts").json()["items"] == []


def test_a_person_is_told_nothing_by_headers(served: Served) -> None:
    answer: httpx.Response = served.client().get("/api/me")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "no-cache" in answer.headers["cache-control"]
