"""Builds the ASGI application: middleware, routes and shared state."""

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
from remembrancer.access.login_links import ServerStart
from remembrancer.local_server import LOOPBACK_HOSTS
from remembrancer.mcp.http import HttpServer
from remembrancer.server import openapi, pages, problems, telegram
from remembrancer.server.demos import Demos
from remembrancer.server.deps import declare_agent_path, refuse_unknown_params
from remembrancer.server.etags import NotModified
from remembrancer.server.metrics import Metrics
from remembrancer.server.middleware.auth import AuthMiddleware
from remembrancer.server.middleware.body_limit import BodyLimitMiddleware
from remembrancer.server.middleware.demo import DemoMiddleware
from remembrancer.server.middleware.idempotency import IdempotencyMiddleware
from remembrancer.server.middleware.rate_limit import RateLimitMiddleware, TokenBuckets
from remembrancer.server.middleware.request_log import RequestLogMiddleware, create_logger
from remembrancer.server.middleware.trusted_host import TrustedHostMiddleware
from remembrancer.server.middleware.wrong_keys import WrongKeys
from remembrancer.server.otel import RequestTracer
from remembrancer.server.proxy import Upstream
from remembrancer.server.routes import (
    admin,
    completions,
    health,
    instances,
    keys,
    kinds,
    logout,
    me,
    memories,
    privacy,
    quality,
    sessions,
    team,
    verbs,
)

if TYPE_CHECKING:
    from remembrancer.config import ServerSettings
    from remembrancer.engine import Remembrancer

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

BEARER_SCHEME = HTTPBearer(
    auto_error=False, description="A key from `rem key-create`, or a signed token."
)
TELEMETRY_OFF: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""FastAPI's own telemetry would export paths and messages, which contain ids and content."""


def create_app(
    engine: Remembrancer,
    *,
    lifespan: Lifespan | None = None,
    log: Any = None,
    home: str = "/memory",
    open_paths: Iterable[str] = ("/static/",),
    end_demo: Callable[[str], None] | None = None,
    start: ServerStart | None = None,
) -> FastAPI:
    """Build the application over an open engine, which the caller closes.

    `home` is the page that a browser sees after login. `open_paths` need no authentication; those
    that end in "/" are prefixes. `end_demo` marks the application of a demo, and ends it. Login
    links are made for one `start` of the server.
    """
    log = log or create_logger()
    metrics, tools, server = Metrics(), _build_mcp_server(engine), engine.settings.server
    webhook = telegram.build_webhook(engine)
    demos = _build_demos(server, log) if end_demo is None and server.workers == 1 else None
    tracer = RequestTracer(server.otlp_endpoint) if server.otlp_endpoint else None
    closers = [one.close for one in (demos, webhook, tracer) if one is not None]
    webhooks = [Route(telegram.WEBHOOK_PATH, webhook)] if webhook is not None else []
    demo_middleware = [Middleware(DemoMiddleware, demos=demos)] if demos is not None else []
    open_paths = (*open_paths, *(route.path for route in webhooks))
    wrong_keys = WrongKeys(engine.list_valid_digests, server.wrong_keys_per_minute)
    upstream = Upstream(server.upstream) if server.upstream is not None else None
    app = FastAPI(
        title="Remembrancer",
        description="Long-term memory for AI assistants.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_build_lifespan(tools, upstream, lifespan, closers),
        telemetry=TELEMETRY_OFF,
        openapi_tags=openapi.TAGS,
        middleware=[
            *demo_middleware,
            *_build_middleware(engine, metrics, tracer, log, open_paths, wrong_keys),
        ],
    )
    app.state.engine, app.state.metrics, app.state.home = engine, metrics, home
    app.state.demos, app.state.leave = demos, end_demo
    app.state.upstream, app.state.log = upstream, log
    app.state.readiness = health.Readiness(engine)
    app.state.wrong_keys, app.state.start = wrong_keys, start or ServerStart.new()
    problems.install(app)
    app.add_exception_handler(NotModified, _respond_not_modified)
    app.router.routes.extend([*_build_routes(), *pages.routes(), *webhooks])
    if end_demo is None:
        app.router.routes.extend(tools.routes())  # they need a running lifespan
    pages.install(app)
    openapi.install(app)
    return app


def _build_mcp_server(engine: Remembrancer) -> HttpServer:
    """Build the MCP endpoint, which uses the same authentication."""
    server = engine.settings.server
    return HttpServer(
        engine,
        None,
        extent=server.tools,
        hosts=(*LOOPBACK_HOSTS, *server.allowed_hosts),
        origins=server.allowed_origins,
        url=server.url,
        authorization_servers=[server.jwt.issuer] if server.jwt is not None else [],
    )


