"""The caller's API keys. A key cannot create a key that may do more than itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from remembrancer.errors import NotAllowed
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, check_agent
from remembrancer.types import Key, Principal

router = APIRouter(tags=["keys"])


class CreateKeyRequest(schemas.RequestModel):
    """The agent that a key is for, and the capabilities that it grants."""

    agent: schemas.Name | None = None
    capabilities: tuple[schemas.Name, ...] = ()
    label: schemas.Name | None = None
    expires_at: schemas.Moment | None = None


class CreateKeyResponse(schemas.ResponseModel):
    """The new key; this is the only response that contains its secret."""

    secret: str
    key: schemas.ApiKey


class ListKeysResponse(schemas.ResponseModel):
    """The caller's keys."""

    items: list[schemas.ApiKey]


@router.get("/keys", response_model=ListKeysResponse)
def list_keys(engine: Engine, caller: Caller) -> Any:
    """List the caller's keys, newest first, without their secrets."""
    return {"items": [schemas.build_key(key) for key in list_manageable_keys(engine, caller)]}


@router.post("/keys", response_model=CreateKeyResponse, status_code=201)
def create_key(engine: Engine, caller: Caller, body: CreateKeyRequest) -> Any:
    """Create an API key for the caller. With `agent`, it only opens that agent's memory."""
    check_agent(caller, body.agent)
    missing = sorted(set(body.capabilities) - caller.capabilities)
    if missing:
        raise NotAllowed(f"This key lacks the capability {missing[0]!r}, so it cannot grant it.")
    created = engine.create_key(
        caller.owner.user,
        tenant=caller.owner.tenant,
        agent=body.agent or caller.agent,
        capabilities=body.capabilities,
        label=body.label,
        expires_at=body.expires_at,
    )
    return {"secret": created.secret, "key": schemas.build_key(created.key)}


@router.delete("/keys/{id}", response_model=schemas.ApiKey)
def revoke_key(engine: Engine, caller: Caller, id: schemas.Name) -> Any:
    """Revoke one of the caller's keys."""
    return schemas.build_key(revoke_manageable_key(engine, caller, id))


def revoke_manageable_key(engine: Engine, caller: Principal, id: str) -> Key:
    own = {key.id for key in list_manageable_keys(engine, caller)}
    return engine.revoke_key(id if id in own else "", caller.owner)


def list_manageable_keys(engine: Engine, caller: Principal) -> list[Key]:
    """Return all keys of the caller; an agent's key only sees the keys of that agent."""
    keys = engine.list_keys(caller.owner)
    return [key for key in keys if caller.agent in (None, key.agent)]
