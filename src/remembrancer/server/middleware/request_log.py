"""Every request in one line: what was asked for and how it went, never with what words.

Paths hold ids and queries hold content, so only the template of the route is told. Of an error
that nobody expected, only its kind and its place in the code are told: its message may hold words.
"""

from __future__ import annotations

import secrets
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.server import problems
from remembrancer.server.metrics import METHODS, Metrics
from remembrancer.server.otel import RequestTracer

DEFAULT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}


def create_logger(stream: TextIO | None = None) -> Any:
    """A logger that writes a JSON object per line."""
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
    )


class RequestLogMiddleware:
    """Numbers each request, tells how it went, and lets nothing unexpected out."""

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, log: Any, tracer: RequestTracer | None = None
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._log = log
        self._traces = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and look at what comes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _set_headers(MutableHeaders(raw=message["headers"]), request_id)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # the last resort: nobody is told what is none of theirs
            self._log.error(
                "unexpected",
                request_id=request_id,
                error=type(error).__name__,
                at=[*_format_frames(error)],
            )
            if not status:
                unexpected = "Something went wrong here; the log of the server has this request_id."
                answer = problems.render_problem(scope, 500, "internal_error", unexpected)
                await answer(scope, receive, watched)
        self._record_request(scope, request_id, status, time.perf_counter() - started)

    def _record_request(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        route = get_route_template(scope)
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.record_request(method, route, status, seconds)
        if self._traces is not None:
            self._traces.record_request(scope, method, route, status, seconds, request_id)
        self._log.info(
            "request",
            request_id=request_id,
            method=method,
            route=route,
            status=status,
            duration_ms=round(seconds * 1000, 1),
        )


def get_route_template(scope: Scope) -> str:
    """The route that answered, with names in place of ids; "" if none did."""
    # FastAPI keeps what a route is called within the routers around it apart from the route.
    route = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    return str(getattr(route, "path", "") or "")


def _set_headers(headers: MutableHeaders, request_id: str) -> None:
    headers["X-Request-ID"] = request_id
    for name, value in DEFAULT_HEADERS.items():
        headers.setdefault(name, value)


def _format_frames(error: BaseException) -> Iterator[str]:
    for frame in traceback.extract_tb(error.__traceback__)[-8:]:
        yield f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
