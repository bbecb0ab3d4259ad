"""Exported spans contain routes and numbers, no content and no memory ids."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.http_server import served

pytestmark = pytest.mark.postgres_long

Open = Callable[..., Any]


class Collector(HTTPServer):
    """A collector on loopback that speaks OTLP over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Reads)
        self.bodies: list[bytes] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"

    def spans(self) -> list[Any]:
        found = []
        for body in self.bodies:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                found += [span for scope in resource.scope_spans for span in scope.spans]
        return found


class _Reads(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.bodies.append(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Suppress the access log."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def test_a_request_is_a_span_without_words(open_memory: Open, collector: Collector) -> None:
    engine = open_memory(server={"otlp_endpoint": collector.address})
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with served(engine) as here:
        key = engine.create_key("louise").secret
        louise = here.client(key, traceparent=f"00-{trace}-00f067aa0ba902b7-01")
        told = louise.post("/api/remember", json={"content": "The zeppelin is blue"}).json()
        kept = told["memory"]
        numbered = louise.get(f"/api/memory/{kept['id']}").headers["X-Request-ID"]
        louise.post("/api/recall", json={"query": "zeppelin"})

    spans = {span.name: span for span in collector.spans()}
    assert {"POST /api/remember", "GET /api/memory/{id}", "POST /api/recall"} <= spans.keys()
    about = {one.key: one.value for one in spans["GET /api/memory/{id}"].attributes}
    assert about["http.response.status_code"].int_value == 200
    assert about["request_id"].string_value == numbered
    assert all(span.trace_id.hex() == trace for span in spans.values())
    everything = b"".join(collector.bodies)
    for word in (b"zeppelin", kept["id"].encode(), b"louise", b"rem_"):
        assert word not in everything


def test_a_collector_that_is_not_there_harms_nobody(open_memory: Open) -> None:
    engine = open_memory(server={"otlp_endpoint": "http://127.0.0.1:9/v1/traces"})
    with served(engine) as here:
        assert here.of("ada").get("/api/me").status_code == 200
