"""Team memory: recall, proposals, the review queue and live settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from remembrancer.errors import InvalidInput
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, Engine, ETag, TeamReview
from remembrancer.server.problems import KEY_REQUIRED, Unauthenticated
from remembrancer.server.routes.list_params import AsOfParams, PageParams, build_as_of
from remembrancer.team.service import ProposalOutcome
from remembrancer.team.settings import TeamSettings
from remembrancer.types import Principal, TeamFact, TeamKind, TeamOrigin, TeamRecalled, TeamStatus

router = APIRouter(tags=["team"])

TeamFactText = Annotated[schemas.Text, Field(min_length=1, max_length=500)]
Importance = Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)]


class TeamRecallRequest(AsOfParams):
    """A query for the team's memory."""

    query: Annotated[schemas.Text, Field(min_length=1, max_length=20_000)]
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


class TeamRecallResponse(schemas.ResponseModel):
    """Team facts, best match first; nothing in them identifies a person."""

    items: list[TeamRecalled]


class ProposeRequest(schemas.RequestModel):
    """A team fact to propose."""

    content: TeamFactText
    kind: TeamKind = TeamKind.FACT
    importance: Importance = 3


class ProposeResponse(schemas.ResponseModel):
    """The outcome of a proposal; `rules` are the rules that it violates."""

    verdict: ProposalOutcome
    fact_id: str | None
    rules: list[str]


class TeamActivityResponse(schemas.ResponseModel):
    """What proposals of one origin led to in the last weeks, and the rules that refused them."""

    runs: int
    by_outcome: dict[str, int]
    by_rule: dict[str, int]


class TeamStatsResponse(schemas.ResponseModel):
    """Counts of team facts and, in total, of personal memories, and the live settings."""

    by_status: dict[str, int]
    by_kind: dict[str, int]
    by_origin: dict[str, int]
    contested: int
    said: int
    weeks: list[int]
    merged: float
    most_recalled: list[TeamFact]
    activity: dict[TeamOrigin, TeamActivityResponse]
    personal: int | None
    switches: TeamSettings


class TeamListParams(PageParams, AsOfParams):
    """Filters for approved team facts."""

    kind: TeamKind | None = None
    origin: tuple[TeamOrigin, ...] = ()


class TeamFactListParams(PageParams):
    """Filters for team facts."""

    status: TeamStatus | None = None
    kind: TeamKind | None = None
    origin: tuple[TeamOrigin, ...] = ()
    words: Annotated[schemas.Text, Field(min_length=1, max_length=500)] | None = None
    single: bool = False
    contested: bool = False


class TeamFactIdsRequest(schemas.RequestModel):
    """Ids of team facts. If one does not exist, none is changed."""

    ids: Annotated[list[schemas.Name], Field(min_length=1, max_length=1000)]


class TeamFactsResponse(schemas.ResponseModel):
    """The team facts after the change."""

    items: list[TeamFact]


class EditTeamFactRequest(schemas.RequestModel):
    """The new text or importance of a team fact; at least one of them."""

    content: TeamFactText | None = None
    importance: Importance | None = None


class DeleteTeamFactsResponse(schemas.ResponseModel):
    """The number of deleted team facts."""

    deleted: int


class UpdateTeamSettingsRequest(schemas.RequestModel):
    """Live settings to change; omitted ones keep their value.

    If `promote_at` is null, no fact is approved by its number of contributors alone.
    """

    personal_learning: bool | None = None
    team_learning: bool | None = None
    team_recall: Annotated[dict[schemas.Name, bool], Field(max_length=100)] | None = None
    promote_at: Annotated[int, Field(ge=1, le=1000)] | None = None
    dedup_threshold: schemas.Fraction | None = None
    recall_confidence: schemas.Fraction | None = None
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


def get_optional_caller(request: Request, engine: Engine) -> Principal | None:
    """Return the caller. Raises Unauthenticated without a key unless the settings allow it."""
    caller: Principal | None = request.scope["state"].get("principal")
    if caller is None and not engine.tells_anyone():
        raise Unauthenticated("The team's memory needs a key. " + KEY_REQUIRED)
    return caller


