"""`/memories`: what one bot instance remembers; nothing shows several instances at once."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from remembrancer.errors import ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server import etags, schemas
from remembrancer.server.deps import Caller, Engine, memory_of
from remembrancer.server.routes.kinds import found
from remembrancer.types import Fact, Kind, Record

router = APIRouter(tags=["instances"])

CAMEL = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Row(schemas.Told):
    """One memory as a table shows it; `source_conversation` is where it can be read."""

    model_config = ConfigDict(**CAMEL, from_attributes=True)

    id: str
    content: str
    category: str
    importance: float
    source_conversation_id: str | None
    source_conversation: str | None
    created_at: datetime


class Rows(schemas.Told):
    """One page of memories."""

    model_config = CAMEL

    items: list[Row]
    page: int
    limit: int
    more: bool


class Instance(schemas.Asked):
    """Which instance is meant."""

    model_config = ConfigDict(**CAMEL, extra="forbid")

    instance_id: schemas.Text | None = None


class Listed(Instance):
    """Which of its memories to tell."""

    page: Annotated[int, Field(ge=1, le=1000)] = 1
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    category: schemas.Name | None = None
    q: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None


class New(Instance):
    """A memory made by hand."""

    content: schemas.Content
    category: schemas.Name | None = None
    importance: Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)] | None = None
    source_conversation_id: schemas.Name | None = None


class Several(Instance):
    """Memories to delete."""

    ids: Annotated[list[schemas.Name], Field(min_length=1, max_length=1000)]


class Deleted(schemas.Told):
    """What is gone."""

    deleted: list[str]


def _memory(engine: Engine, caller: Caller, asked: Instance) -> Memory:
    if not (asked.instance_id or "").strip():
        raise ScopeRequired("instanceId is required")
    return memory_of(engine, caller, asked.instance_id)


@router.get("/memories", response_model=Rows)
def list_instance_memories(
    engine: Engine,
    caller: Caller,
    request: Request,
    response: Response,
    asked: Annotated[Listed, Query()],
) -> Any:
    """What one instance remembers, the newest first; with `q`, what fits best first."""
    me = _memory(engine, caller, asked)
    end = asked.page * asked.limit
    records = _first(me, asked, end + 1)
    shown = records[end - asked.limit : end]
    etags.tell(request, response, etags.of(shown, len(records) > end))
    items = [_row(one) for one in shown if isinstance(one, Fact)]
    return {"items": items, "page": asked.page, "limit": asked.limit, "more": len(records) > end}


def _first(me: Memory, asked: Listed, count: int) -> list[Record]:
    """As many as there are up to a count."""
    wanted: dict[str, Any] = {"kinds": [Kind.FACT], "minimum_importance": 0}
    if asked.category is not None:
        wanted["categories"] = [asked.category]
    if asked.q is not None:
        return [one.memory for one in me.recall(asked.q, limit=min(count, 1000), **wanted)]
    records: list[Record] = []
    cursor: str | None = None
    while len(records) < count:
        page = me.list(limit=min(count - len(records), 1000), cursor=cursor, **wanted)
        records += page.items
        cursor = page.cursor
        if cursor is None:
            break
    return records


@router.post("/memories", response_model=Row, status_code=201)
def create_instance_memory(engine: Engine, caller: Caller, new: New) -> Any:
    """Remember something by hand; the instance knows it on the next turn."""
    me = _memory(engine, caller, new)
    details: dict[str, Any] = {
        "category": new.category,
        "importance": new.importance,
        "session_id": new.source_conversation_id,
    }
    said = {name: value for name, value in details.items() if value is not None}
    memory = me.remember(new.content, **said).memory
    assert isinstance(memory, Fact)
    return _row(memory)


@router.delete("/memories/{id}", response_model=Deleted)
def delete_instance_memory(
    engine: Engine, caller: Caller, id: schemas.Name, asked: Annotated[Instance, Query()]
) -> Any:
    """Delete one memory of an instance."""
    me = _memory(engine, caller, asked)
    return {"deleted": me.delete_many([found(me, id, Kind.FACT).id]).ids}


@router.post("/memories/delete", response_model=Deleted)
def delete_instance_memories(engine: Engine, caller: Caller, several: Several) -> Any:
    """Delete several memories of an instance: all of them, or none if one is not there."""
    me = _memory(engine, caller, several)
    ids = [found(me, id, Kind.FACT).id for id in dict.fromkeys(several.ids)]
    return {"deleted": me.delete_many(ids).ids}


def _row(memory: Fact) -> Row:
    session = memory.session_id
    return Row(
        id=memory.id,
        content=memory.content,
        category=memory.category,
        importance=memory.importance,
        source_conversation_id=session,
        source_conversation=_place(memory.scope, session) if session else None,
        created_at=memory.recorded_at,
    )


def _place(agent: str, session: str) -> str:
    return f"/api/agents/{quote(agent, safe='')}/sessions/{quote(session, safe='')}"
