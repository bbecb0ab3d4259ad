"""Logs one line per request, and turns unexpected errors into a 500.

Paths contain ids and queries contain content, so only the route's template is logged. Of an
unexpected error only its class and its frames are logged, because its message may quote content.
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
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.server import problems
from remembrancer.server.metrics import Metrics
from remembrancer.server.otel import RequestTracer
from remembrancer.store.faults import find_limit

LOGGED_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Any other method is reported as "other", so that clients cannot invent metric labels."""

DEFAULT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}


def create_logger(stream: TextIO | None = None) -> Any:
    """Return a logger that writes one JSON object per line, by default to stderr."""
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
    )


class RequestLogMiddleware:
    """Gives each request an id, and records its outcome in the log, the metrics and the traces."""

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, log: Any, tracer: RequestTracer | None = None
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._log = log
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message["headers"])
                headers["X-Request-ID"] = request_id
                for name, value in DEFAULT_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:  # the last resort: details go to the log, not to the client
            self._log.error(
                "unexpected",
                request_id=request_id,
                error=type(error).__name__,
                at=[*_format_frames(error)],
            )
            if not status:
                response = _render_unexpected(scope, error)
                await response(scope, receive, send_with_headers)
        self._record_request(scope, request_id, status, time.perf_counter() - started)

    def _record_request(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        route = get_route_template(scope)
        method = scope["method"] if scope["method"] in LOGGED_METHODS else "other"
        self._metrics.record_request(method, route, status, seconds)
        if self._tracer is not None:
            self._tracer.record_request(scope, method, route, status, seconds, request_id)
        self._log.info(
            "request",
            request_id=request_id,
            method=method,
            route=route,
            status=status,
            duration_ms=round(seconds * 1000, 1),
        )


def _render_unexpected(scope: Scope, error: Exception) -> Response:
    if (limit := find_limit(error)) is not None:
        return problems.render_error(scope, limit)
    detail = "Internal error. Look up this request_id in the server's log."
    return problems.render_problem(scope, 500, "internal_error", detail)


def get_route_template(scope: Scope) -> str:
    """Return the path template of the route that answered, or "" if none did."""
    # FastAPI keeps the full path of a route in included routers apart from the route itself.
    route = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    return str(getattr(route, "path", "") or "")


def _format_frames(error: BaseException) -> Iterator[str]:
    for frame in traceback.extract_tb(error.__traceback__)[-8:]:
        yield f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
