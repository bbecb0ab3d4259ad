"""How much one caller may send and how often: sizes, patience, and a bucket of tokens for each."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.errors import RemembrancerError
from remembrancer.server import problems
from remembrancer.server.problems import TooLarge, TooManyRequests, TooSlow

MAX_TRACKED_CALLERS = 10_000
"""How many callers a process keeps count of; the least recent are forgotten, and start full."""


class TokenBuckets:
    """A bucket of tokens for each caller: each request takes one, and time fills it up again."""

    def __init__(
        self, per_minute: int, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take_token(self, caller: str) -> int:
        """Take a token; 0, or how many seconds until there is one."""
        now = self._clock()
        with self._lock:
            level, at = self._levels.pop(caller, (self._burst, now))
            level = min(self._burst, level + (now - at) * self._rate)
            enough = level >= 1
            self._levels[caller] = (level - 1 if enough else level, now)
            while len(self._levels) > MAX_TRACKED_CALLERS:
                self._levels.popitem(last=False)
        return 0 if enough else max(1, math.ceil((1 - level) / self._rate))


class RateLimitMiddleware:
    """Refuses those who ask too often: by who they are, or else by where they call from."""

    def __init__(self, app: ASGIApp, *, buckets: TokenBuckets) -> None:
        self._app = app
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes at a pace."""
        if scope["type"] == "http":
            seconds = self._buckets.take_token(_identify_caller(scope))
            if seconds:
                error = TooManyRequests(
                    f"Too many requests; come again in {seconds} seconds.", seconds
                )
                await problems.render_error(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _identify_caller(scope: Scope) -> str:
    principal = scope["state"].get("principal")
    if principal is not None:
        return f"{principal.owner.id}/{principal.agent or ''}"
    client = scope.get("client")
    return f"from {client[0] if client else ''}"


class BodyLimitMiddleware:
    """Takes in whole bodies before anything is done with them, up to a size and for a time."""

    def __init__(self, app: ASGIApp, *, max_bytes: int, timeout_seconds: float) -> None:
        self._app = app
        self._most = max_bytes
        self._seconds = timeout_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests whose bodies are there."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read_body(scope, receive)
        except RemembrancerError as error:
            answer = problems.render_error(scope, error)
            answer.headers["Connection"] = "close"  # the rest of the body is not waited for
            await answer(scope, receive, send)
            return
        except ClientDisconnect:
            return
        scope["state"]["body"] = body
        await self._app(scope, _replay_body(body, receive), send)

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes:
        length = Headers(scope=scope).get("content-length", "0")
        if length.isdigit() and int(length[:20]) > self._most:
            raise self._build_size_error()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._receive_chunks(receive)
        except TimeoutError:
            raise TooSlow(f"The body did not arrive within {self._seconds:g} seconds.") from None

    async def _receive_chunks(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self._most:
                raise self._build_size_error()
            if not message.get("more_body", False):
                return bytes(body)

    def _build_size_error(self) -> TooLarge:
        return TooLarge(f"The body is too large: at most {self._most} bytes.")


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Hand over a body that was read, and then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
