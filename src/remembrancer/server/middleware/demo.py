"""Demos that browsers have open: each is an application over a store in memory, beside our own.

What a browser sends from within a demo reaches that demo alone: never the real store, not even
when the demo is over.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer import demo
from remembrancer.access.keys import CAPABILITIES
from remembrancer.server.middleware.auth import SESSION_COOKIE
from remembrancer.types import Owner

if TYPE_CHECKING:
    from fastapi import FastAPI

    from remembrancer.config import ServerSettings
    from remembrancer.engine import Remembrancer

DEMO_COOKIE = "rem_demo"
DEMO_HOURS = 1.0
MAX_DEMOS = 4
"""How many there are at once; the oldest gives way to a new one."""


@dataclass(frozen=True, slots=True)
class _RunningDemo:
    app: FastAPI
    engine: Remembrancer
    timer: threading.Timer


class Demos:
    """The demos that are open, by the secret of the browser that looks at each."""

    def __init__(
        self,
        settings: ServerSettings,
        build_app: Callable[[Remembrancer], FastAPI],
        close: Callable[[FastAPI], None],
        *,
        max_demos: int = MAX_DEMOS,
    ) -> None:
        self._settings = settings.model_copy(
            update={"jwt": None, "otlp_endpoint": None, "upstream": None}
        )
        self._application = build_app
        self._close = close
        self._most = max_demos
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._running: OrderedDict[str, _RunningDemo] = OrderedDict()

    def start(self) -> str:
        """Tell the story to a new store; with the secret a browser is let in, for a while."""
        with self._starting:
            engine = demo.build_demo(server=self._settings)
            owner = Owner(engine.settings.tenant, engine.settings.user)
            secret = engine.create_session(owner, CAPABILITIES, hours=DEMO_HOURS).secret
            alarm = threading.Timer(DEMO_HOURS * 3600, self.end, (secret,))
            alarm.daemon = True
            alarm.start()
            with self._lock:
                self._running[secret] = _RunningDemo(self._application(engine), engine, alarm)
                surplus = list(self._running)[: -self._most]
            for one in surplus:
                self.end(one)
        return secret

    def end(self, secret: str) -> None:
        """Let a demo vanish, if it is still there."""
        with self._lock:
            running = self._running.pop(secret, None)
        if running is not None:
            running.timer.cancel()
            self._close(running.app)
            running.engine.close()

    def close(self) -> None:
        """Let all of them vanish."""
        for secret in list(self._running):
            self.end(secret)

    def find_app(self, secret: str) -> ASGIApp | None:
        """The application of a demo, unless it is over."""
        running = self._running.get(secret)
        return running.app if running else None


class DemoMiddleware:
    """Hands what comes from within a demo to that demo; once it is over, one is back home."""

    def __init__(self, app: ASGIApp, *, demos: Demos) -> None:
        self._app = app
        self._demos = demos

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what has nothing to do with demos."""
        secret = _read_demo_secret(scope) if scope["type"] == "http" else None
        if secret is None:
            await self._app(scope, receive, send)
        elif (app := self._demos.find_app(secret)) is not None:
            await app(_build_demo_scope(scope, secret), receive, _rename_session_cookie(send))
        else:
            answer = RedirectResponse("/memory", 303)
            answer.delete_cookie(DEMO_COOKIE, path="/")
            await answer(scope, receive, send)


def _read_demo_secret(scope: Scope) -> str | None:
    """The secret of the demo that a browser is in; whoever sends a key is no browser."""
    headers = Headers(scope=scope)
    if "authorization" in headers:
        return None
    return cookie_parser(headers.get("cookie", "")).get(DEMO_COOKIE)


def _build_demo_scope(scope: Scope, secret: str) -> Scope:
    """The request as the demo gets it: with a session there, and without that of the real store."""
    inner = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=inner)
    cookies = cookie_parser(headers["cookie"])
    del cookies[DEMO_COOKIE]
    headers["cookie"] = "; ".join(
        f"{name}={value}" for name, value in {**cookies, SESSION_COOKIE: secret}.items()
    )
    return inner


def _rename_session_cookie(send: Send) -> Send:
    """Sends what a demo answers; its session is not that of the real store in a cookie either."""

    async def renamed(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours, its = f"{SESSION_COOKIE}=".encode(), f"{DEMO_COOKIE}=".encode()
            message["headers"] = [
                (name, its + value.removeprefix(ours))
                if name == b"set-cookie" and value.startswith(ours)
                else (name, value)
                for name, value in message["headers"]
            ]
        await send(message)

    return renamed
