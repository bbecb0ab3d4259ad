"""What routes are given: the memory of whoever calls, as the agent they may call for."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Path, Request

from remembrancer.engine import Remembrancer
from remembrancer.errors import NotAllowed
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.memory import Memory
from remembrancer.server.problems import Unauthenticated
from remembrancer.server.schemas import Name
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY, Review
from remembrancer.types import GLOBAL_SCOPE, Principal, validate_name


async def get_engine(request: Request) -> Remembrancer:
    """The open store."""
    engine: Remembrancer = request.app.state.engine
    return engine


async def get_caller(request: Request) -> Principal:
    """Who calls, as the gate has found out."""
    principal: Principal | None = request.scope["state"].get("principal")
    if principal is None:
        raise Unauthenticated("Send a key as `Authorization: Bearer rem_…`.")
    return principal


Engine = Annotated[Remembrancer, Depends(get_engine)]
Caller = Annotated[Principal, Depends(get_caller)]


async def declare_agent_path(
    agent: Annotated[Name, Path(description="Who acts for the user.")],
) -> None:
    """The agent in the path, for the description; `my_memory` is what reads it."""


async def get_memory(request: Request, engine: Engine, caller: Caller) -> Memory:
    """The memory of whoever calls; a path below an agent is for that agent."""
    return get_agent_memory(engine, caller, request.path_params.get("agent"))


def get_agent_memory(engine: Remembrancer, caller: Principal, agent: str | None) -> Memory:
    """The memory of a caller as an agent of theirs: a key that has one is for no other."""
    if agent is not None and caller.agent not in (None, agent):
        raise NotAllowed(f"This key is for the agent {caller.agent!r} alone.")
    if agent is None:
        return engine.for_principal(caller)
    refuse_secret_name(agent)
    return engine.for_principal(replace(caller, agent=validate_name(agent, "agent")))


CallerMemory = Annotated[Memory, Depends(get_memory)]


def check_scope(me: Memory, scope: str | None) -> str | None:
    """A scope that a request names: with an agent, its own, what is below it, or the shared one."""
    own = me.principal.agent
    if scope is None or own is None or scope in (own, GLOBAL_SCOPE) or scope.startswith(f"{own}/"):
        return scope
    raise NotAllowed(f"The agent {own!r} cannot reach the memories of another one.")


async def get_review(engine: Engine, caller: Caller) -> Review:
    """The team's memory, for whoever may look after it."""
    return engine.review(
        caller.owner.user, tenant=caller.owner.tenant, capabilities=caller.capabilities
    )


TeamReview = Annotated[Review, Depends(get_review)]


async def require_view(caller: Caller) -> None:
    """Refuse who may not look after others."""
    if not {VIEW_CAPABILITY, EDIT_CAPABILITY} & caller.capabilities:
        raise NotAllowed(f"This needs the capability {VIEW_CAPABILITY}.")


async def require_edit(caller: Caller) -> None:
    """Refuse who may not change what concerns everyone."""
    if EDIT_CAPABILITY not in caller.capabilities:
        raise NotAllowed(f"This needs the capability {EDIT_CAPABILITY}.")
