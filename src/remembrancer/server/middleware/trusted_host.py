"""Checks Host and Origin, so that no other site can reach this server through a user's browser."""

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
"""Orchestrators call these by address; the responses contain no personal data."""


class TrustedHostMiddleware:
    """Answers 400 to unknown hosts and 403 to unknown origins."""

    def __init__(
        self, app: ASGIApp, *, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in (*LOOPBACK_HOSTS, *hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in PROBE_PATHS:
            try:
                self._check_headers(Headers(scope=scope), scope)
            except RemembrancerError as error:
                await problems.send_error(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check_headers(self, headers: Headers, scope: Scope) -> None:
        hosts = headers.getlist("host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        if _strip_port(host) not in self._hosts:
            raise ForeignHost(
                "Unknown Host header. Add it with --allowed-host or server.allowed_hosts."
            )
        origin = headers.get("origin")
        if origin is not None and not self._is_allowed_origin(origin.lower(), host):
            raise ForeignOrigin("Unknown Origin header. Add it to server.allowed_origins.")
        scope["state"]["same_origin"] = origin is not None

    def _is_allowed_origin(self, origin: str, host: str) -> bool:
        if origin in self._origins:
            return True
        try:
            url = urlsplit(origin)
        except ValueError:
            return False
        return url.scheme in ("http", "https") and url.netloc == host


def _strip_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
