"""Host and Origin: no foreign site reaches this server through someone's browser."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.errors import RemembrancerError
from remembrancer.local_server import LOOPBACK_HOSTS
from remembrancer.server import problems
from remembrancer.server.problems import ForeignHost, ForeignOrigin

PROBE_PATHS = ("/healthz", "/readyz")
"""What orchestrators ask by address; nothing in the answers is anyone's."""


class TrustedHostMiddleware:
    """Refuses what was meant for another host, and what another site's page sends."""

    def __init__(
        self, app: ASGIApp, *, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in (*LOOPBACK_HOSTS, *hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is meant for us."""
        if scope["type"] == "http" and scope["path"] not in PROBE_PATHS:
            try:
                self._check_headers(Headers(scope=scope), scope)
            except RemembrancerError as error:
                await problems.render_error(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check_headers(self, headers: Headers, scope: Scope) -> None:
        hosts = headers.getlist("host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        if strip_port(host) not in self._hosts:
            raise ForeignHost(
                "This server does not go by that name; if it should, name it with "
                "--allowed-host or server.allowed_hosts."
            )
        origin = headers.get("origin")
        if origin is not None and not self._is_allowed_origin(origin.lower(), host):
            raise ForeignOrigin(
                "Another site may not call this server; name it in server.allowed_origins."
            )
        scope["state"]["same_origin"] = origin is not None

    def _is_allowed_origin(self, origin: str, host: str) -> bool:
        if origin in self._origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc == host


def strip_port(host: str) -> str:
    """A host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
