"""What a team knows: asking, proposing, and the desk at which it is looked after."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput
from remembrancer.server import etags, schemas
from remembrancer.server.deps import Desk, Engine, Me
from remembrancer.server.problems import Unauthenticated
from remembrancer.server.routes.paging import Paged
from remembrancer.team.service import Verdict
from remembrancer.team.settings import Switches
from remembrancer.types import Principal, TeamKind, TeamOrigin, TeamStatus

router = APIRouter(tags=["team"])

Proposal = Annotated[schemas.Text, Field(min_length=1, max_length=500)]
Importance = Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)]


class Question(schemas.Asked):
    """What to ask the team's memory."""

    query: Annotated[schemas.Text, Field(min_length=1, max_length=20_000)]
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


class Known(schemas.Told):
    """What the team knows about it."""

    items: list[schemas.TeamRecalled]


class Proposing(schemas.Asked):
    """Something to say to the team."""

    content: Proposal
    kind: TeamKind = TeamKind.FACT
    importance: Importance = 3


class Proposed(schemas.Told):
    """What became of a proposal; `rules` are the rules that it breaks."""

    verdict: Verdict
    fact_id: str | None
    rules: list[str]


class Stats(schemas.Told):
    """How a team's memory is doing, and by which settings."""

    by_status: dict[str, int]
    by_kind: dict[str, int]
    by_origin: dict[str, int]
    contested: int
    said: int
    weeks: list[int]
    merged: float
    most_recalled: list[schemas.TeamFact]
    switches: Switches


class Entries(Paged):
    """Which team facts to show."""

    status: TeamStatus | None = None
    kind: TeamKind | None = None
    origin: TeamOrigin | None = None
    words: Annotated[schemas.Text, Field(min_length=1, max_length=500)] | None = None
    single: bool = False
    contested: bool = False


class Several(schemas.Asked):
    """Team facts to decide about: all of them, or none if one is not there."""

    ids: Annotated[list[schemas.Name], Field(min_length=1, max_length=1000)]


class Decided(schemas.Told):
    """The team facts as they are now."""

    items: list[schemas.TeamFact]


class Edit(schemas.Asked):
    """Other words for a team fact, or how much it matters; at least one of them."""

    content: Proposal | None = None
    importance: Importance | None = None


class Removed(schemas.Told):
    """How many team facts were destroyed."""

    deleted: int


class Switching(schemas.Asked):
    """Live settings to change; those that are not named stay as they are.

    `promote_at` may be null: then nothing is approved by the number of voices alone.
    """

    personal_learning: bool | None = None
    team_learning: bool | None = None
    team_recall: Annotated[dict[schemas.Name, bool], Field(max_length=100)] | None = None
    promote_at: Annotated[int, Field(ge=1, le=1000)] | None = None
    dedup_threshold: schemas.Share | None = None
    recall_confidence: schemas.Share | None = None
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


def anyone(request: Request, engine: Engine) -> Principal | None:
    """Who asks; nobody in particular only where the team's settings allow it."""
    caller: Principal | None = request.scope["state"].get("principal")
    if caller is None and not engine.tells_anyone():
        raise Unauthenticated("The team's memory is for those who have a key.")
    return caller


@router.post("/recall", response_model=Known)
def team_recall(
    caller: Annotated[Principal | None, Depends(anyone)], engine: Engine, question: Question
) -> Any:
    """What the team knows about something. Without a key, only if the team's settings allow it."""
    if caller is None:
        return {"items": engine.team_recall(question.query, limit=question.limit)}
    found = engine.for_principal(caller).team(question.query)
    return {"items": found[: question.limit] if question.limit else found}


@router.post("/propose", response_model=Proposed)
def propose(me: Me, proposing: Proposing) -> Any:
    """Say something to the team: kept without a person and pending, or refused by a rule."""
    origin = TeamOrigin.USER if me.principal.agent is None else TeamOrigin.AGENT
    return me.propose(
        proposing.content, kind=proposing.kind, origin=origin, importance=proposing.importance
    )


@router.get("/review/stats", response_model=Stats)
def review_stats(desk: Desk) -> Any:
    """Counts by status, kind and origin; no count leads to a person."""
    return desk.stats()


@router.get("/review/facts", response_model=schemas.Page[schemas.TeamEntry])
def review_facts(
    desk: Desk, request: Request, response: Response, asked: Annotated[Entries, Query()]
) -> Any:
    """Team facts, newest first, with how many said so."""
    page = desk.list(**asked.model_dump())
    etags.tell(request, response, etags.of(page.items, page.cursor))
    return page


@router.post("/review/approve", response_model=Decided)
def review_approve(desk: Desk, several: Several) -> Any:
    """Let the team be told."""
    return {"items": desk.approve(*several.ids)}


@router.post("/review/reject", response_model=Decided)
def review_reject(desk: Desk, several: Several) -> Any:
    """Never tell it; it stays, so that it is not proposed again."""
    return {"items": desk.reject(*several.ids)}


@router.post("/review/reopen", response_model=Decided)
def review_reopen(desk: Desk, several: Several) -> Any:
    """Put decisions back into the queue."""
    return {"items": desk.reopen(*several.ids)}


@router.post("/review/delete", response_model=Removed)
def review_delete(desk: Desk, several: Several) -> Any:
    """Destroy team facts, with everything that was known about them."""
    return {"deleted": desk.delete(*several.ids)}


@router.patch("/review/facts/{id}", response_model=schemas.TeamFact)
def review_edit(desk: Desk, id: schemas.Name, edit: Edit) -> Any:
    """Give a fact other words, or say how much it matters."""
    if edit.content is None and edit.importance is None:
        raise InvalidInput("Give other words, an importance, or both.")
    fact = desk.edit(id, edit.content) if edit.content is not None else None
    if edit.importance is not None:
        fact = desk.set_importance(id, edit.importance)
    return fact


@router.get("/switches", response_model=Switches)
def get_switches(desk: Desk) -> Any:
    """The live settings of the team."""
    return desk.switches()


@router.patch("/switches", response_model=Switches)
def change_switches(desk: Desk, switching: Switching) -> Any:
    """Change live settings; every process goes by them within a second."""
    changes = switching.model_dump(exclude_unset=True)
    unset = [name for name, value in changes.items() if value is None and name != "promote_at"]
    if unset:
        raise InvalidInput(f"{unset[0]}: null is no setting; leave it out to keep what it is.")
    return desk.switch(**changes)
