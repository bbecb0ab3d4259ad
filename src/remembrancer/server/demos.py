"""Keeps the running demos: each is an application of its own over a store in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from remembrancer import demo
from remembrancer.access.keys import CAPABILITIES
from remembrancer.types import Owner

if TYPE_CHECKING:
    from fastapi import FastAPI

    from remembrancer.config import ServerSettings
    from remembrancer.engine import Remembrancer

DEMO_HOURS = 1.0
MAX_DEMOS = 4
"""The most demos at once; a new one ends the oldest."""


@dataclass(frozen=True, slots=True)
class _RunningDemo:
    app: FastAPI
    engine: Remembrancer
    timer: threading.Timer


class Demos:
    """The running demos, by the session secret of the browser that started each."""

    def __init__(
        self,
        settings: ServerSettings,
        build_app: Callable[[Remembrancer], FastAPI],
        close_app: Callable[[FastAPI], None],
        *,
        max_demos: int = MAX_DEMOS,
    ) -> None:
        outside = dict.fromkeys(("jwt", "otlp_endpoint", "upstream"))  # a demo reaches nothing
        self._settings = settings.model_copy(update=outside)
        self._build_app = build_app
        self._close_app = close_app
        self._max_demos = max_demos
        self._lock = threading.Lock()
        self._start_lock = threading.Lock()
        self._running: OrderedDict[str, _RunningDemo] = OrderedDict()

    def start(self) -> str:
        """Build a demo and return the session secret that opens it."""
        with self._start_lock:
            engine = demo.build_demo(server=self._settings)
            owner = Owner(engine.settings.tenant, engine.settings.user)
            secret = engine.create_session(owner, CAPABILITIES, hours=DEMO_HOURS).secret
            timer = threading.Timer(DEMO_HOURS * 3600, self.end, (secret,))
            timer.daemon = True
            timer.start()
            with self._lock:
                self._running[secret] = _RunningDemo(self._build_app(engine), engine, timer)
                surplus = list(self._running)[: -self._max_demos]
            for oldest in surplus:
                self.end(oldest)
        return secret

    def end(self, secret: str) -> None:
        """Close a demo and discard its store; does nothing if it has ended already."""
        with self._lock:
            running = self._running.pop(secret, None)
        if running is not None:
            running.timer.cancel()
            self._close_app(running.app)
            running.engine.close()

    def close(self) -> None:
        for secret in list(self._running):
            self.end(secret)

    def find_app(self, secret: str) -> ASGIApp | None:
        running = self._running.get(secret)
        return running.app if running else None
