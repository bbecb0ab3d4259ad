"""Runs the server: binds the socket, runs the recurring jobs, and shuts down gracefully."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from remembrancer import local_server
from remembrancer.access.keys import LOGIN_CAPABILITY, is_valid
from remembrancer.access.login_links import ServerStart
from remembrancer.environment import create_private_directory
from remembrancer.errors import InvalidSetting, RemembrancerError
from remembrancer.local_server import LocalServer, is_loopback
from remembrancer.server.app import create_app
from remembrancer.server.connections import ProtocolFactory, connection_limits
from remembrancer.server.middleware.request_log import create_logger
from remembrancer.types import Owner

if TYPE_CHECKING:
    from remembrancer.config import ServerSettings, Settings
    from remembrancer.engine import Remembrancer

TICK_SECONDS = 60
M_ARENA_MAX, MAX_ARENAS = -8, 2
SHUTDOWN_TIMEOUT_SECONDS = 30
"""How long running requests and jobs may take to finish on shutdown."""


class JobThread(threading.Thread):
    """Runs due jobs once a minute; leases keep other processes from running the same job."""

    def __init__(self, engine: Remembrancer, log: Any) -> None:
        super().__init__(name="remembrancer-jobs", daemon=True)
        self._engine = engine
        self._log = log
        self._stopped = threading.Event()

    def run(self) -> None:
        while True:
            try:
                self._engine.tick(self._stopped.is_set)
            except RemembrancerError as error:
                self._log.warning("jobs", code=error.code)
            except Exception as error:  # the next tick may succeed, and nothing else reports it
                self._log.error("jobs", error=type(error).__name__)
            if self._stopped.wait(TICK_SECONDS):
                return

    def stop(self) -> None:
        """Stop after the current user's job."""
        self._stopped.set()
        self.join(SHUTDOWN_TIMEOUT_SECONDS)


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """What lets the local user in: login links for this start, and a key for local programs.

    The secrets are revoked when the server stops; a later start accepts no link of this one.
    """

    start: ServerStart
    code: str | None = None
    key: str | None = None
    file: Path | None = None

    def revoke(self, engine: Remembrancer) -> None:
        for secret in filter(None, (self.code, self.key)):
            engine.revoke_secret(secret)
        if self.file is not None and self.key is not None:
            local_server.remove_server_file(self.file, self.key)


def build_app(engine: Remembrancer, access: LocalAccess | None = None) -> FastAPI:
    """Build the application with its job thread; its shutdown closes the engine."""
    log = create_logger()
    _limit_malloc_arenas()

    @contextlib.asynccontextmanager
    async def run_jobs(_: FastAPI) -> AsyncIterator[None]:
        jobs = JobThread(engine, log)
        jobs.start()
        yield
        await run_in_threadpool(jobs.stop)
        if access is not None:
            await run_in_threadpool(access.revoke, engine)
        await run_in_threadpool(engine.close)

    start = access.start if access is not None else None
    return create_app(engine, lifespan=run_jobs, log=log, start=start)


def _limit_malloc_arenas() -> None:
    """Limit glibc's heaps, which otherwise grow with the number of threads.

    Any thread may rebuild the arrays of an index. With a heap per thread the process would keep
    many times the memory that it uses.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MAX_ARENAS)


def open_app(settings: Settings, access: LocalAccess | None) -> FastAPI:
    """Build the application of one worker process, which opens the store itself."""
    from remembrancer.factory import open

    return build_app(open(settings=settings), access)


def bind_socket(settings: ServerSettings) -> socket.socket:
    """Return a listening socket. Raises InvalidSetting if the address cannot be bound."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is given explicitly.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # clients may connect as soon as the address is printed
    except OSError as error:
        listener.close()
        raise InvalidSetting(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another port with --port."
        ) from error
    listener.set_inheritable(True)
    return listener


def require_key_off_loopback(engine: Remembrancer) -> None:
    """Raise InvalidSetting if others can reach the server but nobody has a key to it."""
    server = engine.settings.server
    keys = [
        one
        for one in engine.list_keys()
        if LOGIN_CAPABILITY not in one.capabilities and is_valid(one, engine.now())
    ]
    if is_loopback(server.host) or server.jwt is not None or keys:
        return
    raise InvalidSetting(
        f"Others can reach {server.host}, but there is no key yet. Create one with "
        "`rem key-create`, set server.jwt, or listen on 127.0.0.1."
    )


def create_login_code(
    engine: Remembrancer, start: ServerStart, minutes: float | None = None
) -> str | None:
    """Return a code for a login link of the local user; None unless the server is on loopback."""
    server = engine.settings.server
    if not is_loopback(server.host):
        return None
    owner = Owner(engine.settings.tenant, engine.settings.user)
    return engine.login_links.create_code(owner, start, minutes or server.login_minutes)


def publish_local_key(engine: Remembrancer, port: int, start: ServerStart) -> tuple[str, Path]:
    """Create a key for local programs. Returns the secret and the file that it is written to."""
    settings = engine.settings
    file = find_server_file(settings)
    stale = local_server.read_server_file(file)
    if stale is not None:  # left by a server that was killed
        engine.revoke_secret(stale.key)
    created = engine.create_key(label="programs on this machine")
    create_private_directory(file.parent)
    server = LocalServer(settings.server.host, port, created.secret, os.getpid(), start.id)
    local_server.write_server_file(file, server)
    return created.secret, file


def find_server_file(settings: Settings) -> Path:
    """The file in which a server with these settings publishes its address."""
    names = {name: str(getattr(settings, name)) for name in ("tenant", "user", "profile")}
    url = settings.store.url.get_secret_value() if settings.store.url else None
    path = str(settings.data_directory())
    return local_server.server_file_path({**names, "store": {"url": url, "path": path}})


def serve(engine: Remembrancer, listener: socket.socket, access: LocalAccess) -> None:
    """Serve until the process receives a signal to stop."""
    server = engine.settings.server
    if server.workers == 1:
        config = build_config(build_app(engine, access), server)
        uvicorn.Server(config).run(sockets=[listener])
        return
    from uvicorn.supervisors import Multiprocess

    engine.close()
    app = partial(open_app, engine.settings, access)
    config = build_config(app, server, factory=True, workers=server.workers)
    Multiprocess(config, sockets=[listener]).run()


def build_config(app: Any, server: ServerSettings, **options: Any) -> uvicorn.Config:
    """Return uvicorn's configuration, with limits on connections that it has not itself."""
    # No access log: it would contain queries and ids. RequestLogMiddleware logs requests.
    return uvicorn.Config(
        app,
        http=ProtocolFactory(connection_limits(server)),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(server.trusted_proxies),
        forwarded_allow_ips=list(server.trusted_proxies),
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_SECONDS,
        **options,
    )
