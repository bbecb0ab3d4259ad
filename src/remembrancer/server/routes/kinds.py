"""Facts, rules and episodes, with statistics and the activity log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, ETag, Renderer, check_scope
from remembrancer.server.etags import ETagHeaders
from remembrancer.server.render import MemoryRenderer
from remembrancer.server.routes.list_params import (
    AsOfParams,
    AsOfQuery,
    DeleteQuery,
    MemoryListParams,
    PageQuery,
    build_as_of,
    build_page,
)
from remembrancer.types import (
    AsOf,
    History,
    Kind,
    Link,
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


class FactLookupParams(AsOfParams):
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
def get_memory_stats(me: CallerMemory, etag: ETag, params: AsOfQuery) -> Any:
    """Count memories by kind, category, permanence, scope, trust and confidence."""
    stats = me.stats(as_of=build_as_of(params))
    etag.set(stats)
    return stats


@listings.get("/facts", response_model=schemas.FactPage)
def list_facts(
    me: CallerMemory, renderer: Renderer, etag: ETag, params: Annotated[FactListParams, Query()]
) -> Any:
    """List or search facts."""
    filters = {"subject": params.subject, "categories": params.category}
    return build_page(me, renderer, etag, params, kinds=[Kind.FACT], **filters)


@listings.get("/fact", response_model=FactLookupResponse)
def find_fact(
    me: CallerMemory, renderer: Renderer, params: Annotated[FactLookupParams, Query()]
) -> Any:
    """Get the active fact for a subject and predicate."""
    scope = check_scope(me, params.scope)
    then = build_as_of(params)
    fact = me.fact(params.subject, params.predicate, scope=scope, as_of=then, used=params.used)
    return {"fact": fact and renderer.memory(fact)}


@listings.get("/rules", response_model=schemas.RulePage)
def list_rules(
    me: CallerMemory, renderer: Renderer, etag: ETag, params: Annotated[RuleListParams, Query()]
) -> Any:
    """List or search rules."""
    filters = {"maturities": params.maturity}
    return build_page(me, renderer, etag, params, kinds=[Kind.RULE], **filters)


@listings.get("/episodes", response_model=schemas.EpisodePage)
def list_episodes(
    me: CallerMemory, renderer: Renderer, etag: ETag, params: Annotated[EpisodeListParams, Query()]
) -> Any:
    """List or search episodes."""
    if params.butler is not None:
        if params.scope not in (None, params.butler):
            raise InvalidInput("butler and scope name different agents. Pass only one of them.")
        params = params.model_copy(update={"scope": params.butler})
    times = {"recorded_from": params.since, "recorded_before": params.until}
    return build_page(me, renderer, etag, params, kinds=[Kind.EPISODE], **times)


@router.get("/activity", response_model=schemas.EventPage)
def list_activity(me: CallerMemory, etag: ETag, params: PageQuery) -> Any:
    """List events, newest first."""
    page = me.activity(limit=params.limit, cursor=params.cursor)
    etag.set(page.items, page.cursor)
    return page


@dataclass(frozen=True, slots=True)
class RecordEditor:
    """Reads and writes single memories.

    Writes raise PreconditionFailed if If-Match names another version.
    """

    me: Memory
    renderer: MemoryRenderer
    etag: ETagHeaders

    def build_detail(self, id: str, kind: Kind, as_of: AsOf | None) -> dict[str, Any]:
        record = get_record(self.me, id, kind, as_of=as_of)
        history = self.me.history(record.id, as_of=as_of)
        self.etag.set(record)
        sources = _load_sources(self.me, record, history.links, as_of)
        return {
            **build_history(self.renderer, history),
            "memory": self.renderer.memory(record),
            "links": history.links,
            "sources": self.renderer.memories(sources),
        }

    def update(self, record: Record, body: schemas.UpdateMemoryRequest) -> schemas.WriteResponse:
        self.etag.check(record)
        details = schemas.dump_given(body, "content")
        return self.renderer.write(self.me.update(record.id, body.content, **details))

    def delete(self, record: Record, *, for_good: bool) -> schemas.WriteResponse:
        self.etag.check(record)
        return self.renderer.write(self.me.delete(record.id, for_good=for_good))


async def get_editor(me: CallerMemory, renderer: Renderer, etag: ETag) -> RecordEditor:
    return RecordEditor(me, renderer, etag)


Editor = Annotated[RecordEditor, Depends(get_editor)]


@router.get("/facts/{id}", response_model=schemas.MemoryDetail)
def get_fact(editor: Editor, id: schemas.Name, params: AsOfQuery) -> Any:
    """Get a fact with its sources, versions, links and events."""
    return editor.build_detail(id, Kind.FACT, build_as_of(params))


@router.put("/facts/{id}", response_model=schemas.WriteResponse)
def edit_fact(editor: Editor, id: schemas.Name, body: schemas.UpdateMemoryRequest) -> Any:
    """Correct a fact. A new version supersedes it; the old one stays in its history."""
    return editor.update(get_record(editor.me, id, Kind.FACT), body)


@router.delete("/facts/{id}", response_model=schemas.WriteResponse)
def delete_fact(editor: Editor, id: schemas.Name, params: DeleteQuery) -> Any:
    """Delete a fact. It can be restored for some days, unless it is deleted for good."""
    record = get_record(editor.me, id, Kind.FACT)
    return editor.delete(record, for_good=params.for_good)


@router.get("/rules/{id}", response_model=schemas.MemoryDetail)
def get_rule(editor: Editor, id: schemas.Name, params: AsOfQuery) -> Any:
    """Get a rule with the history of its uses."""
    return editor.build_detail(id, Kind.RULE, build_as_of(params))


@router.put("/rules/{id}", response_model=schemas.WriteResponse)
def edit_rule(editor: Editor, id: schemas.Name, body: schemas.UpdateMemoryRequest) -> Any:
    """Correct a rule. The new version starts as a candidate."""
    return editor.update(get_record(editor.me, id, Kind.RULE), body)


@router.delete("/rules/{id}", response_model=schemas.WriteResponse)
def delete_rule(editor: Editor, id: schemas.Name, params: DeleteQuery) -> Any:
    """Delete a rule. It can be restored for some days, unless it is deleted for good."""
    record = get_record(editor.me, id, Kind.RULE)
    return editor.delete(record, for_good=params.for_good)


@router.get("/episodes/{id}", response_model=schemas.MemoryDetail)
def get_episode(editor: Editor, id: schemas.Name, params: AsOfQuery) -> Any:
    """Get an episode, and the memories derived from it."""
    return editor.build_detail(id, Kind.EPISODE, build_as_of(params))


def get_record(me: Memory, id: str, *kinds: Kind, as_of: AsOf | None = None) -> Record:
    """Return a memory by id. Raises NotFound if it is of another kind or another owner."""
    if not (id.isascii() and looks_like_id(id)) or (kinds and kind_of(id) not in kinds):
        raise NotFound(f"There is no memory {id}.")
    return me.get(id, as_of=as_of)


def build_history(renderer: MemoryRenderer, history: History) -> dict[str, Any]:
    return {
        "versions": renderer.memories(history.versions),
        "events": history.events,
        "applications": history.applications,
    }


def _load_sources(
    me: Memory, record: Record, links: Iterable[Link], as_of: AsOf | None
) -> list[Record]:
    """Return the turns and memories that a memory is derived from, if they still exist."""
    derived = [
        one.target
        for one in links
        if one.relation is Relation.DERIVED_FROM and one.source == record.id
    ]
    ids = dict.fromkeys([*(turn.turn_id for turn in record.evidence), *derived])
    sources = me.several(ids, known=as_of.known if as_of else None)
    return [sources[id] for id in ids if id in sources]
