"""One memory of any kind, and what can happen to it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from remembrancer.server import etags, schemas
from remembrancer.server.deps import Me
from remembrancer.server.routes.kinds import found
from remembrancer.server.routes.paging import Paged, as_of
from remembrancer.types import Kind, Relation, Status

router = APIRouter(tags=["one memory"])
trash = APIRouter(tags=["one memory"])


class Moments(schemas.Asked):
    """The moment to look back to."""

    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


class Linked(schemas.Asked):
    """The other end of a link, and what it means."""

    target: schemas.Name
    relation: Relation = Relation.RELATED_TO


class Links(schemas.Told):
    """All links from and to a memory."""

    items: list[schemas.Link]


class History(schemas.Told):
    """All versions of a memory from first to last, and what happened to them."""

    versions: list[schemas.Memory]
    events: list[schemas.Event]
    applications: list[schemas.Application]


@router.get("/{id}", response_model=schemas.Memory)
def get_memory(
    me: Me, id: schemas.Name, request: Request, response: Response, at: Annotated[Moments, Query()]
) -> Any:
    """One memory, whatever became of it."""
    record = me.get(found(me, id).id, as_of=as_of(at))
    etags.tell(request, response, etags.of(record))
    return schemas.memory(me, record)


@router.put("/{id}", response_model=schemas.Written)
def edit_memory(me: Me, id: schemas.Name, request: Request, correction: schemas.Correction) -> Any:
    """Replace a memory by a new version."""
    record = found(me, id)
    etags.expect(request, etags.of(record))
    details = schemas.given(correction, "content")
    return schemas.written(me, me.update(record.id, correction.content, **details))


@router.delete("/{id}", response_model=schemas.Written)
def delete_memory(me: Me, id: schemas.Name, request: Request) -> Any:
    """Put a memory into the trash, or destroy it where the profile says so."""
    record = found(me, id)
    etags.expect(request, etags.of(record))
    return schemas.written(me, me.delete(record.id))


@router.post("/{id}/confirm", response_model=schemas.Written)
def confirm_memory(me: Me, id: schemas.Name) -> Any:
    """Say that a memory is still true."""
    return schemas.written(me, me.confirm(found(me, id).id))


@router.post("/{id}/forget", response_model=schemas.Written)
def forget_memory(me: Me, id: schemas.Name) -> Any:
    """End a memory; it can be restored."""
    return schemas.written(me, me.forget(found(me, id).id))


@router.post("/{id}/restore", response_model=schemas.Written)
def restore_memory(me: Me, id: schemas.Name) -> Any:
    """Bring back what was forgotten or deleted."""
    return schemas.written(me, me.restore(found(me, id).id))


@router.get("/{id}/history", response_model=History)
def memory_history(me: Me, id: schemas.Name) -> Any:
    """All versions of a memory and what happened to them."""
    history = me.history(found(me, id).id)
    return {
        "versions": schemas.memories(me, history.versions),
        "events": history.events,
        "applications": history.applications,
    }


@router.get("/{id}/links", response_model=Links)
def memory_links(me: Me, id: schemas.Name) -> Any:
    """How a memory is related to others, in both directions."""
    return {"items": me.links(found(me, id).id)}


@router.post("/{id}/links", response_model=schemas.Written)
def link_memory(me: Me, id: schemas.Name, link: Linked) -> Any:
    """Relate a memory to another."""
    ends = found(me, id), found(me, link.target)
    return schemas.written(me, me.link(ends[0].id, ends[1].id, link.relation))


@router.delete("/{id}/links", response_model=schemas.Written)
def unlink_memory(me: Me, id: schemas.Name, link: Annotated[Linked, Query()]) -> Any:
    """Take a relation to another memory away."""
    ends = found(me, id), found(me, link.target)
    return schemas.written(me, me.unlink(ends[0].id, ends[1].id, link.relation))


@router.post("/{id}/promote", response_model=schemas.Written)
def promote_rule(me: Me, id: schemas.Name) -> Any:
    """Trust a rule one step more."""
    return schemas.written(me, me.promote(found(me, id, Kind.RULE).id))


@router.post("/{id}/demote", response_model=schemas.Written)
def demote_rule(me: Me, id: schemas.Name) -> Any:
    """Trust a rule one step less."""
    return schemas.written(me, me.demote(found(me, id, Kind.RULE).id))


@router.post("/{id}/disable", response_model=schemas.Written)
def disable_rule(me: Me, id: schemas.Name) -> Any:
    """Keep a rule without following it, until it is restored."""
    return schemas.written(me, me.disable(found(me, id, Kind.RULE).id))


@trash.get("/trash", response_model=schemas.Page[schemas.Memory])
def list_trash(
    me: Me, request: Request, response: Response, asked: Annotated[Paged, Query()]
) -> Any:
    """What was deleted and can be restored for some days."""
    page = me.list(status=Status.TRASHED, limit=asked.limit, cursor=asked.cursor)
    etags.tell(request, response, etags.of(page.items, page.cursor))
    return {"items": schemas.memories(me, page.items), "cursor": page.cursor}
