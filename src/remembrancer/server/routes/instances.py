"""`/memories`: the facts of one bot instance as table rows; `/api/instances`: its settings.

No request shows the memories of several instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from remembrancer.access.instances import ADMIN_CAPABILITY, InstanceSettings
from remembrancer.errors import InvalidInput, ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, ETag, get_request_memory
from remembrancer.server.instance_memories import (
    find_live,
    list_conversations,
    list_created,
    list_facts,
    remember_fact,
    search_facts,
)
from remembrancer.server.routes.privacy import EraseResponse
from remembrancer.types import Fact, Principal

router = APIRouter(tags=["instances"])
settings = APIRouter(tags=["instances"])

CAMEL_CASE = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class InstanceMemory(schemas.ResponseModel):
    """One memory as a table row; an update keeps its `id` and `createdAt`.

    `sourceConversation` is the path of its session, if that still exists.
    """

    model_config = ConfigDict(**CAMEL_CASE, from_attributes=True)

    id: str
    content: str
    category: str
    importance: float
    source_conversation_id: str | None
    source_conversation: str | None
    created_at: datetime


class InstanceMemoryPage(schemas.ResponseModel):
    """One page of rows; `more` is true if there is another page."""

    model_config = CAMEL_CASE

    items: list[InstanceMemory]
    page: int
    limit: int
    more: bool


class InstanceRequest(schemas.RequestModel):
    """The instance to access."""

    model_config = ConfigDict(**CAMEL_CASE, extra="forbid")

    instance_id: schemas.Text | None = None


class InstanceListParams(InstanceRequest):
    """Page and filters for an instance's memories; `q` searches."""

    page: Annotated[int, Field(ge=1, le=1000)] = 1
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    category: schemas.Name | None = None
    q: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None


class CreateInstanceMemoryRequest(InstanceRequest):
    """A memory to store."""

    content: schemas.Content
    category: schemas.Name | None = None
    importance: Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)] | None = None
    source_conversation_id: schemas.Name | None = None


class UpdateInstanceMemoryRequest(InstanceRequest):
    """What to change of a memory; the rest stays."""

    content: schemas.Content | None = None
    category: schemas.Name | None = None
    importance: Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)] | None = None


class DeleteInstanceMemoriesRequest(InstanceRequest):
    """Ids of memories to delete."""

    ids: Annotated[list[schemas.Name], Field(min_length=1, max_length=1000)]


class DeleteInstanceMemoriesResponse(schemas.ResponseModel):
    """Ids of the deleted memories."""

    deleted: list[str]


class InstanceResponse(schemas.ResponseModel):
    """An instance. `members` is null if it is open to all users, or if the caller is no
    administrator.
    """

    model_config = CAMEL_CASE

    id: str
    memory_enabled: bool
    open: bool
    members: list[str] | None


class ListInstancesResponse(schemas.ResponseModel):
    """The instances that the caller can use."""

    items: list[InstanceResponse]


class ChangeInstanceRequest(schemas.RequestModel):
    """The settings to change; the rest stays. `members` restricts the instance to these users."""

    model_config = ConfigDict(**CAMEL_CASE, extra="forbid")

    memory_enabled: bool | None = None
    open: bool | None = None
    members: Annotated[list[schemas.Name], Field(max_length=10_000)] | None = None


class EraseInstanceRequest(schemas.RequestModel):
    """The id of the instance to erase, as a confirmation."""

    model_config = ConfigDict(**CAMEL_CASE, extra="forbid")

    instance_id: schemas.Name


def _get_memory(request: Request, caller: Principal, instance: InstanceRequest) -> Memory:
    if not (instance.instance_id or "").strip():
        raise ScopeRequired("instanceId is required")
    return get_request_memory(request, caller, instance.instance_id)


@router.get("/memories", response_model=InstanceMemoryPage)
def list_instance_memories(
    request: Request, caller: Caller, etag: ETag, params: Annotated[InstanceListParams, Query()]
) -> Any:
    """List an instance's memories, newest version first, or best match first with `q`."""
    me = _get_memory(request, caller, params)
    end = params.page * params.limit
    found = _list_first(me, params, end + 1)
    page, more = found[end - params.limit : end], len(found) > end
    etag.set(page, more)
    return {
        "items": _build_rows(me, page),
        "page": params.page,
        "limit": params.limit,
        "more": more,
    }


def _list_first(me: Memory, params: InstanceListParams, count: int) -> list[Fact]:
    """Return the first `count` facts, or fewer if there are fewer."""
    filters: dict[str, Any] = {}
    if params.category is not None:
        filters["categories"] = [params.category]
    if params.q is not None:
        return search_facts(me, params.q, limit=count, **filters)
    facts: list[Fact] = []
    cursor: str | None = None
    while len(facts) < count:
        page = list_facts(me, limit=min(count - len(facts), 1000), cursor=cursor, **filters)
        facts += page.items
        cursor = page.cursor
        if cursor is None:
            break
    return facts


