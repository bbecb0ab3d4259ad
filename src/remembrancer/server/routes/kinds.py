"""What a person's memory holds: counts, facts, rules, episodes, and what happened to them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.server import etags, schemas
from remembrancer.server.deps import CallerMemory, check_scope
from remembrancer.server.routes.list_params import MemoryListParams, PageParams, build_page
from remembrancer.types import Kind, Maturity, Record, Relation, kind_of, looks_like_id

listings = APIRouter(tags=["memory"])
"""Also for one agent at a time."""

router = APIRouter(tags=["memory"])


class FactListParams(MemoryListParams):
    """Which facts to tell."""

    subject: schemas.Name | None = None
    category: tuple[schemas.Name, ...] = ()


class FactLookupParams(schemas.RequestModel):
    """What a fact is about; `used` counts it as recalled."""

    subject: schemas.Name
    predicate: schemas.Name
    scope: schemas.Name | None = None
    used: bool = False


class FactLookupResponse(schemas.ResponseModel):
    """The fact about a subject and predicate, if there is one."""

    fact: schemas.Fact | None


class RuleListParams(MemoryListParams):
    """Which rules to tell."""

    maturity: tuple[Maturity, ...] = ()


class EpisodeListParams(MemoryListParams):
    """Which episodes to tell: of which butler, recorded from one moment until before another."""

    butler: schemas.Name | None = None
    since: Annotated[schemas.Moment | None, Field(alias="from")] = None
    until: Annotated[schemas.Moment | None, Field(alias="to")] = None


@listings.get("/stats", response_model=schemas.MemoryStats)
def get_memory_stats(me: CallerMemory, request: Request, response: Response) -> Any:
    """How many memories there are, of what sort, and how they are doing."""
    stats = me.stats()
    etags.set_etag(request, response, etags.compute_etag(stats))
    return stats


@listings.get("/facts", response_model=schemas.Page[schemas.Fact])
def list_facts(
    me: CallerMemory,
    request: Request,
    response: Response,
    params: Annotated[FactListParams, Query()],
) -> Any:
    """Browse or search what is true."""
    narrowing = {"subject": params.subject, "categories": params.category}
    return build_page(request, response, me, params, kinds=[Kind.FACT], **narrowing)


@listings.get("/fact", response_model=FactLookupResponse)
def find_fact(me: CallerMemory, params: Annotated[FactLookupParams, Query()]) -> Any:
    """The fact in force with that subject and predicate."""
    scope = check_scope(me, params.scope)
    fact = me.fact(params.subject, params.predicate, scope=scope, used=params.used)
    return {"fact": fact and schemas.build_memory(me, fact)}


@listings.get("/rules", response_model=schemas.Page[schemas.Rule])
def list_rules(
    me: CallerMemory,
    request: Request,
    response: Response,
    params: Annotated[RuleListParams, Query()],
) -> Any:
    """Browse or search how to behave."""
    return build_page(request, response, me, params, kinds=[Kind.RULE], maturities=params.maturity)


@listings.get("/episodes", response_model=schemas.Page[schemas.Episode])
def list_episodes(
    me: CallerMemory,
    request: Request,
    response: Response,
    params: Annotated[EpisodeListParams, Query()],
) -> Any:
    """Browse or search what happened."""
    if params.butler is not None:
        if params.scope not in (None, params.butler):
            raise InvalidInput("butler and scope name two different agents; give one of them.")
        params = params.model_copy(update={"scope": params.butler})
    times = {"recorded_from": params.since, "recorded_before": params.until}
    return build_page(request, response, me, params, kinds=[Kind.EPISODE], **times)


@router.get("/activity", response_model=schemas.Page[schemas.Event])
def list_activity(
    me: CallerMemory, request: Request, response: Response, params: Annotated[PageParams, Query()]
) -> Any:
    """What happened to the memories, the latest first."""
    found = me.activity(limit=params.limit, cursor=params.cursor)
    etags.set_etag(request, response, etags.compute_etag(found.items, found.cursor))
    return found


@router.get("/facts/{id}", response_model=schemas.MemoryDetail)
def get_fact(me: CallerMemory, id: schemas.Name, request: Request, response: Response) -> Any:
    """A fact with where it comes from, its versions and its links."""
    return _build_detail(me, get_record(me, id, Kind.FACT), request, response)


@router.put("/facts/{id}", response_model=schemas.WriteResponse)
def edit_fact(
    me: CallerMemory, id: schemas.Name, request: Request, body: schemas.UpdateMemoryRequest
) -> Any:
    """Correct a fact: a new version supersedes it, and the old one stays in its history."""
    return _update(me, get_record(me, id, Kind.FACT), request, body)


@router.delete("/facts/{id}", response_model=schemas.WriteResponse)
def delete_fact(me: CallerMemory, id: schemas.Name, request: Request) -> Any:
    """Delete a fact; where the profile has a trash, it can be restored for some days."""
    return _delete(me, get_record(me, id, Kind.FACT), request)


@router.get("/rules/{id}", response_model=schemas.MemoryDetail)
def get_rule(me: CallerMemory, id: schemas.Name, request: Request, response: Response) -> Any:
    """A rule with the history of its applications."""
    return _build_detail(me, get_record(me, id, Kind.RULE), request, response)


@router.put("/rules/{id}", response_model=schemas.WriteResponse)
def edit_rule(
    me: CallerMemory, id: schemas.Name, request: Request, body: schemas.UpdateMemoryRequest
) -> Any:
    """Correct a rule: the new version is a candidate and earns its trust anew."""
    return _update(me, get_record(me, id, Kind.RULE), request, body)


@router.delete("/rules/{id}", response_model=schemas.WriteResponse)
def delete_rule(me: CallerMemory, id: schemas.Name, request: Request) -> Any:
    """Delete a rule; where the profile has a trash, it can be restored for some days."""
    return _delete(me, get_record(me, id, Kind.RULE), request)


@router.get("/episodes/{id}", response_model=schemas.MemoryDetail)
def get_episode(me: CallerMemory, id: schemas.Name, request: Request, response: Response) -> Any:
    """An episode, and what was concluded from it."""
    return _build_detail(me, get_record(me, id, Kind.EPISODE), request, response)


def get_record(me: Memory, id: str, *kinds: Kind) -> Record:
    """The memory of that id and kind; another's is as good as none."""
    if not (id.isascii() and looks_like_id(id)) or (kinds and kind_of(id) not in kinds):
        raise NotFound(f"There is no memory {id}.")
    return me.get(id)


