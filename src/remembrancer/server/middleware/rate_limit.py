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
from remembrancer.server.problems import TooLarge, TooMany, TooSlow

MOST_CALLERS = 10_000
"""How many callers a process keeps count of; the least recent are forgotten, and start full."""


class Buckets:
    """A bucket of tokens for each caller: each request takes one, and time fills it up again."""

    def __init__(
        self, per_minute: int, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> int:
        """Take a token; 0, or how many seconds until there is one."""
        now = self._clock()
        with self._lock:
            level, at = self._levels.pop(caller, (self._burst, now))
            level = min(self._burst, level + (now - at) * self._rate)
            enough = level >= 1
            self._levels[caller] = (level - 1 if enough else level, now)
            while len(self._levels) > MOST_CALLERS:
                self._levels.popitem(last=False)
        return 0 if enough else max(1, math.ceil((1 - level) / self._rate))


class Pace:
    """Refuses those who ask too often: by who they are, or else by where they call from."""

    def __init__(self, app: ASGIApp, *, buckets: Buckets) -> None:
        self._app = app
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes at a pace."""
        if scope["type"] == "http":
            seconds = self._buckets.wait(_caller(scope))
            if seconds:
                error = TooMany(f"Too many requests; come again in {seconds} seconds.", seconds)
                await problems.told(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _caller(scope: Scope) -> str:
    principal = scope["state"].get("principal")
    if principal is not None:
        return f"{principal.owner.id}/{principal.agent or ''}"
    client = scope.get("client")
    return f"from {client[0] if client else ''}"


class Bodies:
    """Takes in whole bodies before anything is done with them, up to a size and for a time."""

    def __init__(self, app: ASGIApp, *, most: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests whose bodies are there."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except RemembrancerError as error:
            answer = problems.told(scope, error)
            answer.headers["Connection"] = "close"  # the rest of the body is not waited for
            await answer(scope, receive, send)
            return
        except ClientDisconnect:
            return
        scope["state"]["body"] = body
        await self._app(scope, _replayed(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        length = Headers(scope=scope).get("content-length", "0")
        if length.isdigit() and int(length[:20]) > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._gathered(receive)
        except TimeoutError:
            raise TooSlow(f"The body did not arrive within {self._seconds:g} seconds.") from None

    async def _gathered(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self._most:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is too large: at most {self._most} bytes.")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Hand over a body that was read, and then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
