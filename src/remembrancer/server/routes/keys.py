"""One's own keys. What a key makes cannot do more than the key itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from remembrancer.errors import NotAllowed
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine
from remembrancer.types import Key, Principal

router = APIRouter(tags=["keys"])


class CreateKeyRequest(schemas.RequestModel):
    """What the key is for, and what it may do."""

    agent: schemas.Name | None = None
    capabilities: tuple[schemas.Name, ...] = ()
    label: schemas.Name | None = None
    expires_at: schemas.Moment | None = None


class CreateKeyResponse(schemas.ResponseModel):
    """The key; its secret is never told again."""

    secret: str
    key: schemas.ApiKey


class ListKeysResponse(schemas.ResponseModel):
    """The keys one has."""

    items: list[schemas.ApiKey]


@router.get("/keys", response_model=ListKeysResponse)
def list_keys(engine: Engine, caller: Caller) -> Any:
    """One's own keys, newest first; never their secrets."""
    return {"items": [schemas.build_key(one) for one in _list_reachable(engine, caller)]}


@router.post("/keys", response_model=CreateKeyResponse, status_code=201)
def create_key(engine: Engine, caller: Caller, body: CreateKeyRequest) -> Any:
    """Make a key to one's own memory; with an agent, to what that agent may see."""
    if caller.agent is not None and body.agent not in (None, caller.agent):
        raise NotAllowed(f"This key is for the agent {caller.agent!r} alone.")
    beyond = sorted(set(body.capabilities) - caller.capabilities)
    if beyond:
        raise NotAllowed(f"This key has not the capability {beyond[0]!r}, and cannot give it.")
    made = engine.create_key(
        caller.owner.user,
        tenant=caller.owner.tenant,
        agent=body.agent or caller.agent,
        capabilities=body.capabilities,
        label=body.label,
        expires_at=body.expires_at,
    )
    return {"secret": made.secret, "key": schemas.build_key(made.key)}


@router.delete("/keys/{id}", response_model=schemas.ApiKey)
def revoke_key(engine: Engine, caller: Caller, id: schemas.Name) -> Any:
    """Let one of one's own keys open nothing any more."""
    if id not in {one.id for one in _list_reachable(engine, caller)}:
        id = ""
    return schemas.build_key(engine.revoke_key(id, caller.owner))


def _list_reachable(engine: Engine, caller: Principal) -> list[Key]:
    """The caller's keys; for one with an agent, those of that agent."""
    own = engine.list_keys(caller.owner)
    return [one for one in own if caller.agent in (None, one.agent)]
