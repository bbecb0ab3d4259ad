"""Runs the server: a socket, the recurring jobs beside it, and an end that loses nothing."""

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
from remembrancer.errors import InvalidSetting, RemembrancerError
from remembrancer.local_server import LocalServer, is_loopback
from remembrancer.server.app import create_app
from remembrancer.server.middleware.request_log import create_logger
from remembrancer.types import Owner

if TYPE_CHECKING:
    from remembrancer.config import ServerSettings, Settings
    from remembrancer.engine import Remembrancer

TICK_SECONDS = 60
M_ARENA_MAX, MAX_ARENAS = -8, 2
SHUTDOWN_TIMEOUT_SECONDS = 30
"""How long requests may take to be finished when the server is told to stop."""


class JobThread(threading.Thread):
    """Does whatever is due by the schedule, minute by minute; other processes may do so too."""

    def __init__(self, engine: Remembrancer, log: Any) -> None:
        super().__init__(name="remembrancer-jobs", daemon=True)
        self._engine = engine
        self._log = log
        self._over = threading.Event()

    def run(self) -> None:
        """Tick until it is over."""
        while True:
            try:
                self._engine.tick(self._over.is_set)
            except RemembrancerError as error:
                self._log.warning("jobs", code=error.code)
            except Exception as error:  # the next tick may succeed, and nobody else would notice
                self._log.error("jobs", error=type(error).__name__)
            if self._over.wait(TICK_SECONDS):
                return

    def stop(self) -> None:
        """End after the person who is being looked after."""
        self._over.set()
        self.join(SHUTDOWN_TIMEOUT_SECONDS)


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """What lets the person at this machine in, and ends with the server: keys, by their secrets."""

    token: str | None = None
    key: str | None = None
    file: Path | None = None

    def revoke(self, engine: Remembrancer) -> None:
        """Let nobody in any more."""
        for secret in filter(None, (self.token, self.key)):
            engine.revoke_secret(secret)
        if self.file is not None and self.key is not None:
            local_server.remove_server_file(self.file, self.key)


def build_app(engine: Remembrancer, access: LocalAccess | None = None) -> FastAPI:
    """The application with its jobs; when it ends, the store is closed, and nothing is lost."""
    log = create_logger()
    _limit_malloc_arenas()

    @contextlib.asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        heart = JobThread(engine, log)
        heart.start()
        yield
        await run_in_threadpool(heart.stop)
        if access is not None:
            await run_in_threadpool(access.revoke, engine)
        await run_in_threadpool(engine.close)

    return create_app(engine, lifespan=living, log=log)


def _limit_malloc_arenas() -> None:
    """Let threads share what they free, where the C library lets each keep a heap of its own.

    Whichever thread writes makes the arrays of an index anew; with a heap for each of them, the
    process would hold many times what it uses.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # No such C library.
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MAX_ARENAS)


def open_app(settings: Settings, access: LocalAccess | None) -> FastAPI:
    """The application of one of several processes, each with the store opened for itself."""
    from remembrancer.factory import open

    return build_app(open(settings=settings), access)


def bind_socket(settings: ServerSettings) -> socket.socket:
    """The socket to listen on, or an error that says why there is none."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named in full, the protocol lets asyncio send answers at once instead of waiting for more.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen()  # Whoever reads the address may call at once, and waits a moment.
    except OSError as error:
        listening.close()
        raise InvalidSetting(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}. "
            "Another server may be there; take another one with --port."
        ) from error
    listening.set_inheritable(True)
    return listening


def require_key_off_loopback(engine: Remembrancer) -> None:
    """Beyond this machine nobody may listen who has no keys to tell people apart by."""
    server = engine.settings.server
    keys = [
        one
        for one in engine.list_keys()
        if LOGIN_CAPABILITY not in one.capabilities and is_valid(one, engine.now())
    ]
    if is_loopback(server.host) or server.jwt is not None or keys:
        return
    raise InvalidSetting(
        f"{server.host} can be reached by others, and there is no key yet: make one with "
        "`rem key-create`, or set server.jwt, or listen on 127.0.0.1."
    )


def create_login_token(engine: Remembrancer) -> str | None:
    """What lets the one person at this machine in; there is none where others can call."""
    server = engine.settings.server
    if not is_loopback(server.host):
        return None
    owner = Owner(engine.settings.tenant, engine.settings.user)
    return engine.create_session(owner, [LOGIN_CAPABILITY], hours=server.session_hours).secret


def publish_local_key(engine: Remembrancer, port: int) -> tuple[str, Path]:
    """A key for programs of the same person on this machine, and the file that tells them of it."""
    settings = engine.settings
    url = settings.store.url
    file = local_server.server_file_path(
        {
            **{name: str(getattr(settings, name)) for name in ("tenant", "user", "profile")},
            "store": {
                "url": url.get_secret_value() if url else None,
                "path": str(settings.data_directory()),
            },
        }
    )
    left = local_server.read_server_file(file)
    if left is not None:  # by a server that was killed
        engine.revoke_secret(left.key)
    made = engine.create_key(label="programs on this machine")
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    here = LocalServer(settings.server.host, port, made.secret, os.getpid())
    local_server.write_server_file(file, here)
    return made.secret, file


def serve(engine: Remembrancer, listener: socket.socket, access: LocalAccess) -> None:
    """Serve until told to stop."""
    server = engine.settings.server
    if server.workers == 1:
        uvicorn.Server(_build_config(build_app(engine, access))).run(sockets=[listener])
        return
    from uvicorn.supervisors import Multiprocess

    engine.close()
    app = partial(open_app, engine.settings, access)
    config = _build_config(app, factory=True, workers=server.workers)
    Multiprocess(config, sockets=[listener]).run()


def _build_config(app: Any, **options: Any) -> uvicorn.Config:
    # No access log: it would hold queries and ids. `server.logs` tells of every request.
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_SECONDS,
        **options,
    )
