"""Reads request bodies completely, up to a size and within a time, before any route runs."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.errors import RemembrancerError
from remembrancer.server import problems
from remembrancer.server.problems import TooLarge, TooSlow


class BodyLimitMiddleware:
    """Stores the body in `scope["state"]["body"]`, or answers 413 or 408."""

    def __init__(self, app: ASGIApp, *, max_bytes: int, timeout_seconds: float) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._timeout_seconds = timeout_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read_body(scope, receive)
        except RemembrancerError as error:
            # The rest of the body is not read, so the connection cannot be used again.
            await problems.send_error(error, scope, receive, send, {"Connection": "close"})
            return
        except ClientDisconnect:
            return
        scope["state"]["body"] = body
        await self._app(scope, _replay_body(body, receive), send)

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes:
        length = Headers(scope=scope).get("content-length", "0")
        if length.isdigit() and int(length[:20]) > self._max_bytes:
            raise self._build_size_error()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._receive_chunks(receive)
        except TimeoutError:
            raise TooSlow(
                f"The body did not arrive within {self._timeout_seconds:g} seconds."
            ) from None

    async def _receive_chunks(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                raise self._build_size_error()
            if not message.get("more_body", False):
                return bytes(body)

    def _build_size_error(self) -> TooLarge:
        return TooLarge(f"The body is too large: at most {self._max_bytes} bytes.")


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receive channel that yields the body first and then continues with `receive`."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_next() -> Message:
        return pending.pop() if pending else await receive()

    return receive_next
