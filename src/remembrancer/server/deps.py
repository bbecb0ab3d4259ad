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
from remembrancer.team.review import EDIT, VIEW, Review
from remembrancer.types import GLOBAL, Principal, checked_name


async def the_engine(request: Request) -> Remembrancer:
    """The open store."""
    engine: Remembrancer = request.app.state.engine
    return engine


async def the_caller(request: Request) -> Principal:
    """Who calls, as the gate has found out."""
    principal: Principal | None = request.scope["state"].get("principal")
    if principal is None:
        raise Unauthenticated("Send a key as `Authorization: Bearer rem_…`.")
    return principal


Engine = Annotated[Remembrancer, Depends(the_engine)]
Caller = Annotated[Principal, Depends(the_caller)]


async def named_agent(agent: Annotated[Name, Path(description="Who acts for the user.")]) -> None:
    """The agent in the path, for the description; `my_memory` is what reads it."""


async def my_memory(request: Request, engine: Engine, caller: Caller) -> Memory:
    """The memory of whoever calls; a path below an agent is for that agent."""
    return memory_of(engine, caller, request.path_params.get("agent"))


def memory_of(engine: Remembrancer, caller: Principal, agent: str | None) -> Memory:
    """The memory of a caller as an agent of theirs: a key that has one is for no other."""
    if agent is not None and caller.agent not in (None, agent):
        raise NotAllowed(f"This key is for the agent {caller.agent!r} alone.")
    if agent is None:
        return engine.for_principal(caller)
    refuse_secret_name(agent)
    return engine.for_principal(replace(caller, agent=checked_name(agent, "agent")))


Me = Annotated[Memory, Depends(my_memory)]


def within(me: Memory, scope: str | None) -> str | None:
    """A scope that a request names: with an agent, its own, what is below it, or the shared one."""
    own = me.principal.agent
    if scope is None or own is None or scope in (own, GLOBAL) or scope.startswith(f"{own}/"):
        return scope
    raise NotAllowed(f"The agent {own!r} cannot reach the memories of another one.")


async def the_desk(engine: Engine, caller: Caller) -> Review:
    """The team's memory, for whoever may look after it."""
    return engine.review(
        caller.owner.user, tenant=caller.owner.tenant, capabilities=caller.capabilities
    )


Desk = Annotated[Review, Depends(the_desk)]


async def may_view(caller: Caller) -> None:
    """Refuse who may not look after others."""
    if not {VIEW, EDIT} & caller.capabilities:
        raise NotAllowed(f"This needs the capability {VIEW}.")


async def may_edit(caller: Caller) -> None:
    """Refuse who may not change what concerns everyone."""
    if EDIT not in caller.capabilities:
        raise NotAllowed(f"This needs the capability {EDIT}.")
