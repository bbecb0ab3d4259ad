"""Who is calling: a key, a signed token, or a browser's session; nobody else gets any further."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.access.keys import LOGIN, PREFIX
from remembrancer.errors import RemembrancerError
from remembrancer.server import problems
from remembrancer.server.problems import ForeignOrigin, Unauthenticated

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.server.cpu_limit import Turns
    from remembrancer.server.tokens import Tokens
    from remembrancer.types import Principal

COOKIE = "rem_session"
TOOLS = "/mcp"
OPEN = ("/healthz", "/readyz", "/login", "/openapi.json", "/.well-known/")
"""What anyone may ask for: nothing in it is anyone's."""

ANONYMOUS = ("/api/team/recall",)
"""What nobody in particular may ask for, if the team's settings allow it."""

SAFE = ("GET", "HEAD", "OPTIONS")


class Gate:
    """Lets in who shows a key, and notes on whose behalf they call."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        engine: Remembrancer,
        turns: Turns,
        tokens: Tokens | None = None,
        open_paths: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._engine = engine
        self._turns = turns
        self._tokens = tokens
        self._open = (*OPEN, *open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on who is known, and what anyone may ask for."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http" and not self._is_open(scope["path"]):
            try:
                scope["state"]["principal"] = await self._let_in(HTTPConnection(scope))
            except RemembrancerError as error:
                await problems.told(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_open(self, path: str) -> bool:
        folders = tuple(one for one in self._open if one.endswith("/"))
        return path in self._open or bool(folders and path.startswith(folders))

    async def _let_in(self, asking: HTTPConnection) -> Principal | None:
        header, cookie = asking.headers.get("authorization"), asking.cookies.get(COOKIE)
        if header is None and cookie is None and asking.url.path in ANONYMOUS:
            return None
        if header is not None:
            surface = "mcp" if asking.url.path == TOOLS else "rest"
            found = await self._turns.do(self._by_header, header, surface)
        else:
            found = await self._turns.do(self._by_cookie, cookie or "")
        if found is None or LOGIN in found.capabilities:
            raise Unauthenticated(
                "Send a key as `Authorization: Bearer rem_…`; `rem key-create` makes one."
            )
        if header is None:
            _refuse_forgery(asking)
        return found

    def _by_header(self, header: str, surface: str) -> Principal | None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        if secret.startswith(PREFIX) or self._tokens is None:
            return self._engine.principal_of(secret, surface=surface)
        return self._tokens.principal_of(secret, surface)

    def _by_cookie(self, secret: str) -> Principal | None:
        return self._engine.principal_of(secret, surface="web") if secret else None


def keep_secret(answer: Response, request: Request, name: str, secret: str, hours: float) -> None:
    """Have a browser keep a secret that lets it in, out of reach of every page's script."""
    settings = request.app.state.engine.settings.server
    answer.set_cookie(
        name,
        secret,
        max_age=int(hours * 3600),
        path="/",
        secure=settings.https or request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _refuse_forgery(asking: HTTPConnection) -> None:
    """A browser sends cookies by itself: what changes something must come from our own pages."""
    if asking.scope["method"] not in SAFE and not asking.scope["state"].get("same_origin"):
        raise ForeignOrigin("A browser must say by Origin that this page of ours asked for it.")
