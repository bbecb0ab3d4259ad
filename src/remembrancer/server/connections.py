"""Limits on connections, which uvicorn has not: how long they may wait, and how many there may be.

A connection waits until a request's headers are complete, and again when it was answered. When
there are too many, the one that has waited longest makes room for a new one; so connections that
never ask for anything shut nobody out. If all are busy, a new one is only told to come back later,
or that the server is alive.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from remembrancer.server.client_address import find_network
from remembrancer.server.middleware.trusted_host import PROBE_PATHS

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from remembrancer.config import ServerSettings

MAX_CONNECTIONS, MIN_CONNECTIONS = 1000, 8
OWN_HANDLES = 48
"""How many file handles the process needs for itself."""

DEFAULT_HANDLES = 1024
SPARE_CONNECTIONS = 8
"""How many connections are taken beyond the limit, for probes alone."""

MAX_HEADER_BYTES = 65_536
CLOSING_RESPONSE = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, how long they may wait, and which proxies send many."""

    total: int
    per_address: int
    header_seconds: float
    idle_seconds: float
    send_seconds: float
    proxies: frozenset[str] = frozenset()


def connection_limits(server: ServerSettings) -> ConnectionLimits:
    """The limits that are set, or else as many connections as there are file handles for."""
    total = server.max_connections or _count_affordable()
    return ConnectionLimits(
        total=total,
        per_address=server.max_connections_per_address or max(1, total // 2),
        header_seconds=server.header_timeout_seconds,
        idle_seconds=server.idle_timeout_seconds,
        send_seconds=server.send_timeout_seconds,
        proxies=frozenset(server.trusted_proxies),
    )


def _count_affordable() -> int:
    """Half of the file handles; the other half is for the files of the store."""
    try:
        import resource
    except ImportError:  # Windows
        handles = DEFAULT_HANDLES
    else:
        handles = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if handles == resource.RLIM_INFINITY:
            handles = 2 * MAX_CONNECTIONS + OWN_HANDLES
    return max(MIN_CONNECTIONS, min(MAX_CONNECTIONS, (handles - OWN_HANDLES) // 2))


class OpenConnections:
    """The connections of one process; belongs to its event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._by_address: dict[str, dict[LimitedProtocol, None]] = {}
        self._waiting: dict[LimitedProtocol, None] = {}  # the longest waiting first
        self._count = 0

    def admit(self, protocol: LimitedProtocol, address: str) -> bool:
        """Count a new connection. False if it exceeds a limit and no other can make room."""
        own = self._by_address.setdefault(address, {})
        is_proxy = address in self._limits.proxies
        has_room = True
        if len(own) >= self._limits.per_address and not is_proxy:
            has_room = self._close_one_of(own)
        elif self._count >= self._limits.total:
            has_room = self._close_one_of(self._waiting)
        own[protocol] = None
        self._count += 1
        return has_room

    def has_spare(self) -> bool:
        """True if a connection beyond the limit may still ask whether the server is alive."""
        return self._count <= self._limits.total + SPARE_CONNECTIONS

    def set_waiting(self, protocol: LimitedProtocol, *, waits: bool) -> None:
        """Note whether a connection waits for its client; the time counts from the last change."""
        self._waiting.pop(protocol, None)
        if waits:
            self._waiting[protocol] = None

    def remove(self, protocol: LimitedProtocol, address: str) -> None:
        """Forget a connection that is lost; does nothing if it was removed before."""
        self._waiting.pop(protocol, None)
        own = self._by_address.get(address, {})
        if protocol in own:
            del own[protocol]
            self._count -= 1
        if not own:
            self._by_address.pop(address, None)

    def _close_one_of(self, candidates: dict[LimitedProtocol, None]) -> bool:
        """Close the connection among these that has waited longest; False if none waits."""
        found = next((one for one in self._waiting if one in candidates), None)
        if found is None:
            return False
        found.abandon()
        return True


@dataclass(frozen=True)
class ProtocolFactory:
    """Creates the protocol of each connection of a process; can be sent to a worker process."""

    limits: ConnectionLimits
    _open: list[OpenConnections] = field(default_factory=list, init=False)

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> LimitedProtocol:
        if not self._open:
            self._open.append(OpenConnections(self.limits))
        protocol = LimitedProtocol(config, server_state, app_state, _loop)
        protocol.limit(self._open[0], self.limits)
        return protocol


class LimitedProtocol(HttpToolsProtocol):
    """A connection with timeouts for headers, for idleness, and for a client that reads nothing."""

    def limit(self, connections: OpenConnections, limits: ConnectionLimits) -> None:
        self._open, self._limits, self._address = connections, limits, ""
        self._is_in_headers, self._header_bytes = False, 0
        self._header_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None
        self.timeout_keep_alive = limits.idle_seconds  # type: ignore[assignment]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = find_network(self.client[0]) if self.client else ""
        if not self._open.admit(self, self._address):
            if not self._open.has_spare():
                self.abandon()
                return
            self.app = _ProbesOnly(self.app)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.remove(self, self._address)
        self._stop_header_timer()
        self._stop_send_timer()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self._header_timer is None and not self._is_busy():
            self._await_headers()
        self._header_bytes += len(data)
        super().data_received(data)
        if self._is_in_headers and self._header_bytes > MAX_HEADER_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_headers, self._header_bytes = True, 0

    def on_headers_complete(self) -> None:
        self._is_in_headers = False
        self._stop_header_timer()
        self._open.set_waiting(self, waits=False)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():  # what it has not read yet, it must read in time
            self._start_send_timer()
        elif self._is_in_headers and not self._is_busy():  # the next request has begun already
            self._unset_keepalive_if_required()
            self._await_headers()
        elif not self._is_busy():
            self._open.set_waiting(self, waits=True)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_send_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_send_timer()

    def abandon(self) -> None:
        """Close the connection at once, to make room or because its client takes too long."""
        self._open.remove(self, self._address)
        self.transport.abort()

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_headers(self) -> None:
        self._open.set_waiting(self, waits=True)
        self._header_timer = self.loop.call_later(self._limits.header_seconds, self._time_out)

    def _time_out(self) -> None:
        self._header_timer = None
        if self._is_in_headers:
            self._refuse(b"408 Request Timeout")
        else:
            self.transport.close()

    def _refuse(self, status: bytes) -> None:
        """Answer a request whose headers are not complete, and close the connection."""
        self._stop_header_timer()
        if not self.transport.is_closing():
            self.transport.write(CLOSING_RESPONSE % status)
            self.transport.close()
            self._start_send_timer()

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _start_send_timer(self) -> None:
        self._stop_send_timer()
        self._send_timer = self.loop.call_later(self._limits.send_seconds, self.abandon)

    def _stop_send_timer(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None


class _ProbesOnly:
    """Answers 503 to whatever is no probe, and closes the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBE_PATHS:
            await self._app(scope, receive, send)
            return
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"retry-after", b"5"),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": b"Too many connections. Retry later."})