@router.post("/recall", response_model=TeamRecallResponse)
def team_recall(
    caller: Annotated[Principal | None, Depends(get_optional_caller)],
    engine: Engine,
    body: TeamRecallRequest,
) -> Any:
    """Search the team's memory. Works without a key if the team's settings allow it."""
    then = build_as_of(body)
    if caller is None:
        if then is not None:
            raise InvalidInput("Only with a key can the team be asked about the past.")
        return {"items": engine.team_recall(body.query, limit=body.limit)}
    facts = engine.for_principal(caller).team(body.query, as_of=then)
    return {"items": facts[: body.limit] if body.limit else facts}


@router.post("/propose", response_model=ProposeResponse)
def propose(me: CallerMemory, body: ProposeRequest) -> Any:
    """Propose a team fact for review. It is stored without its author, or refused by a rule."""
    origin = TeamOrigin.USER if me.principal.agent is None else TeamOrigin.AGENT
    return me.propose(body.content, kind=body.kind, origin=origin, importance=body.importance)


@router.get("/facts", response_model=schemas.TeamFactPage)
def list_team(me: CallerMemory, etag: ETag, params: Annotated[TeamListParams, Query()]) -> Any:
    """List what the team knows, newest first, with the class of its authors."""
    page = me.list_team(
        origins=params.origin,
        kind=params.kind,
        limit=params.limit,
        cursor=params.cursor,
        as_of=build_as_of(params),
    )
    etag.set(page.items, page.cursor)
    return page


@router.get("/review/stats", response_model=TeamStatsResponse)
def get_team_stats(review: TeamReview) -> Any:
    """Count team facts by status, kind and origin."""
    return review.stats()


@router.get("/review/facts", response_model=schemas.TeamEntryPage)
def list_team_facts(
    review: TeamReview, etag: ETag, params: Annotated[TeamFactListParams, Query()]
) -> Any:
    """List team facts, newest first, with contributor counts."""
    page = review.list(**params.model_dump())
    etag.set(page.items, page.cursor)
    return page


@router.post("/review/approve", response_model=TeamFactsResponse)
def approve_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Approve team facts."""
    return {"items": review.approve(*body.ids)}


@router.post("/review/reject", response_model=TeamFactsResponse)
def reject_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Reject team facts. They are kept, so that they are not proposed again."""
    return {"items": review.reject(*body.ids)}


@router.post("/review/reopen", response_model=TeamFactsResponse)
def reopen_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Return team facts to the review queue."""
    return {"items": review.reopen(*body.ids)}


@router.post("/review/delete", response_model=DeleteTeamFactsResponse)
def delete_team_facts(review: TeamReview, body: TeamFactIdsRequest) -> Any:
    """Delete team facts permanently."""
    return {"deleted": review.delete(*body.ids)}


@router.patch("/review/facts/{id}", response_model=TeamFact)
def edit_team_fact(review: TeamReview, id: schemas.Name, body: EditTeamFactRequest) -> Any:
    """Edit a team fact's text or importance."""
    if body.content is None and body.importance is None:
        raise InvalidInput("Pass content, importance, or both.")
    fact = review.edit(id, body.content) if body.content is not None else None
    if body.importance is not None:
        fact = review.set_importance(id, body.importance)
    return fact


@router.get("/switches", response_model=TeamSettings)
def get_team_settings(review: TeamReview) -> Any:
    """Get the team's live settings."""
    return review.settings()


@router.patch("/switches", response_model=TeamSettings)
def update_team_settings(review: TeamReview, body: UpdateTeamSettingsRequest) -> Any:
    """Update the team's live settings. All processes apply them within a second."""
    changes = body.model_dump(exclude_unset=True)
    unset = [name for name, value in changes.items() if value is None and name != "promote_at"]
    if unset:
        raise InvalidInput(f"{unset[0]}: null is not allowed. Omit the field to keep its value.")
    return review.change_settings(**changes)
