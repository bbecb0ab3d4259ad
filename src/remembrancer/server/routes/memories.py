"""Single memories of any kind: read, edit, delete, restore, link and rate."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from remembrancer.server import etags, schemas
from remembrancer.server.deps import CallerMemory, Renderer
from remembrancer.server.routes.kinds import (
    build_history,
    delete_record,
    get_record,
    update_record,
)
from remembrancer.server.routes.list_params import PageParams, build_as_of
from remembrancer.types import Kind, Link, Relation, Status

router = APIRouter(tags=["memories"])
trash = APIRouter(tags=["memories"])


class AsOfParams(schemas.RequestModel):
    """The past moment to read a memory at."""

    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


class LinkRequest(schemas.RequestModel):
    """The target of a link, and the relation to it."""

    target: schemas.Name
    relation: Relation = Relation.RELATED_TO


class ListLinksResponse(schemas.ResponseModel):
    """All links from and to a memory."""

    items: list[Link]


@router.get("/{id}", response_model=schemas.AnyMemory)
def get_memory(
    me: CallerMemory,
    renderer: Renderer,
    id: schemas.Name,
    request: Request,
    response: Response,
    params: Annotated[AsOfParams, Query()],
) -> Any:
    """Get a memory, whatever its status."""
    record = me.get(get_record(me, id).id, as_of=build_as_of(params))
    etags.set_etag(request, response, etags.compute_etag(record))
    return renderer.memory(record)


@router.put("/{id}", response_model=schemas.WriteResponse)
def edit_memory(
    me: CallerMemory,
    renderer: Renderer,
    id: schemas.Name,
    request: Request,
    body: schemas.UpdateMemoryRequest,
) -> Any:
    """Correct a memory. A new version supersedes it; the old one stays in its history."""
    return update_record(me, renderer, get_record(me, id), request, body)


@router.delete("/{id}", response_model=schemas.WriteResponse)
def delete_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name, request: Request) -> Any:
    """Move a memory to the trash, or purge it if the profile has no trash."""
    return delete_record(me, renderer, get_record(me, id), request)


@router.post("/{id}/confirm", response_model=schemas.WriteResponse)
def confirm_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Confirm that a memory is still true."""
    return renderer.write(me.confirm(get_record(me, id).id))


@router.post("/{id}/forget", response_model=schemas.WriteResponse)
def forget_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Retire a memory. It can be restored."""
    return renderer.write(me.forget(get_record(me, id).id))


@router.post("/{id}/restore", response_model=schemas.WriteResponse)
def restore_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Restore a forgotten, deleted or disabled memory."""
    return renderer.write(me.restore(get_record(me, id).id))


@router.get("/{id}/history", response_model=schemas.HistoryResponse)
def get_memory_history(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Get all versions and events of a memory."""
    return build_history(renderer, me.history(get_record(me, id).id))


@router.get("/{id}/links", response_model=ListLinksResponse)
def list_memory_links(me: CallerMemory, id: schemas.Name) -> Any:
    """List a memory's links in both directions."""
    return {"items": me.links(get_record(me, id).id)}


@router.post("/{id}/links", response_model=schemas.WriteResponse)
def link_memory(me: CallerMemory, renderer: Renderer, id: schemas.Name, link: LinkRequest) -> Any:
    """Link a memory to another."""
    ends = get_record(me, id), get_record(me, link.target)
    return renderer.write(me.link(ends[0].id, ends[1].id, link.relation))


@router.delete("/{id}/links", response_model=schemas.WriteResponse)
def unlink_memory(
    me: CallerMemory,
    renderer: Renderer,
    id: schemas.Name,
    link: Annotated[LinkRequest, Query()],
) -> Any:
    """Remove a link to another memory."""
    ends = get_record(me, id), get_record(me, link.target)
    return renderer.write(me.unlink(ends[0].id, ends[1].id, link.relation))


@router.post("/{id}/promote", response_model=schemas.WriteResponse)
def promote_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Raise a rule's maturity by one step."""
    return renderer.write(me.promote(get_record(me, id, Kind.RULE).id))


@router.post("/{id}/demote", response_model=schemas.WriteResponse)
def demote_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Lower a rule's maturity by one step."""
    return renderer.write(me.demote(get_record(me, id, Kind.RULE).id))


@router.post("/{id}/disable", response_model=schemas.WriteResponse)
def disable_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name) -> Any:
    """Disable a rule until it is restored."""
    return renderer.write(me.disable(get_record(me, id, Kind.RULE).id))


@trash.get("/trash", response_model=schemas.MemoryPage)
def list_trash(
    me: CallerMemory,
    renderer: Renderer,
    request: Request,
    response: Response,
    params: Annotated[PageParams, Query()],
) -> Any:
    """List deleted memories, which can be restored for some days."""
    page = me.list(status=Status.TRASHED, limit=params.limit, cursor=params.cursor)
    etags.set_etag(request, response, etags.compute_etag(page.items, page.cursor))
    return {"items": renderer.memories(page.items), "cursor": page.cursor}
