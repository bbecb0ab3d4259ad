"""What a person's memory holds: counts, facts, rules, episodes, and what happened to them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.server import etags, schemas
from remembrancer.server.deps import Me, within
from remembrancer.server.routes.paging import Listed, Paged, page
from remembrancer.types import Kind, Maturity, Record, Relation, kind_of, looks_like_id

listings = APIRouter(tags=["memory"])
"""Also for one agent at a time."""

router = APIRouter(tags=["memory"])


class Facts(Listed):
    """Which facts to tell."""

    subject: schemas.Name | None = None
    category: tuple[schemas.Name, ...] = ()


class Topic(schemas.Asked):
    """What a fact is about; `used` counts it as recalled."""

    subject: schemas.Name
    predicate: schemas.Name
    scope: schemas.Name | None = None
    used: bool = False


class Holder(schemas.Told):
    """The fact about a subject and predicate, if there is one."""

    fact: schemas.Fact | None


class Rules(Listed):
    """Which rules to tell."""

    maturity: tuple[Maturity, ...] = ()


class Episodes(Listed):
    """Which episodes to tell: of which butler, recorded from one moment until before another."""

    butler: schemas.Name | None = None
    since: Annotated[schemas.Moment | None, Field(alias="from")] = None
    until: Annotated[schemas.Moment | None, Field(alias="to")] = None


@listings.get("/stats", response_model=schemas.Stats)
def memory_stats(me: Me, request: Request, response: Response) -> Any:
    """How many memories there are, of what sort, and how they are doing."""
    stats = me.stats()
    etags.tell(request, response, etags.of(stats))
    return stats


@listings.get("/facts", response_model=schemas.Page[schemas.Fact])
def list_facts(
    me: Me, request: Request, response: Response, asked: Annotated[Facts, Query()]
) -> Any:
    """Browse or search what is true."""
    narrowing = {"subject": asked.subject, "categories": asked.category}
    return page(request, response, me, asked, kinds=[Kind.FACT], **narrowing)


@listings.get("/fact", response_model=Holder)
def fact_about(me: Me, topic: Annotated[Topic, Query()]) -> Any:
    """The fact in force with that subject and predicate."""
    scope = within(me, topic.scope)
    fact = me.fact(topic.subject, topic.predicate, scope=scope, used=topic.used)
    return {"fact": fact and schemas.memory(me, fact)}


@listings.get("/rules", response_model=schemas.Page[schemas.Rule])
def list_rules(
    me: Me, request: Request, response: Response, asked: Annotated[Rules, Query()]
) -> Any:
    """Browse or search how to behave."""
    return page(request, response, me, asked, kinds=[Kind.RULE], maturities=asked.maturity)


@listings.get("/episodes", response_model=schemas.Page[schemas.Episode])
def list_episodes(
    me: Me, request: Request, response: Response, asked: Annotated[Episodes, Query()]
) -> Any:
    """Browse or search what happened."""
    if asked.butler is not None:
        if asked.scope not in (None, asked.butler):
            raise InvalidInput("butler and scope name two different agents; give one of them.")
        asked = asked.model_copy(update={"scope": asked.butler})
    times = {"recorded_from": asked.since, "recorded_before": asked.until}
    return page(request, response, me, asked, kinds=[Kind.EPISODE], **times)


@router.get("/activity", response_model=schemas.Page[schemas.Event])
def list_activity(
    me: Me, request: Request, response: Response, asked: Annotated[Paged, Query()]
) -> Any:
    """What happened to the memories, the latest first."""
    found = me.activity(limit=asked.limit, cursor=asked.cursor)
    etags.tell(request, response, etags.of(found.items, found.cursor))
    return found


@router.get("/facts/{id}", response_model=schemas.Detailed)
def get_fact(me: Me, id: schemas.Name, request: Request, response: Response) -> Any:
    """A fact with where it comes from, its versions and its links."""
    return _detailed(me, found(me, id, Kind.FACT), request, response)


@router.put("/facts/{id}", response_model=schemas.Written)
def edit_fact(me: Me, id: schemas.Name, request: Request, correction: schemas.Correction) -> Any:
    """Correct a fact: a new version supersedes it, and the old one stays in its history."""
    return _edited(me, found(me, id, Kind.FACT), request, correction)


@router.delete("/facts/{id}", response_model=schemas.Written)
def delete_fact(me: Me, id: schemas.Name, request: Request) -> Any:
    """Delete a fact; where the profile has a trash, it can be restored for some days."""
    return _deleted(me, found(me, id, Kind.FACT), request)


@router.get("/rules/{id}", response_model=schemas.Detailed)
def get_rule(me: Me, id: schemas.Name, request: Request, response: Response) -> Any:
    """A rule with the history of its applications."""
    return _detailed(me, found(me, id, Kind.RULE), request, response)


@router.put("/rules/{id}", response_model=schemas.Written)
def edit_rule(me: Me, id: schemas.Name, request: Request, correction: schemas.Correction) -> Any:
    """Correct a rule: the new version is a candidate and earns its trust anew."""
    return _edited(me, found(me, id, Kind.RULE), request, correction)


@router.delete("/rules/{id}", response_model=schemas.Written)
def delete_rule(me: Me, id: schemas.Name, request: Request) -> Any:
    """Delete a rule; where the profile has a trash, it can be restored for some days."""
    return _deleted(me, found(me, id, Kind.RULE), request)


@router.get("/episodes/{id}", response_model=schemas.Detailed)
def get_episode(me: Me, id: schemas.Name, request: Request, response: Response) -> Any:
    """An episode, and what was concluded from it."""
    return _detailed(me, found(me, id, Kind.EPISODE), request, response)


def found(me: Memory, id: str, *kinds: Kind) -> Record:
    """The memory of that id and kind; another's is as good as none."""
    if not (id.isascii() and looks_like_id(id)) or (kinds and kind_of(id) not in kinds):
        raise NotFound(f"There is no memory {id}.")
    return me.get(id)


def _detailed(me: Memory, record: Record, request: Request, response: Response) -> schemas.Detailed:
    history, links = me.history(record.id), me.links(record.id)
    etags.tell(request, response, etags.of(record))
    told: dict[str, Any] = {
        "memory": schemas.memory(me, record),
        "versions": schemas.memories(me, history.versions),
        "links": links,
        "events": history.events,
        "applications": history.applications,
        "sources": schemas.memories(me, _sources(me, record, links)),
    }
    return schemas.Detailed.model_validate(told)


def _sources(me: Memory, record: Record, links: Any) -> list[Record]:
    """The turns and memories that a memory comes from, those that still exist."""
    derived = [
        one.target
        for one in links
        if one.relation is Relation.DERIVED_FROM and one.source == record.id
    ]
    sources = []
    for one in dict.fromkeys([*(turn.turn_id for turn in record.evidence), *derived]):
        try:
            sources.append(found(me, one))
        except NotFound:
            continue
    return sources


def _edited(
    me: Memory, record: Record, request: Request, correction: schemas.Correction
) -> schemas.Written:
    etags.expect(request, etags.of(record))
    details = schemas.given(correction, "content")
    return schemas.written(me, me.update(record.id, correction.content, **details))


def _deleted(me: Memory, record: Record, request: Request) -> schemas.Written:
    etags.expect(request, etags.of(record))
    return schemas.written(me, me.delete(record.id))
