"""The caller's identity and profile."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from remembrancer.profiles import Profile
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, CallerMemory, Engine

router = APIRouter(tags=["me"])


class IdentityResponse(schemas.ResponseModel):
    """The user and agent that a key belongs to, and its capabilities."""

    tenant: str
    user: str
    agent: str | None
    surface: str
    capabilities: list[str]
    profile: str


@router.get("/me", response_model=IdentityResponse)
def get_me(engine: Engine, caller: Caller) -> Any:
    """Get the caller's identity and capabilities."""
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
    """Get the memory profile that applies to the caller."""
    return engine.settings.profile_for(me.principal.agent)
