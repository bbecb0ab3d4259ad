"""FastAPI dependencies: the engine, the caller, their memory and its renderer."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from remembrancer.engine import Remembrancer
from remembrancer.errors import NotAllowed
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.memory import Memory
from remembrancer.server.etags import ETagHeaders
from remembrancer.server.middleware.idempotency import DATA_OWNER
from remembrancer.server.problems import KEY_REQUIRED, Unauthenticated
from remembrancer.server.render import MemoryRenderer
from remembrancer.server.schemas import Name
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY, Review
from remembrancer.types import GLOBAL_SCOPE, Principal, validate_name


async def refuse_unknown_params(request: Request) -> None:
    """Raise RequestValidationError for a query parameter that the route does not have.

    A route whose parameters are a model leaves this to the model.
    """
    route: APIRoute = request.scope["route"]
    declared = route.dependant.query_params
    if any(_is_model(one.field_info.annotation) for one in declared):
        return
    unknown = request.query_params.keys() - {one.alias for one in declared}
    if unknown:
        message = {"type": "extra_forbidden", "msg": "Extra inputs are not permitted"}
        raise RequestValidationError(
            [{**message, "loc": ("query", name)} for name in sorted(unknown)]
        )


def _is_model(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


async def get_engine(request: Request) -> Remembrancer:
    engine: Remembrancer = request.app.state.engine
    return engine


async def get_caller(request: Request) -> Principal:
    """Return the principal that AuthMiddleware found."""
    principal: Principal | None = request.scope["state"].get("principal")
    if principal is None:
        raise Unauthenticated(KEY_REQUIRED)
    return principal


Engine = Annotated[Remembrancer, Depends(get_engine)]
Caller = Annotated[Principal, Depends(get_caller)]


async def declare_agent_path(
    agent: Annotated[Name, Path(description="The agent that acts for the user.")],
) -> None:
    """Document the path parameter `agent`, which `get_memory` reads."""


async def get_memory(request: Request, engine: Engine, caller: Caller) -> Memory:
    """Return the caller's memory, as the agent in the path if there is one."""
    agent = request.path_params.get("agent") or caller.agent
    if engine.is_shared(agent):  # Whether the caller may use it is read from the store.
        return await run_in_threadpool(get_request_memory, request, caller, agent)
    return get_request_memory(request, caller, agent)


def get_request_memory(request: Request, caller: Principal, agent: str | None) -> Memory:
    """Return the caller's memory as seen by an agent, and note whose memories they are."""
    memory = get_agent_memory(request.app.state.engine, caller, agent)
    setattr(request.state, DATA_OWNER, memory.owner)
    return memory


def get_agent_memory(engine: Remembrancer, caller: Principal, agent: str | None) -> Memory:
    """Return the caller's memory as seen by an agent. Raises NotAllowed for another's key."""
    if agent is None:
        return engine.for_principal(caller)
    check_agent(caller, agent)
    refuse_secret_name(agent)
    return engine.for_principal(replace(caller, agent=validate_name(agent, "agent")))


def check_agent(caller: Principal, agent: str | None) -> None:
    """Raise NotAllowed if the caller's key belongs to another agent."""
    if agent is not None and caller.agent not in (None, agent):
        raise NotAllowed(f"This key is only for the agent {caller.agent!r}.")


CallerMemory = Annotated[Memory, Depends(get_memory)]


async def get_renderer(engine: Engine, me: CallerMemory) -> MemoryRenderer:
    return MemoryRenderer(me, engine.now)


async def get_etag_headers(request: Request, response: Response) -> ETagHeaders:
    return ETagHeaders(request, response)


Renderer = Annotated[MemoryRenderer, Depends(get_renderer)]
ETag = Annotated[ETagHeaders, Depends(get_etag_headers)]


def check_scope(me: Memory, scope: str | None) -> str | None:
    """Return the scope. Raises NotAllowed if an agent names another agent's scope."""
    own = me.principal.agent
    if scope is None or own is None or scope in (own, GLOBAL_SCOPE) or scope.startswith(f"{own}/"):
        return scope
    raise NotAllowed(f"The agent {own!r} cannot access another agent's memories.")


async def get_review(engine: Engine, caller: Caller) -> Review:
    """Return the team administration. Raises NotAllowed without the capability for it."""
    return engine.review(
        caller.owner.user, tenant=caller.owner.tenant, capabilities=caller.capabilities
    )


TeamReview = Annotated[Review, Depends(get_review)]


async def require_view(caller: Caller) -> None:
    if not {VIEW_CAPABILITY, EDIT_CAPABILITY} & caller.capabilities:
        raise NotAllowed(f"This needs the capability {VIEW_CAPABILITY}.")


async def require_edit(caller: Caller) -> None:
    if EDIT_CAPABILITY not in caller.capabilities:
        raise NotAllowed(f"This needs the capability {EDIT_CAPABILITY}.")
