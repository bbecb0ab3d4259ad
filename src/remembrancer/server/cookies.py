"""Names and attributes of the cookies that let a browser in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

SESSION_COOKIE = "rem_session"
DEMO_COOKIE = "rem_demo"


def set_secret_cookie(
    response: Response, request: Request, name: str, secret: str, hours: float
) -> None:
    """Store a secret in the browser, out of reach of scripts and of requests from other sites."""
    settings = request.app.state.engine.settings.server
    response.set_cookie(
        name,
        secret,
        max_age=int(hours * 3600),
        path="/",
        secure=settings.https or request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