def _build_demos(server: ServerSettings, log: Any) -> Demos:
    def build_demo_app(engine: Remembrancer) -> FastAPI:
        return create_app(engine, log=log, end_demo=demos.end)

    demos = Demos(server, build_demo_app, pages.close)
    return demos


def _build_lifespan(
    tools: HttpServer,
    upstream: Upstream | None,
    lifespan: Lifespan | None,
    closers: Iterable[Callable[[], None]],
) -> Lifespan:
    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncIterator[None]:
        connection = upstream.connect() if upstream is not None else nullcontext()
        inner = lifespan(app) if lifespan is not None else nullcontext()
        async with tools.running(), connection, inner:
            yield
            await run_in_threadpool(pages.close, app)
        for close in closers:
            await run_in_threadpool(close)

    return run


def _build_middleware(
    engine: Remembrancer,
    metrics: Metrics,
    tracer: RequestTracer | None,
    log: Any,
    open_paths: Iterable[str],
    wrong_keys: WrongKeys,
) -> list[Middleware]:
    """Return the middleware, outermost first."""
    settings = engine.settings.server
    tokens = None
    if settings.jwt is not None:
        from remembrancer.server.tokens import TokenVerifier

        tokens = TokenVerifier(settings.jwt, engine.settings.tenant)
    cors = [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "X-Request-ID"],
        )
    ]
    return [
        Middleware(RequestLogMiddleware, metrics=metrics, log=log, tracer=tracer),
        Middleware(
            TrustedHostMiddleware, hosts=settings.allowed_hosts, origins=settings.allowed_origins
        ),
        *(cors if settings.allowed_origins else ()),
        Middleware(
            AuthMiddleware,
            engine=engine,
            wrong_keys=wrong_keys,
            tokens=tokens,
            open_paths=open_paths,
        ),
        Middleware(
            RateLimitMiddleware, buckets=TokenBuckets(settings.requests_per_minute, settings.burst)
        ),
        Middleware(
            BodyLimitMiddleware,
            max_bytes=settings.max_body_bytes,
            timeout_seconds=settings.body_timeout_seconds,
        ),
        Middleware(IdempotencyMiddleware, engine=engine),
    ]


@cache
def _build_routes() -> list[BaseRoute]:
    """Return the routes of the API; all applications share them, because building them is slow."""
    errors = problems.document_errors(400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 503, 507)
    bearer = Security(BEARER_SCHEME)
    secured: dict[str, Any] = {
        "dependencies": [bearer, Depends(refuse_unknown_params)],
        "responses": errors,
    }
    api = APIRouter(prefix="/api", **secured)
    # Routes are matched in order, so the most frequent ones come first.
    personal = (verbs.router, sessions.router, quality.router, me.router, memories.trash)
    for router in personal:
        api.include_router(router)
    for router in (kinds.listings, kinds.router, memories.router):
        api.include_router(router, prefix="/memory")
    api.include_router(team.router, prefix="/team")
    api.include_router(privacy.people, prefix="/people")
    for router in (keys.router, admin.router, privacy.router, instances.settings):
        api.include_router(router)
    agent = [Depends(declare_agent_path)]
    agents = APIRouter(prefix="/api/agents/{agent}", **secured)
    for router in (kinds.listings, kinds.router):
        agents.include_router(router, prefix="/memory", dependencies=agent)
    for router in personal:
        agents.include_router(router, dependencies=agent)
    agents.include_router(memories.router, prefix="/memory", dependencies=agent)
    butlers = APIRouter(prefix="/api/butlers/{agent}/memory", **secured)
    butlers.include_router(kinds.listings, dependencies=agent)
    tables = APIRouter(**secured)
    tables.include_router(instances.router)
    # Clients of OpenAI's protocol may add parameters of their own.
    chats = APIRouter(prefix="/v1", dependencies=[bearer], responses=errors)
    chats.include_router(completions.router)
    public = APIRouter(responses=errors)
    public.include_router(health.router)
    public.include_router(logout.router)
    root = APIRouter(generate_unique_id_function=_build_operation_id)
    for router in (api, agents, butlers, tables, chats, public):
        root.include_router(router)
    return root.routes


def _build_operation_id(route: APIRoute) -> str:
    path = route.path_format
    if path.startswith("/api/agents/"):
        return f"agent_{route.name}"
    return f"butler_{route.name}" if path.startswith("/api/butlers/") else route.name


async def _respond_not_modified(_: Request, error: Exception) -> Response:
    assert isinstance(error, NotModified)
    return Response(status_code=304, headers={"ETag": error.tag})
