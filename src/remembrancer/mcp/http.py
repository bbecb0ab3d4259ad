"""Serves MCP over HTTP; each request is authenticated by its key.

The server is stateless, so any process can answer any request. A request with a session id gets
404.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

import anyio.to_thread
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from remembrancer.engine import Remembrancer
from remembrancer.local_server import LOOPBACK_HOSTS
from remembrancer.mcp.server import build_server
from remembrancer.tools.toolsets import Extent
from remembrancer.types import Principal

Authenticate = Callable[[str], Principal | None]

PATH = "/mcp"
PRINCIPAL_KEY = "remembrancer.principal"
"""Key of the principal in the ASGI scope."""

URL_ADAPTER = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""Keeps URLs as given: clients compare those of authorization servers character by character."""

MAX_BODY_BYTES = 4 * 1024 * 1024


class HttpServer:
    """An ASGI application for one path; it answers only while `running()` is entered.

    `hosts` are the allowed host names, with or without a port, by default those of this machine.
    Pages of `origins` can call the server from a browser. With `authorization_servers`, clients
    learn where to get a token for `url`, the address of this server. Without `authenticate`, an
    outer middleware must put the principal into the state of the scope.
    """

    def __init__(
        self,
        engine: Remembrancer,
        authenticate: Authenticate | None,
        *,
        extent: Extent = "core",
        hosts: Sequence[str] = LOOPBACK_HOSTS,
        origins: Sequence[str] = (),
        url: str | None = None,
        authorization_servers: Sequence[str] = (),
    ) -> None:
        self._authenticate = authenticate
        self._url = URL_ADAPTER.validate_python(url) if url and authorization_servers else None
        self._issuers = [URL_ADAPTER.validate_python(one) for one in authorization_servers]
        self._manager = StreamableHTTPSessionManager(
            build_server(engine, _get_principal, extent),
            stateless=True,
            json_response=True,
            max_request_body_size=MAX_BODY_BYTES,
            security_settings=TransportSecuritySettings(
                allowed_hosts=[name for host in hosts for name in (host, f"{host}:*")],
                allowed_origins=list(origins),
            ),
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests until the context is left; it can be entered once."""
        async with self._manager.run():
            yield

    def routes(self, path: str = PATH) -> list[BaseRoute]:
        """Return the routes for an application: MCP itself and the OAuth metadata."""
        routes: list[BaseRoute] = [Route(path, endpoint=self)]
        if self._url is not None:
            routes += create_protected_resource_routes(
                self._url, self._issuers, resource_name="Remembrancer"
            )
        return routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        key = _parse_bearer(headers)
        principal = await self._find_principal(scope, key)
        if principal is None:
            response = self._build_unauthorized(had_key=key is not None)
        elif "mcp-session-id" in headers:
            response = _build_error_response(404, "Session not found")
        elif scope["method"] != "POST":
            response = _build_error_response(405, "Method not allowed", {"Allow": "POST"})
        else:
            inner = {**scope, PRINCIPAL_KEY: principal}
            return await self._manager.handle_request(inner, receive, send)
        await response(scope, receive, send)
        return None

    async def _find_principal(self, scope: Scope, key: str | None) -> Principal | None:
        if self._authenticate is None:
            return cast("Principal | None", scope["state"].get("principal"))
        return await anyio.to_thread.run_sync(self._authenticate, key) if key else None

    def _build_unauthorized(self, *, had_key: bool) -> Response:
        parts = ['error="invalid_token"'] if had_key else []
        if self._url is not None:
            parts.append(f'resource_metadata="{build_resource_metadata_url(self._url)}"')
        challenge = f"Bearer {', '.join(parts)}".strip()
        return _build_error_response(401, "A valid key is needed", {"WWW-Authenticate": challenge})


def _get_principal(context: ServerRequestContext[Any, Any]) -> Principal:
    assert context.request is not None
    principal = context.request.scope[PRINCIPAL_KEY]
    assert isinstance(principal, Principal)
    return principal


def _parse_bearer(headers: Headers) -> str | None:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def _build_error_response(
    status: int, message: str, headers: dict[str, str] | None = None
) -> Response:
    """Build a JSON-RPC error that belongs to no request."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    return Response(json.dumps(error), status, headers, media_type="application/json")
