"""A model that says what it is told to, over the wire formats of Anthropic and of OpenAI."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


@dataclass
class Model:
    """What it answers, and what it was asked."""

    answer: str
    address: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def speaking(answer: str) -> Iterator[Model]:
    """A model on a port of this machine."""
    model = Model(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

        def do_GET(self) -> None:
            self._send("application/json", b'{"data": [], "object": "list", "models": []}')

        def do_HEAD(self) -> None:
            self._send("text/plain", b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            if "/messages" in self.path and "count_tokens" in self.path:
                self._send("application/json", b'{"input_tokens": 1}')
                return
            model.asked.append(body)
            events = anthropic(model.answer) if "/messages" in self.path else openai(model.answer)
            sent = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
            self._send("text/event-stream", sent.encode())

        def _send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield model
        server.shutdown()
        thread.join()


def anthropic(answer: str) -> list[dict[str, Any]]:
    """The events of one message that is streamed."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", **block},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": answer},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
        {"type": "message_stop"},
    ]


def openai(answer: str) -> list[dict[str, Any]]:
    """The events of one response that is streamed."""
    said = [{"type": "output_text", "text": answer}]
    item = {"type": "message", "role": "assistant", "id": "m1", "content": said}
    return [
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": USAGE}},
    ]
