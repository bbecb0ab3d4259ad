"""One's own keys. What a key makes cannot do more than the key itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from remembrancer.errors import NotAllowed
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine
from remembrancer.types import Key, Principal

router = APIRouter(tags=["keys"])


class NewKey(schemas.Asked):
    """What the key is for, and what it may do."""

    agent: schemas.Name | None = None
    capabilities: tuple[schemas.Name, ...] = ()
    label: schemas.Name | None = None
    expires_at: schemas.Moment | None = None


class Made(schemas.Told):
    """The key; its secret is never told again."""

    secret: str
    key: schemas.Key


class Keys(schemas.Told):
    """The keys one has."""

    items: list[schemas.Key]


@router.get("/keys", response_model=Keys)
def list_keys(engine: Engine, caller: Caller) -> Any:
    """One's own keys, newest first; never their secrets."""
    return {"items": [schemas.key(one) for one in _reachable(engine, caller)]}


@router.post("/keys", response_model=Made, status_code=201)
def create_key(engine: Engine, caller: Caller, new: NewKey) -> Any:
    """Make a key to one's own memory; with an agent, to what that agent may see."""
    if caller.agent is not None and new.agent not in (None, caller.agent):
        raise NotAllowed(f"This key is for the agent {caller.agent!r} alone.")
    beyond = sorted(set(new.capabilities) - caller.capabilities)
    if beyond:
        raise NotAllowed(f"This key has not the capability {beyond[0]!r}, and cannot give it.")
    made = engine.create_key(
        caller.owner.user,
        tenant=caller.owner.tenant,
        agent=new.agent or caller.agent,
        capabilities=new.capabilities,
        label=new.label,
        expires_at=new.expires_at,
    )
    return {"secret": made.secret, "key": schemas.key(made.key)}


@router.delete("/keys/{id}", response_model=schemas.Key)
def revoke_key(engine: Engine, caller: Caller, id: schemas.Name) -> Any:
    """Let one of one's own keys open nothing any more."""
    if id not in {one.id for one in _reachable(engine, caller)}:
        id = ""
    return schemas.key(engine.revoke_key(id, caller.owner))


def _reachable(engine: Engine, caller: Principal) -> list[Key]:
    """The caller's keys; for one with an agent, those of that agent."""
    own = engine.list_keys(caller.owner)
    return [one for one in own if caller.agent in (None, one.agent)]
