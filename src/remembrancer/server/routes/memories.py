"""One memory of any kind, and what can happen to it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from remembrancer.server import etags, schemas
from remembrancer.server.deps import CallerMemory
from remembrancer.server.routes.kinds import get_record
from remembrancer.server.routes.list_params import PageParams, build_as_of
from remembrancer.types import Kind, Relation, Status

router = APIRouter(tags=["one memory"])
trash = APIRouter(tags=["one memory"])


class AsOfParams(schemas.RequestModel):
    """The moment to look back to."""

    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


class LinkRequest(schemas.RequestModel):
    """The other end of a link, and what it means."""

    target: schemas.Name
    relation: Relation = Relation.RELATED_TO


class ListLinksResponse(schemas.ResponseModel):
    """All links from and to a memory."""

    items: list[schemas.MemoryLink]


class HistoryResponse(schemas.ResponseModel):
    """All versions of a memory from first to last, and what happened to them."""

    versions: list[schemas.AnyMemory]
    events: list[schemas.Event]
    applications: list[schemas.RuleApplication]


@router.get("/{id}", response_model=schemas.AnyMemory)
def get_memory(
    me: CallerMemory,
    id: schemas.Name,
    request: Request,
    response: Response,
    params: Annotated[AsOfParams, Query()],
) -> Any:
    """One memory, whatever became of it."""
    record = me.get(get_record(me, id).id, as_of=build_as_of(params))
    etags.set_etag(request, response, etags.compute_etag(record))
    return schemas.build_memory(me, record)


@router.put("/{id}", response_model=schemas.WriteResponse)
def edit_memory(
    me: CallerMemory, id: schemas.Name, request: Request, body: schemas.UpdateMemoryRequest
) -> Any:
    """Replace a memory by a new version."""
    record = get_record(me, id)
    etags.check_if_match(request, etags.compute_etag(record))
    details = schemas.dump_given(body, "content")
    return schemas.build_write_response(me, me.update(record.id, body.content, **details))


@router.delete("/{id}", response_model=schemas.WriteResponse)
def delete_memory(me: CallerMemory, id: schemas.Name, request: Request) -> Any:
    """Put a memory into the trash, or destroy it where the profile says so."""
    record = get_record(me, id)
    etags.check_if_match(request, etags.compute_etag(record))
    return schemas.build_write_response(me, me.delete(record.id))


@router.post("/{id}/confirm", response_model=schemas.WriteResponse)
def confirm_memory(me: CallerMemory, id: schemas.Name) -> Any:
    """Say that a memory is still true."""
    return schemas.build_write_response(me, me.confirm(get_record(me, id).id))


@router.post("/{id}/forget", response_model=schemas.WriteResponse)
def forget_memory(me: CallerMemory, id: schemas.Name) -> Any:
    """End a memory; it can be restored."""
    return schemas.build_write_response(me, me.forget(get_record(me, id).id))


@router.post("/{id}/restore", response_model=schemas.WriteResponse)
def restore_memory(me: CallerMemory, id: schemas.Name) -> Any:
    """Bring back what was forgotten or deleted."""
    return schemas.build_write_response(me, me.restore(get_record(me, id).id))


@router.get("/{id}/history", response_model=HistoryResponse)
def get_memory_history(me: CallerMemory, id: schemas.Name) -> Any:
    """All versions of a memory and what happened to them."""
    history = me.history(get_record(me, id).id)
    return {
        "versions": schemas.build_memories(me, history.versions),
        "events": history.events,
        "applications": history.applications,
    }


@router.get("/{id}/links", response_model=ListLinksResponse)
def list_memory_links(me: CallerMemory, id: schemas.Name) -> Any:
    """How a memory is related to others, in both directions."""
    return {"items": me.links(get_record(me, id).id)}


@router.post("/{id}/links", response_model=schemas.WriteResponse)
def link_memory(me: CallerMemory, id: schemas.Name, link: LinkRequest) -> Any:
    """Relate a memory to another."""
    ends = get_record(me, id), get_record(me, link.target)
    return schemas.build_write_response(me, me.link(ends[0].id, ends[1].id, link.relation))


@router.delete("/{id}/links", response_model=schemas.WriteResponse)
def unlink_memory(me: CallerMemory, id: schemas.Name, link: Annotated[LinkRequest, Query()]) -> Any:
    """Take a relation to another memory away."""
    ends = get_record(me, id), get_record(me, link.target)
    return schemas.build_write_response(me, me.unlink(ends[0].id, ends[1].id, link.relation))


@router.post("/{id}/promote", response_model=schemas.WriteResponse)
def promote_rule(me: CallerMemory, id: schemas.Name) -> Any:
    """Trust a rule one step more."""
    return schemas.build_write_response(me, me.promote(get_record(me, id, Kind.RULE).id))


@router.post("/{id}/demote", response_model=schemas.WriteResponse)
def demote_rule(me: CallerMemory, id: schemas.Name) -> Any:
    """Trust a rule one step less."""
    return schemas.build_write_response(me, me.demote(get_record(me, id, Kind.RULE).id))


@router.post("/{id}/disable", response_model=schemas.WriteResponse)
def disable_rule(me: CallerMemory, id: schemas.Name) -> Any:
    """Keep a rule without following it, until it is restored."""
    return schemas.build_write_response(me, me.disable(get_record(me, id, Kind.RULE).id))


@trash.get("/trash", response_model=schemas.Page[schemas.AnyMemory])
def list_trash(
    me: CallerMemory, request: Request, response: Response, params: Annotated[PageParams, Query()]
) -> Any:
    """What was deleted and can be restored for some days."""
    page = me.list(status=Status.TRASHED, limit=params.limit, cursor=params.cursor)
    etags.set_etag(request, response, etags.compute_etag(page.items, page.cursor))
    return {"items": schemas.build_memories(me, page.items), "cursor": page.cursor}
