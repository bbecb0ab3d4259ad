"""A scripted language model on loopback that speaks OpenAI's and Anthropic's protocols.

    with ModelEndpoint([says({"facts": []}), fails(500), resets()]) as endpoint:
        OpenAICompatibleModel(endpoint.openai, "some-model").answer(question)

A request with `stream` is answered with server-sent events: `streams("Hel", "lo")`, or
`streams("Wait.", ScriptedCall("remember", {"content": "…"}))` with a tool call at the end.

A script is a list of replies in the order of the requests, or a function of the request's JSON.
After the end of the list every reply is `default`.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

Reset = Literal["at once", "in mid-body"]
RST = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call; string arguments are sent unchanged, valid JSON or not."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str = "call_1"

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One reply: the raw `body` or, without one, `content` in the envelope of the protocol.

    `delay` is the time before the first byte, `trickle` the pause after every byte, headers
    included. `pieces` are streamed with a `pause` after each.
    """

    content: Any = None
    body: bytes | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str | None = None
    usage: Any = "counted"
    delay: float = 0.0
    trickle: float = 0.0
    reset: Reset | None = None
    pieces: tuple[str | ScriptedCall, ...] = ()
    pause: float = 0.0


Script = Sequence[ScriptedReply] | Callable[[dict[str, Any]], ScriptedReply]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    json: dict[str, Any]
    headers: Mapping[str, str]
    path: str
    at: float
    body: bytes = b""


def says(content: Any, **options: Any) -> ScriptedReply:
    """Answer with a JSON value or a text, in the envelope of the protocol."""
    return ScriptedReply(content=content, **options)


def streams(*pieces: str | ScriptedCall, **options: Any) -> ScriptedReply:
    """Stream pieces of text and tool calls, one event each."""
    return ScriptedReply(pieces=pieces, **options)


def sends(
    body: bytes | str | Mapping[str, Any] | list[Any] | None, **options: Any
) -> ScriptedReply:
    """Answer with this body without an envelope; anything but text is encoded as JSON."""
    text = json.dumps(body) if not isinstance(body, bytes | str) else body
    return ScriptedReply(body=text.encode() if isinstance(text, str) else text, **options)


def fails(status: int, words: str = "", **headers: str) -> ScriptedReply:
    """Answer with an HTTP error; `Retry_After="1"` sets a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"error": {"message": words, "type": "some_error"}}).encode()
    return ScriptedReply(status=status, body=body, headers=named)


def resets(when: Reset = "at once") -> ScriptedReply:
    """Reset the connection before or in the middle of the answer."""
    return ScriptedReply(content={"cut": "off " * 100}, reset=when)


class ModelEndpoint:
    """The server: a context manager, or `start` and `stop`. Thread-safe."""

    def __init__(self, script: Script = (), *, default: ScriptedReply | None = None) -> None:
        self.script: Script = script
        self.default = default or says({})
        self.requests: list[RecordedRequest] = []
        self.closing = threading.Event()
        self._used = 0
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        """The base URL for Anthropic's client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai(self) -> str:
        """The base URL for an OpenAI-compatible client."""
        return f"{self.url}/v1"

    def start(self) -> ModelEndpoint:
        self._thread.start()
        return self

    def stop(self) -> None:
        """End all replies in progress and join the threads."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ModelEndpoint:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def reply_to(self, request: RecordedRequest) -> ScriptedReply:
        """Record the request and return the next reply of the script."""
        with self._lock:
            self.requests.append(request)
            if callable(self.script):
                return self.script(request.json)
            self._used += 1
            return self.script[self._used - 1] if self._used <= len(self.script) else self.default


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, endpoint: ModelEndpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoint = endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def do_GET(self) -> None:
        request = RecordedRequest({}, dict(self.headers), self.path, time.monotonic())
        reply = self.server.endpoint.reply_to(request)
        self._send(reply, reply.body or b"{}")

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(content)
        request = RecordedRequest(body, dict(self.headers), self.path, time.monotonic(), content)
        reply = self.server.endpoint.reply_to(request)
        self.server.endpoint.closing.wait(reply.delay)
        if reply.reset == "at once":
            self._reset()
            return
        if reply.body is None and body.get("stream"):
            self._stream(reply, _events(self.path, reply))
            return
        self._send(reply, reply.body if reply.body is not None else _envelope(self.path, reply))

    def _stream(self, reply: ScriptedReply, events: list[bytes]) -> None:
        head = f"HTTP/1.1 {reply.status} Scripted\r\nContent-Type: text/event-stream\r\n"
        self.wfile.write(f"{head}Connection: close\r\n\r\n".encode())
        for event in events[: len(events) // 2] if reply.reset else events:
            self.wfile.write(event)
            if self.server.endpoint.closing.wait(reply.pause):
                return
        if reply.reset:
            time.sleep(0.02)
            self._reset()

    def _send(self, reply: ScriptedReply, body: bytes) -> None:
        head = self._head(reply, len(body))
        if reply.trickle:
            self._trickle(head + body, reply.trickle)
        elif reply.reset == "in mid-body":
            self.wfile.write(head + body[: len(body) // 2])
            time.sleep(0.02)  # A reset discards what the client has not read.
            self._reset()
        else:
            self.wfile.write(head + body)

    def _head(self, reply: ScriptedReply, length: int) -> bytes:
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(length),
            "Connection": "close",
            **reply.headers,
        }
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode()

    def _trickle(self, content: bytes, pause: float) -> None:
        for place in range(len(content)):
            self.wfile.write(content[place : place + 1])
            if self.server.endpoint.closing.wait(pause):
                return

    def _reset(self) -> None:
        """Send a TCP reset; the reader must be closed first, or it keeps the socket open."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
        self.rfile.close()
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _envelope(path: str, reply: ScriptedReply) -> bytes:
    shape = _anthropic if path.endswith("/messages") else _openai
    return json.dumps(shape(reply)).encode()


