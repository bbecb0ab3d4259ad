"""A stand-in for Telegram's Bot API server, on loopback, that speaks its protocol.

    with TelegramServer() as telegram:
        telegram.write(42, "Hello")          # a person writes to the bot
        telegram.wait_for(1)                 # until the bot has said something

Updates are handed out from the asked offset on, and those before it are confirmed and gone.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

TOKEN = "123456:" + "A" * 35


@dataclass
class TelegramServer:
    """The server; `failures` are used up by the next calls of a method, as (status, body)."""

    updates: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    failures: dict[str, list[tuple[int, dict[str, Any]]]] = field(default_factory=dict)
    confirmed: int = 0

    def __post_init__(self) -> None:
        self._news = threading.Condition()
        self._closing = False
        self._next = 1000
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> TelegramServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def write(self, chat: int, text: str, *, type: str = "private") -> dict[str, Any]:
        """A person writes a message."""
        message = {
            "message_id": self._next,
            "from": {"id": chat, "is_bot": False, "first_name": "Ada"},
            "chat": {"id": chat, "type": type},
            "date": 1,
            "text": text,
        }
        return self._add({"message": message})

    def press(self, chat: int, data: str) -> dict[str, Any]:
        """A person presses a button."""
        message = {"message_id": 1, "chat": {"id": chat, "type": "private"}, "date": 1}
        query = {"id": "q1", "from": {"id": chat}, "message": message, "data": data}
        return self._add({"callback_query": query})

    def _add(self, update: dict[str, Any]) -> dict[str, Any]:
        with self._news:
            update = {"update_id": self._next, **update}
            self._next += 1
            self.updates.append(update)
            self._news.notify_all()
        return update

    def said(self, chat: int | None = None) -> list[str]:
        """What the bot has said."""
        return [
            call["text"]
            for method, call in list(self.calls)
            if method == "sendMessage" and chat in (None, call["chat_id"])
        ]

    def wait_for(self, count: int, seconds: float = 10) -> list[str]:
        """What the bot has said, once these are so many messages."""
        until = time.monotonic() + seconds
        while len(self.said()) < count and time.monotonic() < until:
            time.sleep(0.01)
        assert len(self.said()) >= count, self.calls
        return self.said()

    def reply(self, method: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._news:
            self.calls.append((method, asked))
            if self.failures.get(method):
                return self.failures[method].pop(0)
            if method == "getUpdates":
                return 200, {"ok": True, "result": self._new(asked)}
        results: dict[str, Any] = {
            "getMe": {"id": 123456, "is_bot": True, "username": "some_bot"},
            "sendMessage": {"message_id": len(self.calls)},
        }
        if method == "sendMessage" and not 1 <= _units(asked["text"]) <= 4096:
            return 400, {"ok": False, "error_code": 400, "description": "message is too long"}
        return 200, {"ok": True, "result": results.get(method, True)}

    def _new(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        offset = asked.get("offset", 0)
        self.confirmed = max(self.confirmed, offset)
        self.updates = [one for one in self.updates if one["update_id"] >= offset]
        if not self.updates and not self._closing:
            self._news.wait(asked.get("timeout", 0))
        return self.updates[: asked.get("limit", 100)]


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def too_many(seconds: int) -> tuple[int, dict[str, Any]]:
    """What Telegram says to who asks too often."""
    return 429, {"ok": False, "error_code": 429, "parameters": {"retry_after": seconds}}


def failed(code: int) -> tuple[int, dict[str, Any]]:
    return code, {"ok": False, "error_code": code, "description": "some reason"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, telegram: TelegramServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.telegram = telegram

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is none of our business."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
        _, bot, method = self.path.split("/")
        status, body = (
            self.server.telegram.reply(method, asked)
            if bot == f"bot{TOKEN}"
            else (401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
        )
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
