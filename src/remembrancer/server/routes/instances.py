"""`/memories`: the facts of one bot instance as table rows; no request spans instances."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from remembrancer.errors import ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, ETag, get_agent_memory
from remembrancer.server.routes.kinds import get_record
from remembrancer.types import Fact, Kind, Record

router = APIRouter(tags=["instances"])

CAMEL_CASE = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class InstanceMemory(schemas.ResponseModel):
    """One memory as a table row; `sourceConversation` is the path of its session."""

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


class DeleteInstanceMemoriesRequest(InstanceRequest):
    """Ids of memories to delete."""

    ids: Annotated[list[schemas.Name], Field(min_length=1, max_length=1000)]


class DeleteInstanceMemoriesResponse(schemas.ResponseModel):
    """Ids of the deleted memories."""

    deleted: list[str]


def _get_memory(engine: Engine, caller: Caller, instance: InstanceRequest) -> Memory:
    if not (instance.instance_id or "").strip():
        raise ScopeRequired("instanceId is required")
    return get_agent_memory(engine, caller, instance.instance_id)


@router.get("/memories", response_model=InstanceMemoryPage)
def list_instance_memories(
    engine: Engine, caller: Caller, etag: ETag, params: Annotated[InstanceListParams, Query()]
) -> Any:
    """List an instance's memories, newest first, or best match first with `q`."""
    me = _get_memory(engine, caller, params)
    end = params.page * params.limit
    records = _list_first(me, params, end + 1)
    page, more = records[end - params.limit : end], len(records) > end
    etag.set(page, more)
    items = [_build_row(record) for record in page if isinstance(record, Fact)]
    return {"items": items, "page": params.page, "limit": params.limit, "more": more}


def _list_first(me: Memory, params: InstanceListParams, count: int) -> list[Record]:
    """Return the first `count` facts, or fewer if there are fewer."""
    filters: dict[str, Any] = {"kinds": [Kind.FACT], "minimum_importance": 0}
    if params.category is not None:
        filters["categories"] = [params.category]
    if params.q is not None:
        return [one.memory for one in me.recall(params.q, limit=min(count, 1000), **filters)]
    records: list[Record] = []
    cursor: str | None = None
    while len(records) < count:
        page = me.list(limit=min(count - len(records), 1000), cursor=cursor, **filters)
        records += page.items
        cursor = page.cursor
        if cursor is None:
            break
    return records


@router.post("/memories", response_model=InstanceMemory, status_code=201)
def create_instance_memory(
    engine: Engine, caller: Caller, body: CreateInstanceMemoryRequest
) -> Any:
    """Store a memory of an instance."""
    me = _get_memory(engine, caller, body)
    details: dict[str, Any] = {
        "category": body.category,
        "importance": body.importance,
        "session_id": body.source_conversation_id,
    }
    given = {name: value for name, value in details.items() if value is not None}
    memory = me.remember(body.content, **given).memory
    assert isinstance(memory, Fact)
    return _build_row(memory)


@router.delete("/memories/{id}", response_model=DeleteInstanceMemoriesResponse)
def delete_instance_memory(
    engine: Engine, caller: Caller, id: schemas.Name, params: Annotated[InstanceRequest, Query()]
) -> Any:
    """Delete a memory of an instance."""
    me = _get_memory(engine, caller, params)
    return {"deleted": me.delete_many([get_record(me, id, Kind.FACT).id]).ids}


@router.post("/memories/delete", response_model=DeleteInstanceMemoriesResponse)
def delete_instance_memories(
    engine: Engine, caller: Caller, body: DeleteInstanceMemoriesRequest
) -> Any:
    """Delete several memories of an instance, all or none."""
    me = _get_memory(engine, caller, body)
    ids = [get_record(me, id, Kind.FACT).id for id in dict.fromkeys(body.ids)]
    return {"deleted": me.delete_many(ids).ids}


def _build_row(memory: Fact) -> InstanceMemory:
    session, path = memory.session_id, None
    if session:
        agent = quote(memory.scope, safe="")
        path = f"/api/agents/{agent}/sessions/{quote(session, safe='')}"
    return InstanceMemory(
        id=memory.id,
        content=memory.content,
        category=memory.category,
        importance=memory.importance,
        source_conversation_id=session,
        source_conversation=path,
        created_at=memory.recorded_at,
    )
