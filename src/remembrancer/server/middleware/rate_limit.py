"""Limits how many requests each caller may send per minute."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.server import problems
from remembrancer.server.client_address import find_network
from remembrancer.server.problems import TooManyRequests

MAX_TRACKED_CALLERS = 10_000
"""Above this number the least recent callers are dropped, and start with a full bucket."""


class TokenBuckets:
    """One token bucket per caller: each request takes a token, and time refills the bucket."""

    def __init__(
        self, per_minute: int, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take_token(self, caller: str) -> int:
        """Take a token. Returns 0, or the seconds until the next token if the bucket is empty."""
        now = self._clock()
        with self._lock:
            level = self._compute_level(caller, now)
            self._levels.pop(caller, None)
            self._levels[caller] = (level - 1 if level >= 1 else level, now)
            while len(self._levels) > MAX_TRACKED_CALLERS:
                self._levels.popitem(last=False)
        return self._compute_wait(level)

    def seconds_until_token(self, caller: str) -> int:
        """0 if a token is left, else the seconds until the next one; takes none."""
        with self._lock:
            return self._compute_wait(self._compute_level(caller, self._clock()))

    def _compute_level(self, caller: str, now: float) -> float:
        level, updated_at = self._levels.get(caller, (self._burst, now))
        return min(self._burst, level + (now - updated_at) * self._rate)

    def _compute_wait(self, level: float) -> int:
        return 0 if level >= 1 else max(1, math.ceil((1 - level) / self._rate))


class RateLimitMiddleware:
    """Answers 429 to callers that exceed their rate, by principal or else by address."""

    def __init__(self, app: ASGIApp, *, buckets: TokenBuckets) -> None:
        self._app = app
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            seconds = self._buckets.take_token(_identify_caller(scope))
            if seconds:
                error = TooManyRequests(
                    f"Too many requests. Try again in {seconds} seconds.", seconds
                )
                await problems.send_error(error, scope, receive, send)
                return
        await self._app(scope, receive, send)


def _identify_caller(scope: Scope) -> str:
    principal = scope["state"].get("principal")
    if principal is not None:
        return f"{principal.owner.id}/{principal.agent or ''}"
    client = scope.get("client")
    return f"from {find_network(client[0]) if client else ''}"
