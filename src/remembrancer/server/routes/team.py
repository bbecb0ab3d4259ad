"""What a team knows: asking, proposing, and the desk at which it is looked after."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput
from remembrancer.server import etags, schemas
from remembrancer.server.deps import CallerMemory, Engine, TeamReview
from remembrancer.server.problems import Unauthenticated
from remembrancer.server.routes.list_params import PageParams
from remembrancer.team.service import ProposalOutcome
from remembrancer.team.settings import TeamSettings
from remembrancer.types import Principal, TeamKind, TeamOrigin, TeamStatus

router = APIRouter(tags=["team"])

TeamFactText = Annotated[schemas.Text, Field(min_length=1, max_length=500)]
Importance = Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)]


class TeamRecallRequest(schemas.RequestModel):
    """What to ask the team's memory."""

    query: Annotated[schemas.Text, Field(min_length=1, max_length=20_000)]
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


class TeamRecallResponse(schemas.ResponseModel):
    """What the team knows about it."""

    items: list[schemas.RecalledTeamFact]


class ProposeRequest(schemas.RequestModel):
    """Something to say to the team."""

    content: TeamFactText
    kind: TeamKind = TeamKind.FACT
    importance: Importance = 3


class ProposeResponse(schemas.ResponseModel):
    """What became of a proposal; `rules` are the rules that it breaks."""

    verdict: ProposalOutcome
    fact_id: str | None
    rules: list[str]


class TeamStatsResponse(schemas.ResponseModel):
    """How a team's memory is doing, and by which settings."""

    by_status: dict[str, int]
    by_kind: dict[str, int]
    by_origin: dict[str, int]
    contested: int
    said: int
    weeks: list[int]
    merged: float
    most_recalled: list[schemas.TeamFact]
    switches: TeamSettings


class TeamFactListParams(PageParams):
    """Which team facts to show."""

    status: TeamStatus | None = None
    kind: TeamKind | None = None
    origin: TeamOrigin | None = None
    words: Annotated[schemas.Text, Field(min_length=1, max_length=500)] | None = None
    single: bool = False
    contested: bool = False


class TeamFactIdsRequest(schemas.RequestModel):
    """Team facts to decide about: all of them, or none if one is not there."""

    ids: Annotated[list[schemas.Name], Field(min_length=1, max_length=1000)]


class TeamFactsResponse(schemas.ResponseModel):
    """The team facts as they are now."""

    items: list[schemas.TeamFact]


class EditTeamFactRequest(schemas.RequestModel):
    """Other words for a team fact, or how much it matters; at least one of them."""

    content: TeamFactText | None = None
    importance: Importance | None = None


class DeleteTeamFactsResponse(schemas.ResponseModel):
    """How many team facts were destroyed."""

    deleted: int


class UpdateTeamSettingsRequest(schemas.RequestModel):
    """Live settings to change; those that are not named stay as they are.

    `promote_at` may be null: then nothing is approved by the number of voices alone.
    """

    personal_learning: bool | None = None
    team_learning: bool | None = None
    team_recall: Annotated[dict[schemas.Name, bool], Field(max_length=100)] | None = None
    promote_at: Annotated[int, Field(ge=1, le=1000)] | None = None
    dedup_threshold: schemas.Fraction | None = None
    recall_confidence: schemas.Fraction | None = None
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


def get_optional_caller(request: Request, engine: Engine) -> Principal | None:
    """Who asks; nobody in particular only where the team's settings allow it."""
    caller: Principal | None = request.scope["state"].get("principal")
    if caller is None and not engine.tells_anyone():
        raise Unauthenticated("The team's memory is for those who have a key.")
    return caller


@router.post("/recall", response_model=TeamRecallResponse)
def team_recall(
    caller: Annotated[Principal | None, Depends(get_optional_caller)],
    engine: Engine,
    body: TeamRecallRequest,
) -> Any:
    """What the team knows about something. Without a key, only if the team's settings allow it."""
    if caller is None:
        return {"items": engine.team_recall(body.query, limit=body.limit)}
    found = engine.for_principal(caller).team(body.query)
    return {"items": found[: body.limit] if body.limit else found}


@router.post("/propose", response_model=ProposeResponse)
def propose(me: CallerMemory, body: ProposeRequest) -> Any:
    """Say something to the team: kept without a person and pending, or refused by a rule."""
    origin = TeamOrigin.USER if me.principal.agent is None else TeamOrigin.AGENT
    return me.propose(body.content, kind=body.kind, origin=origin, importance=body.importance)


@router.get("/review/stats", response_model=TeamStatsResponse)
def get_team_stats(review: TeamReview) -> Any:
    """Counts by status, kind and origin; no count leads to a person."""
    return review.stats()


@router.get("/review/facts", response_model=schemas.Page[schemas.TeamReviewItem])
def list_team_facts(
    review: TeamReview,
    request: Request,
    response: Response,
    params: Annotated[TeamFactListParams, Query()],
) -> Any:
    """Team facts, newest first, with how many said so."""
    page = review.list(**params.model_dump())
    etags.set_etag(request, response, etags.compute_etag(page.items, page.cursor))
    return page


@router.post("/review/approve", response_model=TeamFactsResponse)
def approve_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Let the team be told."""
    return {"items": review.approve(*body.ids)}


@router.post("/review/reject", response_model=TeamFactsResponse)
def reject_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Never tell it; it stays, so that it is not proposed again."""
    return {"items": review.reject(*body.ids)}


@router.post("/review/reopen", response_model=TeamFactsResponse)
def reopen_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Put decisions back into the queue."""
    return {"items": review.reopen(*body.ids)}


@router.post("/review/delete", response_model=DeleteTeamFactsResponse)
def delete_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Destroy team facts, with everything that was known about them."""
    return {"deleted": review.delete(*body.ids)}


@router.patch("/review/facts/{id}", response_model=schemas.TeamFact)
def edit_team_fact(review: TeamReview, id: schemas.Name, body: EditTeamFactRequest) -> Any:
    """Give a fact other words, or say how much it matters."""
    if body.content is None and body.importance is None:
        raise InvalidInput("Give other words, an importance, or both.")
    fact = review.edit(id, body.content) if body.content is not None else None
    if body.importance is not None:
        fact = review.set_importance(id, body.importance)
    return fact


@router.get("/switches", response_model=TeamSettings)
def get_team_settings(review: TeamReview) -> Any:
    """The live settings of the team."""
    return review.settings()


@router.patch("/switches", response_model=TeamSettings)
def update_team_settings(review: TeamReview, body: UpdateTeamSettingsRequest) -> Any:
    """Change live settings; every process goes by them within a second."""
    changes = body.model_dump(exclude_unset=True)
    unset = [name for name, value in changes.items() if value is None and name != "promote_at"]
    if unset:
        raise InvalidInput(f"{unset[0]}: null is no setting; leave it out to keep what it is.")
    return review.change_settings(**changes)