@router.post("/memories", response_model=InstanceMemory, status_code=201)
def create_instance_memory(
    request: Request, caller: Caller, body: CreateInstanceMemoryRequest
) -> Any:
    """Store a memory of an instance; one that it restates is updated."""
    me = _get_memory(request, caller, body)
    written = remember_fact(
        me,
        body.content,
        source_conversation=body.source_conversation_id,
        category=body.category,
        importance=body.importance,
    )
    return _build_row(me, written.memory)


@router.get("/memories/{id}", response_model=InstanceMemory)
def get_instance_memory(
    request: Request,
    caller: Caller,
    etag: ETag,
    id: schemas.Name,
    params: Annotated[InstanceRequest, Query()],
) -> Any:
    """Get a memory of an instance as it is after all updates."""
    me = _get_memory(request, caller, params)
    found = find_live(me, id)
    etag.set(found)
    return _build_row(me, found)


@router.put("/memories/{id}", response_model=InstanceMemory)
def update_instance_memory(
    request: Request, caller: Caller, id: schemas.Name, body: UpdateInstanceMemoryRequest
) -> Any:
    """Update a memory of an instance; it keeps its id and the time of its creation."""
    me = _get_memory(request, caller, body)
    found = find_live(me, id)
    details: dict[str, Any] = {"category": body.category, "importance": body.importance}
    given = {name: value for name, value in details.items() if value is not None}
    return _build_row(me, me.update(found.id, body.content or found.content, **given).memory)


@router.delete("/memories/{id}", response_model=DeleteInstanceMemoriesResponse)
def delete_instance_memory(
    request: Request, caller: Caller, id: schemas.Name, params: Annotated[InstanceRequest, Query()]
) -> Any:
    """Delete a memory of an instance with all its versions."""
    return _delete(_get_memory(request, caller, params), [id])


@router.post("/memories/delete", response_model=DeleteInstanceMemoriesResponse)
def delete_instance_memories(
    request: Request, caller: Caller, body: DeleteInstanceMemoriesRequest
) -> Any:
    """Delete several memories of an instance, all or none."""
    return _delete(_get_memory(request, caller, body), body.ids)


def _delete(me: Memory, ids: list[str]) -> dict[str, Any]:
    found = {one.lineage: one.id for one in (find_live(me, id) for id in ids)}
    me.delete_many([*found.values()])
    return {"deleted": [*found]}


@settings.get("/instances", response_model=ListInstancesResponse)
def list_instances(engine: Engine, caller: Caller) -> Any:
    """List the instances that the caller can use."""
    names = engine.list_instances(caller)
    return {
        "items": [
            _build_settings(caller, one, engine.instance_settings(caller, one)) for one in names
        ]
    }


@settings.get("/instances/{instance}", response_model=InstanceResponse)
def get_instance(engine: Engine, caller: Caller, instance: schemas.Name) -> Any:
    """Get the settings of an instance."""
    return _build_settings(caller, instance, engine.instance_settings(caller, instance))


@settings.put("/instances/{instance}", response_model=InstanceResponse)
def change_instance(
    engine: Engine, caller: Caller, instance: schemas.Name, body: ChangeInstanceRequest
) -> Any:
    """Change the settings of an instance. Needs the capability `instances:admin`."""
    if body.open is not None and body.open == (body.members is not None):
        raise InvalidInput("An instance is open, or it has members: pass one of them.")
    changed = engine.change_instance(
        caller,
        instance,
        memory_enabled=body.memory_enabled,
        members=body.members,
        is_open=bool(body.open),
    )
    return _build_settings(caller, instance, changed)


@settings.post("/instances/{instance}/erase", response_model=EraseResponse)
def erase_instance(
    engine: Engine, caller: Caller, instance: schemas.Name, body: EraseInstanceRequest
) -> Any:
    """Erase an instance permanently. Needs the capability `instances:admin`."""
    if body.instance_id != instance:
        raise InvalidInput("instanceId: enter the id of the instance to confirm.")
    return engine.erase_instance(caller, instance)


def _build_settings(caller: Principal, name: str, found: InstanceSettings) -> InstanceResponse:
    is_admin = ADMIN_CAPABILITY in caller.capabilities
    return InstanceResponse(
        id=name,
        memory_enabled=found.memory_enabled,
        open=found.members is None,
        members=list(found.members) if is_admin and found.members is not None else None,
    )


def _build_row(me: Memory, memory: object) -> InstanceMemory:
    assert isinstance(memory, Fact)
    return _build_rows(me, [memory])[0]


def _build_rows(me: Memory, facts: Sequence[Fact]) -> list[InstanceMemory]:
    created, conversations = list_created(me, facts), list_conversations(me, facts)
    return [
        InstanceMemory(
            id=one.lineage,
            content=one.content,
            category=one.category,
            importance=one.importance,
            source_conversation_id=one.session_id,
            source_conversation=_session_path(one) if one.session_id in conversations else None,
            created_at=created[one.lineage],
        )
        for one in facts
    ]


def _session_path(fact: Fact) -> str:
    agent, session = quote(fact.scope, safe=""), quote(fact.session_id or "", safe="")
    return f"/api/agents/{agent}/sessions/{session}"