def _openai(reply: ScriptedReply) -> dict[str, Any]:
    text = reply.content if isinstance(reply.content, str) else json.dumps(reply.content)
    message = {"role": "assistant", "content": text, "refusal": None}
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "some-model-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish or "stop"}],
        "usage": counted if reply.usage == "counted" else reply.usage,
    }


def _anthropic(reply: ScriptedReply) -> dict[str, Any]:
    block = (
        {"type": "text", "text": reply.content}
        if isinstance(reply.content, str)
        else {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": reply.content}
    )
    counted = {"input_tokens": 11, "output_tokens": 7}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model-2026",
        "content": [block],
        "stop_reason": reply.finish or "tool_use",
        "usage": counted if reply.usage == "counted" else reply.usage,
    }


def _events(path: str, reply: ScriptedReply) -> list[bytes]:
    whole = reply.content if isinstance(reply.content, str) else json.dumps(reply.content)
    pieces = reply.pieces or (whole,)
    return _anthropic_events(pieces) if path.endswith("/messages") else _openai_events(pieces)


def _openai_events(pieces: tuple[str | ScriptedCall, ...]) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    calls = 0
    for piece in pieces:
        if isinstance(piece, str):
            deltas.append({"content": piece})
            continue
        named = {"name": piece.name, "arguments": ""}
        deltas.append({"tool_calls": [{"index": calls, "id": piece.id, "function": named}]})
        middle = len(piece.text) // 2
        for part in (piece.text[:middle], piece.text[middle:]):
            deltas.append({"tool_calls": [{"index": calls, "function": {"arguments": part}}]})
        calls += 1
    chunks = [{"choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in deltas]
    return [*(f"data: {json.dumps(one)}\n\n".encode() for one in chunks), b"data: [DONE]\n\n"]


def _anthropic_events(pieces: tuple[str | ScriptedCall, ...]) -> list[bytes]:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"role": "assistant"}}]
    for place, piece in enumerate(pieces):
        is_text = isinstance(piece, str)
        block = (
            {"type": "text", "text": ""}
            if isinstance(piece, str)
            else {"type": "tool_use", "id": piece.id, "name": piece.name, "input": {}}
        )
        events.append({"type": "content_block_start", "index": place, "content_block": block})
        for part in [piece] if isinstance(piece, str) else [piece.text[:3], piece.text[3:]]:
            delta = {"type": "text_delta", "text": part}
            if not is_text:
                delta = {"type": "input_json_delta", "partial_json": part}
            events.append({"type": "content_block_delta", "index": place, "delta": delta})
        events.append({"type": "content_block_stop", "index": place})
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
    events.append({"type": "message_stop"})
    return [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events]
