"""Puts the server together: what a request passes on its way, and which routes there are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from remembrancer import __version__
from remembrancer.local_server import LOOPBACK
from remembrancer.mcp.http import HttpServer
from remembrancer.server import openapi, pages, problems, telegram
from remembrancer.server.cpu_limit import Turns
from remembrancer.server.deps import named_agent
from remembrancer.server.etags import Unchanged
from remembrancer.server.metrics import Metrics
from remembrancer.server.middleware.auth import Gate
from remembrancer.server.middleware.demo import Apart, Demos
from remembrancer.server.middleware.idempotency import Once
from remembrancer.server.middleware.rate_limit import Bodies, Buckets, Pace
from remembrancer.server.middleware.request_log import Watch, logger
from remembrancer.server.middleware.trusted_host import Hosts
from remembrancer.server.otel import Traces
from remembrancer.server.proxy import Upstream
from remembrancer.server.routes import (
    admin,
    completions,
    health,
    instances,
    keys,
    kinds,
    maintenance,
    me,
    memories,
    privacy,
    sessions,
    team,
    verbs,
)

if TYPE_CHECKING:
    from remembrancer.config import ServerSettings
    from remembrancer.engine import Remembrancer

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

BEARER = HTTPBearer(auto_error=False, description="A key of `rem key-create`, or a signed token.")
SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""FastAPI's own telemetry would tell paths and messages, which hold ids and words."""


def create_app(
    engine: Remembrancer,
    *,
    lifespan: Lifespan | None = None,
    log: Any = None,
    home: str = "/memory",
    open_paths: Iterable[str] = ("/static/",),
    leave: Callable[[str], None] | None = None,
) -> FastAPI:
    """The application over an open store, which whoever opened it closes.

    More can be mounted on it; `home` is where a browser goes after its login, and `open_paths` are
    what anyone may fetch, such as "/static/". A demo has a way to `leave` it.
    """
    log = log or logger()
    metrics, tools, server = Metrics(), _tools(engine), engine.settings.server
    hook = telegram.webhook(engine)
    demos = _demos(server, log) if leave is None and server.workers == 1 else None
    traces = Traces(server.traces) if server.traces else None
    ending = [one.close for one in (demos, hook, traces) if one is not None]
    called = [Route(telegram.PATH, hook)] if hook is not None else []
    apart = [Middleware(Apart, demos=demos)] if demos is not None else []
    anyones = (*open_paths, *(one.path for one in called))
    turns = Turns(engine.settings)
    upstream = Upstream(server.upstream) if server.upstream is not None else None
    app = FastAPI(
        title="Remembrancer",
        description="Long-term memory for AI assistants.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_living(tools, upstream, lifespan, ending),
        telemetry=SILENT,
        middleware=[*apart, *_way_in(engine, metrics, traces, log, anyones, turns)],
    )
    app.state.engine, app.state.metrics, app.state.home = engine, metrics, home
    app.state.demos, app.state.leave = demos, leave
    app.state.turns, app.state.upstream, app.state.log = turns, upstream, log
    problems.install(app)
    app.add_exception_handler(Unchanged, _unchanged)
    app.router.routes.extend([*_routes(), *pages.routes(), *called])
    if leave is None:
        app.router.routes.extend(tools.routes())  # which work only while the lifespan lasts
    pages.install(app)
    openapi.install(app)
    return app


def _tools(engine: Remembrancer) -> HttpServer:
    """The same memory for models, behind the same gate."""
    server = engine.settings.server
    return HttpServer(
        engine,
        None,
        extent=server.tools,
        hosts=(*LOOPBACK, *server.allowed_hosts),
        origins=server.allowed_origins,
        url=server.url,
        authorization_servers=[server.jwt.issuer] if server.jwt is not None else [],
    )


def _demos(server: ServerSettings, log: Any) -> Demos:
    """What browsers may look around in, each in one of its own."""

    def application(engine: Remembrancer) -> FastAPI:
        return create_app(engine, log=log, leave=demos.end)

    demos = Demos(server, application, pages.close)
    return demos


