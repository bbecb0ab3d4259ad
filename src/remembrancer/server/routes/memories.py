"""Single memories of any kind: read, edit, delete, restore, link and rate.

A memory is referred to by its id, or by words that occur in it and in no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field

from remembrancer.memory import Memory
from remembrancer.remember.lifecycle import CONFIRMABLE, FORGETTABLE, RESTORABLE
from remembrancer.remember.purge import REMOVED_STATUSES
from remembrancer.remember.resolve import ANY_STATUS
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, ETag, Renderer
from remembrancer.server.routes.kinds import Editor, build_history, get_record
from remembrancer.server.routes.list_params import (
    AsOfQuery,
    DeleteQuery,
    MemoryListParams,
    PageQuery,
    build_as_of,
    build_page,
)
from remembrancer.types import Kind, Link, Maturity, Record, Relation, Status, looks_like_id

ACTIVE = (Status.ACTIVE,)

router = APIRouter(tags=["memories"])
trash = APIRouter(tags=["memories"])


def _read_relation(value: Any) -> Any:
    return Relation.RELATED_TO if value == "relates_to" else value


LinkRelation = Annotated[
    Literal[Relation.DERIVED_FROM, Relation.SUPPORTS, Relation.CONTRADICTS, Relation.RELATED_TO],
    BeforeValidator(_read_relation),
]
"""All but `supersedes`, which only a new version makes."""


class LinkRequest(schemas.RequestModel):
    """The target of a link, and the relation to it."""

    target: schemas.Name
    relation: LinkRelation = Relation.RELATED_TO


class UnlinkParams(schemas.RequestModel):
    """The target of the link to remove, and the relation to it."""

    target: schemas.Name
    relation: Relation = Relation.RELATED_TO


class LookupRequest(schemas.RequestModel):
    """An id, or words that occur in one memory with one of these statuses, now or at `known_at`."""

    reference: Annotated[schemas.Text, Field(max_length=20_000)]
    statuses: Annotated[tuple[Status, ...], Field(min_length=1, max_length=len(Status))] = ACTIVE
    known_at: schemas.Moment | None = None


class AnyKindListParams(MemoryListParams):
    """Filters of a list of facts, rules and episodes."""

    kind: tuple[Literal["fact", "rule", "episode"], ...] = ()
    subject: schemas.Name | None = None
    category: tuple[schemas.Name, ...] = ()
    maturity: tuple[Maturity, ...] = ()
    since: Annotated[schemas.Moment | None, Field(alias="from")] = None
    until: Annotated[schemas.Moment | None, Field(alias="to")] = None


class ListLinksResponse(schemas.ResponseModel):
    """All links from and to a memory."""

    items: list[Link]


@router.get("", response_model=schemas.MemoryPage)
def list_memories(
    me: CallerMemory, renderer: Renderer, etag: ETag, params: Annotated[AnyKindListParams, Query()]
) -> Any:
    """List or search facts, rules and episodes together."""
    filters = {
        "kinds": params.kind or None,
        "subject": params.subject,
        "categories": params.category,
        "maturities": params.maturity,
        "recorded_from": params.since,
        "recorded_before": params.until,
    }
    return build_page(me, renderer, etag, params, **filters)


@router.post("/lookup", response_model=schemas.AnyMemory)
def look_up_memory(me: CallerMemory, renderer: Renderer, body: LookupRequest) -> Any:
    """Find one memory by its id or by words, which a path cannot always carry."""
    return renderer.memory(_resolve(me, body.reference, body.statuses, known=body.known_at))


@router.get("/{id}", response_model=schemas.AnyMemory)
def get_memory(
    me: CallerMemory,
    renderer: Renderer,
    id: schemas.Name,
    etag: ETag,
    params: AsOfQuery,
) -> Any:
    """Get a memory, whatever its status."""
    found = _resolve(me, id, ANY_STATUS, known=params.known_at)
    record = me.get(found.id, as_of=build_as_of(params))
    etag.set(record)
    return renderer.memory(record)


@router.put("/{id}", response_model=schemas.WriteResponse)
def edit_memory(editor: Editor, id: schemas.Name, body: schemas.UpdateMemoryRequest) -> Any:
    """Correct a memory. A new version supersedes it; the old one stays in its history."""
    return editor.update(_resolve(editor.me, id, FORGETTABLE), body)


@router.delete("/{id}", response_model=schemas.WriteResponse)
def delete_memory(editor: Editor, id: schemas.Name, params: DeleteQuery) -> Any:
    """Move a memory to the trash, or purge it if that is asked for or the profile has no trash."""
    statuses = (*FORGETTABLE, *REMOVED_STATUSES) if params.for_good else FORGETTABLE
    return editor.delete(_resolve(editor.me, id, statuses), for_good=params.for_good)


@router.post("/{id}/confirm", response_model=schemas.WriteResponse)
def confirm_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Confirm that a memory is still true. An unconfirmed one becomes active."""
    return renderer.write(me.confirm(_resolve(me, id, CONFIRMABLE).id))


