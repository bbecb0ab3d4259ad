"""What a person's memory holds: counts, facts, rules, episodes, and what happened to them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.server import etags, wire
from remembrancer.server.calling import Me, within
from remembrancer.server.routes.listing import Listed, Paged, page
from remembrancer.types import Kind, Maturity, Record, Relation, kind_of, looks_like_id

listings = APIRouter(tags=["memory"])
"""Also for one agent at a time."""

router = APIRouter(tags=["memory"])


class Facts(Listed):
    """Which facts to tell."""

    subject: wire.Name | None = None
    category: tuple[wire.Name, ...] = ()


class Topic(wire.Asked):
    """What a fact is about; `used` counts it as recalled."""

    subject: wire.Name
    predicate: wire.Name
    scope: wire.Name | None = None
    used: bool = False


class Holder(wire.Told):
    """The fact about a subject and predicate, if there is one."""

    fact: wire.Fact | None


class Rules(Listed):
    """Which rules to tell."""

    maturity: tuple[Maturity, ...] = ()


class Episodes(Listed):
    """Which episodes to tell: of which butler, recorded from one moment until before another."""

    butler: wire.Name | None = None
    since: Annotated[wire.Moment | None, Field(alias="from")] = None
    until: Annotated[wire.Moment | None, Field(alias="to")] = None


@listings.get("/stats", response_model=wire.Stats)
def memory_stats(me: Me, request: Request, response: Response) -> Any:
    """How many memories there are, of what sort, and how they are doing."""
    stats = me.stats()
    etags.tell(request, response, etags.of(stats))
    return stats


@listings.get("/facts", response_model=wire.Page[wire.Fact])
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
    return {"fact": fact and wire.memory(me, fact)}


@listings.get("/rules", response_model=wire.Page[wire.Rule])
def list_rules(
    me: Me, request: Request, response: Response, asked: Annotated[Rules, Query()]
) -> Any:
    """Browse or search how to behave."""
    return page(request, response, me, asked, kinds=[Kind.RULE], maturities=asked.maturity)


@listings.get("/episodes", response_model=wire.Page[wire.Episode])
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


@router.get("/activity", response_model=wire.Page[wire.Event])
def list_activity(
    me: Me, request: Request, response: Response, asked: Annotated[Paged, Query()]
) -> Any:
    """What happened to the memories, the latest first."""
    found = me.activity(limit=asked.limit, cursor=asked.cursor)
    etags.tell(request, response, etags.of(found.items, found.cursor))
    return found


@router.get("/facts/{id}", response_model=wire.Detailed)
def get_fact(me: Me, id: wire.Name, request: Request, response: Response) -> Any:
    """A fact with where it comes from, its versions and its links."""
    return _detailed(me, found(me, id, Kind.FACT), request, response)


@router.put("/facts/{id}", response_model=wire.Written)
def edit_fact(me: Me, id: wire.Name, request: Request, correction: wire.Correction) -> Any:
    """Correct a fact: a new version supersedes it, and the old one stays in its history."""
    return _edited(me, found(me, id, Kind.FACT), request, correction)


@router.delete("/facts/{id}", response_model=wire.Written)
def delete_fact(me: Me, id: wire.Name, request: Request) -> Any:
    """Delete a fact; where the profile has a trash, it can be restored for some days."""
    return _deleted(me, found(me, id, Kind.FACT), request)


@router.get("/rules/{id}", response_model=wire.Detailed)
def get_rule(me: Me, id: wire.Name, request: Request, response: Response) -> Any:
    """A rule with the history of its applications."""
    return _detailed(me, found(me, id, Kind.RULE), request, response)


@router.put("/rules/{id}", response_model=wire.Written)
def edit_rule(me: Me, id: wire.Name, request: Request, correction: wire.Correction) -> Any:
    """Correct a rule: the new version is a candidate and earns its trust anew."""
    return _edited(me, found(me, id, Kind.RULE), request, correction)


@router.delete("/rules/{id}", response_model=wire.Written)
def delete_rule(me: Me, id: wire.Name, request: Request) -> Any:
    """Delete a rule; where the profile has a trash, it can be restored for some days."""
    return _deleted(me, found(me, id, Kind.RULE), request)


@router.get("/episodes/{id}", response_model=wire.Detailed)
def get_episode(me: Me, id: wire.Name, request: Request, response: Response) -> Any:
    """An episode, and what was concluded from it."""
    return _detailed(me, found(me, id, Kind.EPISODE), request, response)


def found(me: Memory, id: str, *kinds: Kind) -> Record:
    """The memory of that id and kind; another's is as good as none."""
    if not (id.isascii() and looks_like_id(id)) or (kinds and kind_of(id) not in kinds):
        raise NotFound(f"There is no memory {id}.")
    return me.get(id)


def _detailed(me: Memory, record: Record, request: Request, response: Response) -> wire.Detailed:
    history, links = me.history(record.id), me.links(record.id)
    etags.tell(request, response, etags.of(record))
    told: dict[str, Any] = {
        "memory": wire.memory(me, record),
        "versions": wire.memories(me, history.versions),
        "links": links,
        "events": history.events,
        "applications": history.applications,
        "sources": wire.memories(me, _sources(me, record, links)),
    }
    return wire.Detailed.model_validate(told)


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
    me: Memory, record: Record, request: Request, correction: wire.Correction
) -> wire.Written:
    etags.expect(request, etags.of(record))
    details = wire.given(correction, "content")
    return wire.written(me, me.update(record.id, correction.content, **details))


def _deleted(me: Memory, record: Record, request: Request) -> wire.Written:
    etags.expect(request, etags.of(record))
    return wire.written(me, me.delete(record.id))
