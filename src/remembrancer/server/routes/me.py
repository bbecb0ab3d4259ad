"""The caller's identity and profile."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from remembrancer.profiles import Profile
from remembrancer.server import schemas, telegram
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
    time_zone: str


class PersonalSettings(schemas.RequestModel):
    """The settings of a user; null takes the default of the server."""

    time_zone: Annotated[schemas.Text, Field(max_length=100)] | None


@router.get("/me", response_model=IdentityResponse)
def get_me(engine: Engine, caller: Caller) -> Any:
    """Get the caller's identity, capabilities and time zone."""
    return {
        "tenant": caller.owner.tenant,
        "user": caller.owner.user,
        "agent": caller.agent,
        "surface": caller.surface,
        "capabilities": sorted(caller.capabilities),
        "profile": engine.settings.profile,
        "time_zone": engine.find_time_zone(caller.owner).key,
    }


@router.patch("/me", response_model=IdentityResponse)
def change_me(engine: Engine, caller: Caller, body: PersonalSettings) -> Any:
    """Set the time zone in which dates are shown to the caller."""
    engine.for_principal(caller).set_time_zone(body.time_zone)
    return get_me(engine, caller)


class LinkCodeResponse(schemas.ResponseModel):
    """A code that links a chat, what to send to the bot, and its name if it is known."""

    code: str
    send: str
    expires_at: datetime
    bot: str | None


@router.post("/me/link-code", response_model=LinkCodeResponse, status_code=201)
def create_link_code(engine: Engine, caller: Caller) -> Any:
    """Create a code that links a Telegram chat to the caller's account.

    It works once, for ten minutes, and replaces an earlier code.
    """
    created = telegram.create_link_code(engine, caller)
    return {
        "code": created.code,
        "send": f"/link {created.code}",
        "expires_at": created.expires_at,
        "bot": telegram.find_bot_name(engine),
    }


@router.get("/profile", response_model=Profile)
def get_profile(engine: Engine, me: CallerMemory) -> Any:
    """Get the memory profile that applies to the caller."""
    return engine.settings.profile_for(me.principal.agent)