@router.post("/{id}/forget", response_model=schemas.WriteResponse)
def forget_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Retire a memory. It can be restored."""
    reference = get_record(me, id).id if looks_like_id(id) else id
    return renderer.write(me.forget(reference))


@router.post("/{id}/restore", response_model=schemas.WriteResponse)
def restore_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Restore a forgotten, deleted or disabled memory."""
    return renderer.write(me.restore(_resolve(me, id, RESTORABLE).id))


@router.get("/{id}/history", response_model=schemas.HistoryResponse)
def get_memory_history(
    me: CallerMemory, renderer: Renderer, id: schemas.Name, params: AsOfQuery
) -> Any:
    """Get all versions and events of a memory."""
    record = _resolve(me, id, ANY_STATUS, known=params.known_at)
    return build_history(renderer, me.history(record.id, as_of=build_as_of(params)))


@router.get("/{id}/links", response_model=ListLinksResponse)
def list_memory_links(me: CallerMemory, id: schemas.Name, params: AsOfQuery) -> Any:
    """List a memory's links in both directions."""
    record = _resolve(me, id, ANY_STATUS, known=params.known_at)
    return {"items": me.links(record.id, as_of=build_as_of(params))}


@router.post("/{id}/links", response_model=schemas.WriteResponse)
def link_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name, link: LinkRequest) -> Any:
    """Link a memory to another."""
    ends = _resolve(me, id), _resolve(me, link.target)
    return renderer.write(me.link(ends[0].id, ends[1].id, link.relation))


@router.delete("/{id}/links", response_model=schemas.WriteResponse)
def unlink_memory(
    me: CallerMemory, renderer: Renderer, id: schemas.Name, link: Annotated[UnlinkParams, Query()]
) -> Any:
    """Remove a link to another memory."""
    ends = _resolve(me, id, ANY_STATUS), _resolve(me, link.target, ANY_STATUS)
    return renderer.write(me.unlink(ends[0].id, ends[1].id, link.relation))


@router.post("/{id}/promote", response_model=schemas.WriteResponse)
def promote_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Raise a rule's maturity by one step."""
    return renderer.write(me.promote(_resolve_rule(me, id).id))


@router.post("/{id}/demote", response_model=schemas.WriteResponse)
def demote_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Lower a rule's maturity by one step."""
    return renderer.write(me.demote(_resolve_rule(me, id).id))


@router.post("/{id}/disable", response_model=schemas.WriteResponse)
def disable_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Disable a rule until it is restored."""
    return renderer.write(me.disable(_resolve_rule(me, id).id))


def _resolve(
    me: Memory,
    reference: str,
    statuses: Sequence[Status] = ACTIVE,
    *kinds: Kind,
    known: datetime | None = None,
) -> Record:
    """Return the memory with that id and kind, or the one with those words and a given status."""
    if looks_like_id(reference):
        return get_record(me, reference, *kinds)
    return me.resolve(reference, statuses, known=known)


def _resolve_rule(me: Memory, reference: str) -> Record:
    return _resolve(me, reference, ACTIVE, Kind.RULE)


@trash.get("/trash", response_model=schemas.MemoryPage)
def list_trash(me: CallerMemory, renderer: Renderer, etag: ETag, params: PageQuery) -> Any:
    """List deleted memories, which can be restored for some days."""
    page = me.list(status=Status.TRASHED, limit=params.limit, cursor=params.cursor)
    etag.set(page.items, page.cursor)
    return {"items": renderer.memories(page.items), "cursor": page.cursor}
