"""Facts, rules and episodes, with statistics and the activity log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.server import etags, schemas
from remembrancer.server.deps import CallerMemory, Renderer, check_scope
from remembrancer.server.render import MemoryRenderer
from remembrancer.server.routes.list_params import MemoryListParams, PageParams, build_page
from remembrancer.types import (
    History,
    Kind,
    Maturity,
    Record,
    Relation,
    Stats,
    kind_of,
    looks_like_id,
)

listings = APIRouter(tags=["memories"])
"""Lists, which are also mounted for each agent."""

router = APIRouter(tags=["memories"])


class FactListParams(MemoryListParams):
    """Filters for facts."""

    subject: schemas.Name | None = None
    category: tuple[schemas.Name, ...] = ()


class FactLookupParams(schemas.RequestModel):
    """The key of a fact; `used` counts it as recalled."""

    subject: schemas.Name
    predicate: schemas.Name
    scope: schemas.Name | None = None
    used: bool = False


class FactLookupResponse(schemas.ResponseModel):
    """The fact for a subject and predicate, or null."""

    fact: schemas.FactResponse | None


class RuleListParams(MemoryListParams):
    """Filters for rules."""

    maturity: tuple[Maturity, ...] = ()


class EpisodeListParams(MemoryListParams):
    """Filters for episodes: by butler, and recorded at or after `from` and before `to`."""

    butler: schemas.Name | None = None
    since: Annotated[schemas.Moment | None, Field(alias="from")] = None
    until: Annotated[schemas.Moment | None, Field(alias="to")] = None


@listings.get("/stats", response_model=Stats)
def get_memory_stats(me: CallerMemory, request: Request, response: Response) -> Any:
    """Count memories by kind, category, permanence, scope and state."""
    stats = me.stats()
    etags.set_etag(request, response, etags.compute_etag(stats))
    return stats


@listings.get("/facts", response_model=schemas.FactPage)
def list_facts(
    me: CallerMemory,
    renderer: Renderer,
    request: Request,
    response: Response,
    params: Annotated[FactListParams, Query()],
) -> Any:
    """List or search facts."""
    filters = {"subject": params.subject, "categories": params.category}
    return build_page(request, response, me, renderer, params, kinds=[Kind.FACT], **filters)


@listings.get("/fact", response_model=FactLookupResponse)
def find_fact(
    me: CallerMemory, renderer: Renderer, params: Annotated[FactLookupParams, Query()]
) -> Any:
    """Get the active fact for a subject and predicate."""
    scope = check_scope(me, params.scope)
    fact = me.fact(params.subject, params.predicate, scope=scope, used=params.used)
    return {"fact": fact and renderer.memory(fact)}


@listings.get("/rules", response_model=schemas.RulePage)
def list_rules(
    me: CallerMemory,
    renderer: Renderer,
    request: Request,
    response: Response,
    params: Annotated[RuleListParams, Query()],
) -> Any:
    """List or search rules."""
    filters = {"maturities": params.maturity}
    return build_page(request, response, me, renderer, params, kinds=[Kind.RULE], **filters)


@listings.get("/episodes", response_model=schemas.EpisodePage)
def list_episodes(
    me: CallerMemory,
    renderer: Renderer,
    request: Request,
    response: Response,
    params: Annotated[EpisodeListParams, Query()],
) -> Any:
    """List or search episodes."""
    if params.butler is not None:
        if params.scope not in (None, params.butler):
            raise InvalidInput("butler and scope name different agents. Pass only one of them.")
        params = params.model_copy(update={"scope": params.butler})
    times = {"recorded_from": params.since, "recorded_before": params.until}
    return build_page(request, response, me, renderer, params, kinds=[Kind.EPISODE], **times)


@router.get("/activity", response_model=schemas.EventPage)
def list_activity(
    me: CallerMemory, request: Request, response: Response, params: Annotated[PageParams, Query()]
) -> Any:
    """List events, newest first."""
    page = me.activity(limit=params.limit, cursor=params.cursor)
    etags.set_etag(request, response, etags.compute_etag(page.items, page.cursor))
    return page


@router.get("/facts/{id}", response_model=schemas.MemoryDetail)
def get_fact(
    me: CallerMemory, renderer: Renderer, id: schemas.Name, request: Request, response: Response
) -> Any:
    """Get a fact with its sources, versions, links and events."""
    return _build_detail(me, renderer, get_record(me, id, Kind.FACT), request, response)


@router.put("/facts/{id}", response_model=schemas.WriteResponse)
def edit_fact(
    me: CallerMemory,
    renderer: Renderer,
    id: schemas.Name,
    request: Request,
    body: schemas.UpdateMemoryRequest,
) -> Any:
    """Correct a fact. A new version supersedes it; the old one stays in its history."""
    return update_record(me, renderer, get_record(me, id, Kind.FACT), request, body)


@router.delete("/facts/{id}", response_model=schemas.WriteResponse)
def delete_fact(me: CallerMemory, renderer: Renderer, id: schemas.Name, request: Request) -> Any:
    """Delete a fact. If the profile has a trash, it can be restored for some days."""
    return delete_record(me, renderer, get_record(me, id, Kind.FACT), request)


@router.get("/rules/{id}", response_model=schemas.MemoryDetail)
def get_rule(
    me: CallerMemory, renderer: Renderer, id: schemas.Name, request: Request, response: Response
) -> Any:
    """Get a rule with the history of its uses."""
    return _build_detail(me, renderer, get_record(me, id, Kind.RULE), request, response)


@router.put("/rules/{id}", response_model=schemas.WriteResponse)
def edit_rule(
    me: CallerMemory,
    renderer: Renderer,
    id: schemas.Name,
    request: Request,
    body: schemas.UpdateMemoryRequest,
) -> Any:
    """Correct a rule. The new version starts as a candidate."""
    return update_record(me, renderer, get_record(me, id, Kind.RULE), request, body)


@router.delete("/rules/{id}", response_model=schemas.WriteResponse)
def delete_rule(me: CallerMemory, renderer: Renderer, id: schemas.Name, request: Request) -> Any:
    """Delete a rule. If the profile has a trash, it can be restored for some days."""
    return delete_record(me, renderer, get_record(me, id, Kind.RULE), request)


@router.get("/episodes/{id}", response_model=schemas.MemoryDetail)
def get_episode(
    me: CallerMemory, renderer: Renderer, id: schemas.Name, request: Request, response: Response
) -> Any:
    """Get an episode, and the memories derived from it."""
    return _build_detail(me, renderer, get_record(me, id, Kind.EPISODE), request, response)


def get_record(me: Memory, id: str, *kinds: Kind) -> Record:
    """Return a memory by id. Raises NotFound if it is of another kind or another owner."""
    if not (id.isascii() and looks_like_id(id)) or (kinds and kind_of(id) not in kinds):
        raise NotFound(f"There is no memory {id}.")
    return me.get(id)


def _build_detail(
    me: Memory, renderer: MemoryRenderer, record: Record, request: Request, response: Response
) -> dict[str, Any]:
    history, links = me.history(record.id), me.links(record.id)
    etags.set_etag(request, response, etags.compute_etag(record))
    return {
        **build_history(renderer, history),
        "memory": renderer.memory(record),
        "links": links,
        "sources": renderer.memories(_load_sources(me, record, links)),
    }


def build_history(renderer: MemoryRenderer, history: History) -> dict[str, Any]:
    return {
        "versions": renderer.memories(history.versions),
        "events": history.events,
        "applications": history.applications,
    }


def _load_sources(me: Memory, record: Record, links: Any) -> list[Record]:
    """Return the turns and memories that a memory is derived from, if they still exist."""
    derived = [
        one.target
        for one in links
        if one.relation is Relation.DERIVED_FROM and one.source == record.id
    ]
    sources = []
    for id in dict.fromkeys([*(turn.turn_id for turn in record.evidence), *derived]):
        try:
            sources.append(get_record(me, id))
        except NotFound:
            continue
    return sources


def update_record(
    me: Memory,
    renderer: MemoryRenderer,
    record: Record,
    request: Request,
    body: schemas.UpdateMemoryRequest,
) -> schemas.WriteResponse:
    """Update a memory. Raises PreconditionFailed if If-Match names another version."""
    etags.check_if_match(request, etags.compute_etag(record))
    details = schemas.dump_given(body, "content")
    return renderer.write(me.update(record.id, body.content, **details))


def delete_record(
    me: Memory, renderer: MemoryRenderer, record: Record, request: Request
) -> schemas.WriteResponse:
    """Delete a memory. Raises PreconditionFailed if If-Match names another version."""
    etags.check_if_match(request, etags.compute_etag(record))
    return renderer.write(me.delete(record.id))
