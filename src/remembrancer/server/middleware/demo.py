"""Routes a browser's requests to the demo that it has open.

They never reach the real store, not even after the demo has ended.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.server.cookies import DEMO_COOKIE, SESSION_COOKIE
from remembrancer.server.demos import Demos

LOGIN_PATH = "/login"
"""Who signs in wants the real store."""


class DemoMiddleware:
    """Hands requests with a demo cookie to that demo, or redirects home if it has ended."""

    def __init__(self, app: ASGIApp, *, demos: Demos) -> None:
        self._app = app
        self._demos = demos

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and scope["path"] != LOGIN_PATH
        secret = _read_demo_secret(scope) if is_page else None
        if secret is None:
            await self._app(scope, receive, send)
        elif (app := self._demos.find_app(secret)) is not None:
            await app(_build_demo_scope(scope, secret), receive, _rename_session_cookie(send))
        else:
            response = RedirectResponse("/memory", 303)
            response.delete_cookie(DEMO_COOKIE, path="/")
            await response(scope, receive, send)


def _read_demo_secret(scope: Scope) -> str | None:
    """Return the demo's secret; None for clients with a key, which are not browsers."""
    headers = Headers(scope=scope)
    if "authorization" in headers:
        return None
    return cookie_parser(headers.get("cookie", "")).get(DEMO_COOKIE)


def _build_demo_scope(scope: Scope, secret: str) -> Scope:
    """Replace the real store's session cookie by one for the demo's store."""
    inner = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=inner)
    cookies = cookie_parser(headers["cookie"])
    del cookies[DEMO_COOKIE]
    headers["cookie"] = "; ".join(
        f"{name}={value}" for name, value in {**cookies, SESSION_COOKIE: secret}.items()
    )
    return inner


def _rename_session_cookie(send: Send) -> Send:
    """Wrap `send` so that a demo sets the demo cookie, not the real session cookie."""
    session_prefix, demo_prefix = f"{SESSION_COOKIE}=".encode(), f"{DEMO_COOKIE}=".encode()

    async def send_renamed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (name, demo_prefix + value.removeprefix(session_prefix))
                if name == b"set-cookie" and value.startswith(session_prefix)
                else (name, value)
                for name, value in message["headers"]
            ]
        await send(message)

    return send_renamed
