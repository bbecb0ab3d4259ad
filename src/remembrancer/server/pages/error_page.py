"""Renders errors as pages for browsers."""

from __future__ import annotations

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from remembrancer.server.pages.page_context import (
    PAGE_HEADERS,
    THEME_COOKIE,
    THEMES,
    load_templates,
)

API_PREFIXES = ("/api/", "/memories", "/openapi.json", "/metrics", "/healthz", "/readyz", "/mcp")


def render_error_page(scope: Scope, status: int, code: str, detail: str) -> Response | None:
    """The error as a page; None for API paths and clients that do not accept HTML."""
    path: str = scope["path"]
    if path.startswith(API_PREFIXES) or "text/html" not in Headers(scope=scope).get("accept", ""):
        return None
    theme = HTTPConnection(scope).cookies.get(THEME_COOKIE, "auto")
    template = load_templates().get_template("error.html")
    html = template.render(
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
        theme=theme if theme in THEMES else "auto",
        request_id=scope.get("state", {}).get("request_id", ""),
    )
    return HTMLResponse(html, status, PAGE_HEADERS)
