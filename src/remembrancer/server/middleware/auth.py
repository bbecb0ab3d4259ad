"""Who is calling: a key, a signed token, or a browser's session; nobody else gets any further."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.access.keys import KEY_PREFIX, LOGIN_CAPABILITY
from remembrancer.errors import RemembrancerError
from remembrancer.server import problems
from remembrancer.server.problems import ForeignOrigin, Unauthenticated

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.server.cpu_limit import CpuLimiter
    from remembrancer.server.tokens import TokenVerifier
    from remembrancer.types import Principal

SESSION_COOKIE = "rem_session"
MCP_PATH = "/mcp"
PUBLIC_PATHS = ("/healthz", "/readyz", "/login", "/openapi.json", "/.well-known/")
"""What anyone may ask for: nothing in it is anyone's."""

ANONYMOUS_PATHS = ("/api/team/recall",)
"""What nobody in particular may ask for, if the team's settings allow it."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class AuthMiddleware:
    """Lets in who shows a key, and notes on whose behalf they call."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        engine: Remembrancer,
        cpu_limiter: CpuLimiter,
        tokens: TokenVerifier | None = None,
        open_paths: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._engine = engine
        self._turns = cpu_limiter
        self._tokens = tokens
        self._open = (*PUBLIC_PATHS, *open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on who is known, and what anyone may ask for."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http" and not self._is_public(scope["path"]):
            try:
                scope["state"]["principal"] = await self._authenticate(HTTPConnection(scope))
            except RemembrancerError as error:
                await problems.render_error(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_public(self, path: str) -> bool:
        folders = tuple(one for one in self._open if one.endswith("/"))
        return path in self._open or bool(folders and path.startswith(folders))

    async def _authenticate(self, connection: HTTPConnection) -> Principal | None:
        header, cookie = (
            connection.headers.get("authorization"),
            connection.cookies.get(SESSION_COOKIE),
        )
        if header is None and cookie is None and connection.url.path in ANONYMOUS_PATHS:
            return None
        if header is not None:
            surface = "mcp" if connection.url.path == MCP_PATH else "rest"
            found = await self._turns.run(self._find_by_header, header, surface)
        else:
            found = await self._turns.run(self._find_by_cookie, cookie or "")
        if found is None or LOGIN_CAPABILITY in found.capabilities:
            raise Unauthenticated(
                "Send a key as `Authorization: Bearer rem_…`; `rem key-create` makes one."
            )
        if header is None:
            _refuse_cross_site_write(connection)
        return found

    def _find_by_header(self, header: str, surface: str) -> Principal | None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        if secret.startswith(KEY_PREFIX) or self._tokens is None:
            return self._engine.principal_of(secret, surface=surface)
        return self._tokens.principal_of(secret, surface)

    def _find_by_cookie(self, secret: str) -> Principal | None:
        return self._engine.principal_of(secret, surface="web") if secret else None


def set_secret_cookie(
    response: Response, request: Request, name: str, secret: str, hours: float
) -> None:
    """Have a browser keep a secret that lets it in, out of reach of every page's script."""
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


def _refuse_cross_site_write(connection: HTTPConnection) -> None:
    """A browser sends cookies by itself: what changes something must come from our own pages."""
    if connection.scope["method"] not in SAFE_METHODS and not connection.scope["state"].get(
        "same_origin"
    ):
        raise ForeignOrigin("A browser must say by Origin that this page of ours asked for it.")