def _living(
    tools: HttpServer,
    upstream: Upstream | None,
    lifespan: Lifespan | None,
    ending: Iterable[Callable[[], None]],
) -> Lifespan:
    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        asked = upstream.running() if upstream is not None else nullcontext()
        given = lifespan(app) if lifespan is not None else nullcontext()
        async with tools.running(), asked, given:
            yield
            await run_in_threadpool(pages.close, app)
        for end in ending:
            await run_in_threadpool(end)

    return living


def _way_in(
    engine: Remembrancer,
    metrics: Metrics,
    traces: Traces | None,
    log: Any,
    open_paths: Iterable[str],
    turns: Turns,
) -> list[Middleware]:
    """What a request passes, from the outside to the inside."""
    settings = engine.settings.server
    tokens = None
    if settings.jwt is not None:
        from remembrancer.server.tokens import Tokens

        tokens = Tokens(settings.jwt, engine.settings.tenant)
    shared = [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "X-Request-ID"],
        )
    ]
    return [
        Middleware(Watch, metrics=metrics, log=log, traces=traces),
        Middleware(Hosts, hosts=settings.allowed_hosts, origins=settings.allowed_origins),
        *(shared if settings.allowed_origins else ()),
        Middleware(Gate, engine=engine, turns=turns, tokens=tokens, open_paths=open_paths),
        Middleware(Pace, buckets=Buckets(settings.requests_per_minute, settings.burst)),
        Middleware(Bodies, most=settings.most_bytes, seconds=settings.body_seconds),
        Middleware(Once, engine=engine),
    ]


@cache
def _routes() -> list[BaseRoute]:
    """All of the API, for as many applications as there are: reading it in takes a while."""
    errors = problems.documented(400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 503)
    secured: dict[str, Any] = {"dependencies": [Security(BEARER)], "responses": errors}
    api = APIRouter(prefix="/api", **secured)
    for router in _personal():  # what is asked most stands first: routes are tried in turn
        api.include_router(router)
    api.include_router(kinds.listings, prefix="/memory")
    api.include_router(kinds.router, prefix="/memory")
    api.include_router(memories.router, prefix="/memory")
    api.include_router(team.router, prefix="/team")
    api.include_router(privacy.people, prefix="/people")
    for router in (keys.router, admin.router, privacy.router):
        api.include_router(router)
    agent = [Depends(named_agent)]
    own = APIRouter(prefix="/api/agents/{agent}", **secured)
    for prefix, router in (("/memory", kinds.listings), ("/memory", kinds.router)):
        own.include_router(router, prefix=prefix, dependencies=agent)
    for router in _personal():
        own.include_router(router, dependencies=agent)
    own.include_router(memories.router, prefix="/memory", dependencies=agent)
    butlers = APIRouter(prefix="/api/butlers/{agent}/memory", **secured)
    butlers.include_router(kinds.listings, dependencies=agent)
    rows = APIRouter(**secured)
    rows.include_router(instances.router)
    chats = APIRouter(prefix="/v1", **secured)
    chats.include_router(completions.router)
    door = APIRouter(responses=errors)
    door.include_router(health.router)
    whole = APIRouter(generate_unique_id_function=_operation)
    for router in (api, own, butlers, rows, chats, door):
        whole.include_router(router)
    return whole.routes


def _personal() -> list[APIRouter]:
    """What a person has, and each of their agents."""
    return [verbs.router, sessions.router, maintenance.router, me.router, memories.trash]


def _operation(route: APIRoute) -> str:
    path = route.path_format
    if path.startswith("/api/agents/"):
        return f"agent_{route.name}"
    return f"butler_{route.name}" if path.startswith("/api/butlers/") else route.name


async def _unchanged(_: Request, error: Exception) -> Response:
    assert isinstance(error, Unchanged)
    return Response(status_code=304, headers={"ETag": error.tag})
