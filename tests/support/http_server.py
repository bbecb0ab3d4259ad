"""A real server on a port of this machine, in a thread, for tests that speak HTTP to it."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn

from remembrancer.access.login_links import ServerStart
from remembrancer.engine import Remembrancer
from remembrancer.server.app import create_app
from remembrancer.server.middleware.request_log import create_logger
from remembrancer.server.run import build_config
from remembrancer.types import Owner


@dataclass
class Served:
    """An engine that is served, and what its server has logged."""

    engine: Remembrancer
    address: str
    log: io.StringIO
    start: ServerStart
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, secret: str | None = None, **headers: str) -> httpx.Client:
        """Someone who calls, with a key or without."""
        if secret is not None:
            headers["Authorization"] = f"Bearer {secret}"
        made = httpx.Client(
            base_url=self.address, headers=headers, trust_env=False, timeout=60, verify=False
        )
        self.clients.append(made)
        return made

    def of(self, user: str = "ada", **key: Any) -> httpx.Client:
        """Someone with a key of their own."""
        return self.client(self.engine.create_key(user, **key).secret)

    def login_code(self, user: str | None = None) -> str:
        """The code of a login link for someone, as `rem login` makes it."""
        settings = self.engine.settings
        owner = Owner(settings.tenant, user or settings.user)
        minutes = settings.server.login_minutes
        return self.engine.login_links.create_code(owner, self.start, minutes)

    def logged(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


@contextmanager
def served(engine: Remembrancer) -> Iterator[Served]:
    """Serve an engine for as long as the block lasts."""
    log, start = io.StringIO(), ServerStart.new()
    app = create_app(engine, log=create_logger(log), start=start)
    config = build_config(app, engine.settings.server, port=0, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    found = Served(engine, f"http://127.0.0.1:{port}", log, start)
    try:
        yield found
    finally:
        for client in found.clients:
            client.close()
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