def _build_detail(
    me: Memory, record: Record, request: Request, response: Response
) -> schemas.MemoryDetail:
    history, links = me.history(record.id), me.links(record.id)
    etags.set_etag(request, response, etags.compute_etag(record))
    told: dict[str, Any] = {
        "memory": schemas.build_memory(me, record),
        "versions": schemas.build_memories(me, history.versions),
        "links": links,
        "events": history.events,
        "applications": history.applications,
        "sources": schemas.build_memories(me, _load_sources(me, record, links)),
    }
    return schemas.MemoryDetail.model_validate(told)


def _load_sources(me: Memory, record: Record, links: Any) -> list[Record]:
    """The turns and memories that a memory comes from, those that still exist."""
    derived = [
        one.target
        for one in links
        if one.relation is Relation.DERIVED_FROM and one.source == record.id
    ]
    sources = []
    for one in dict.fromkeys([*(turn.turn_id for turn in record.evidence), *derived]):
        try:
            sources.append(get_record(me, one))
        except NotFound:
            continue
    return sources


def _update(
    me: Memory, record: Record, request: Request, body: schemas.UpdateMemoryRequest
) -> schemas.WriteResponse:
    etags.check_if_match(request, etags.compute_etag(record))
    details = schemas.dump_given(body, "content")
    return schemas.build_write_response(me, me.update(record.id, body.content, **details))


def _delete(me: Memory, record: Record, request: Request) -> schemas.WriteResponse:
    etags.check_if_match(request, etags.compute_etag(record))
    return schemas.build_write_response(me, me.delete(record.id))
