"""Authenticates requests by API key, signed token or browser session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.access.keys import KEY_PREFIX, LOGIN_CAPABILITY
from remembrancer.errors import RemembrancerError
from remembrancer.guard.redaction import validate_session_name
from remembrancer.server import problems
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.server.problems import ForeignOrigin, Unauthenticated

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.server.middleware.wrong_keys import WrongKeys
    from remembrancer.server.tokens import TokenVerifier
    from remembrancer.types import Principal

MCP_PATH = "/mcp"
PUBLIC_PATHS = ("/healthz", "/readyz", "/login", "/openapi.json", "/.well-known/")
"""Paths without personal data, which need no key."""

ANONYMOUS_PATHS = ("/api/team/recall",)
"""Paths that accept requests without a key if the team's settings allow it."""

SESSION_HEADER = "X-Session-Id"
"""The session in which the caller stores memories."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class AuthMiddleware:
    """Stores the caller in `scope["state"]["principal"]`, or answers 401 or 403."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        engine: Remembrancer,
        wrong_keys: WrongKeys,
        tokens: TokenVerifier | None = None,
        open_paths: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._engine = engine
        self._wrong_keys = wrong_keys
        self._tokens = tokens
        self._open_paths = frozenset((*PUBLIC_PATHS, *open_paths))
        self._open_folders = tuple(path for path in self._open_paths if path.endswith("/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        path = scope.get("path", "")
        is_public = path in self._open_paths or path.startswith(self._open_folders)
        if scope["type"] == "http" and not is_public:
            try:
                scope["state"]["principal"] = await self._authenticate(HTTPConnection(scope))
            except RemembrancerError as error:
                await problems.send_error(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _authenticate(self, connection: HTTPConnection) -> Principal | None:
        header = connection.headers.get("authorization")
        cookie = connection.cookies.get(SESSION_COOKIE)
        if header is None and cookie is None and connection.url.path in ANONYMOUS_PATHS:
            return None
        principal = None
        if header is not None:
            surface = "mcp" if connection.url.path == MCP_PATH else "rest"
            principal = await self._find_by_header(connection.scope, header, surface)
        elif cookie:
            principal = await self._find_by_key(connection.scope, cookie, "web")
        if principal is None or LOGIN_CAPABILITY in principal.capabilities:
            raise Unauthenticated(problems.KEY_REQUIRED)
        if header is None:
            _refuse_cross_site_write(connection)
        return _name_session(principal, connection.headers.get(SESSION_HEADER))

    async def _find_by_header(self, scope: Scope, header: str, surface: str) -> Principal | None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        if secret.startswith(KEY_PREFIX) or self._tokens is None:
            return await self._find_by_key(scope, secret, surface)
        principal = await run_in_threadpool(self._tokens.principal_of, secret, surface)
        if principal is None:
            self._count_wrong(scope)
        return principal

    async def _find_by_key(self, scope: Scope, secret: str, surface: str) -> Principal | None:
        await self._wrong_keys.check(scope, secret)
        principal = await run_in_threadpool(self._engine.principal_of, secret, surface=surface)
        if principal is None:
            self._wrong_keys.count(scope)
        return principal

    def _count_wrong(self, scope: Scope) -> None:
        """Count a wrong signed token, which was checked without the store; refuse too many."""
        seconds = self._wrong_keys.seconds_until_next(scope)
        if seconds:
            raise self._wrong_keys.build_error(seconds)
        self._wrong_keys.count(scope)


def _name_session(principal: Principal, session: str | None) -> Principal:
    if session is None:
        return principal
    return replace(principal, session=validate_session_name(session))


def _refuse_cross_site_write(connection: HTTPConnection) -> None:
    """Require an Origin for writes by cookie, because browsers attach cookies automatically."""
    method, state = connection.scope["method"], connection.scope["state"]
    if method not in SAFE_METHODS and not state.get("same_origin"):
        raise ForeignOrigin("A request with a session cookie needs an Origin header of this site.")
