"""Who is calling, and by which rules their memory works."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from remembrancer.profiles import Profile
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, CallerMemory, Engine

router = APIRouter(tags=["myself"])


class IdentityResponse(schemas.ResponseModel):
    """On whose behalf this key calls, as which agent, and what it may do."""

    tenant: str
    user: str
    agent: str | None
    surface: str
    capabilities: list[str]
    profile: str


@router.get("/me", response_model=IdentityResponse)
def get_me(engine: Engine, caller: Caller) -> Any:
    """Who I am here."""
    return {
        "tenant": caller.owner.tenant,
        "user": caller.owner.user,
        "agent": caller.agent,
        "surface": caller.surface,
        "capabilities": sorted(caller.capabilities),
        "profile": engine.settings.profile,
    }


@router.get("/profile", response_model=Profile)
def get_profile(engine: Engine, me: CallerMemory) -> Any:
    """The rules by which memory works here, for the agent that calls."""
    return engine.settings.profile_for(me.principal.agent)
