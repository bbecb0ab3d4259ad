"""Remembering, recalling and putting into prompts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.cpu_limit import run_limited
from remembrancer.server.deps import CallerMemory, check_scope
from remembrancer.server.routes.list_params import build_as_of
from remembrancer.types import Kind, Verdict

router = APIRouter(tags=["remembering"])


class PromptContextRequest(schemas.RequestModel):
    """What the next prompt is about, and how much room there is in it."""

    prompt: Annotated[schemas.Text, Field(min_length=1, max_length=20_000)] | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    session: schemas.Name | None = None
    style: Literal["sections", "note", "hot_set"] | None = None
    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


class LearnRequest(schemas.RequestModel):
    """Turns to learn from; without a session they are a whole conversation, which is over."""

    turns: Annotated[list[schemas.NewTurn], Field(min_length=1, max_length=10_000)]
    session: schemas.Name | None = None
    scope: schemas.Name | None = None
    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)] | None = None


class FeedbackRequest(schemas.RequestModel):
    """What came of following a rule."""

    rule: schemas.Name
    verdict: Verdict
    reason: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None
    session: schemas.Name | None = None


class ForgetRequest(schemas.RequestModel):
    """What to forget: an id, words that occur in it and in no other, or its sense."""

    what: Annotated[schemas.Text, Field(min_length=1, max_length=2000)]


class BulkSelectionRequest(schemas.RequestModel):
    """Which memories; `sure` must be said, since nothing named means all."""

    sure: Literal[True]
    kinds: list[Kind] | None = None
    categories: list[schemas.Name] | None = None
    tags: list[schemas.Name] | None = None
    scope: schemas.Name | None = None
    minimum_importance: schemas.FiniteNumber | None = None


class DeleteManyRequest(schemas.RequestModel):
    """Ids of memories, or words that name one each."""

    what: Annotated[list[schemas.Text], Field(min_length=1, max_length=1000)]


class UndoRequest(schemas.RequestModel):
    """Which event to take back; without one, the latest."""

    event: schemas.Name | None = None


@router.post("/remember", response_model=schemas.WriteResponse)
def remember(me: CallerMemory, body: schemas.RememberRequest) -> Any:
    """Keep one thing. What it restates is replaced, what it repeats is returned as it is."""
    check_scope(me, body.scope)
    details = schemas.dump_given(body, "content")
    return schemas.build_write_response(me, me.remember(body.content, **details))


@router.post("/recall", response_model=schemas.RecallResponse)
async def recall(request: Request, me: CallerMemory, body: schemas.RecallRequest) -> Any:
    """Bring back what matters for a query, best first."""
    return await run_limited(request, _recall, me, body)


def _recall(me: Memory, body: schemas.RecallRequest) -> Response:
    check_scope(me, body.scope)
    wanted = schemas.dump_given(body, "query", "known_at", "true_at", "explain")
    if (moment := build_as_of(body)) is not None:
        wanted["as_of"] = moment
    found = me.recall(body.query, **wanted)
    items = [
        {"memory": schemas.build_memory(me, one.memory), "score": one.score}
        | ({"why": one.why} if body.explain else {})
        for one in found
    ]
    told = {"items": items, "sure": found.sure, "late": found.late}
    return schemas.build_json_response(schemas.RecallResponse, told)


@router.post("/context", response_model=schemas.PromptContextResponse)
async def build_context(request: Request, me: CallerMemory, body: PromptContextRequest) -> Any:
    """Memory as text to put into a prompt, never over the budget."""
    return await run_limited(request, _build_context, me, body)


def _build_context(me: Memory, body: PromptContextRequest) -> Response:
    options = schemas.dump_given(body, "prompt", "known_at", "true_at")
    return schemas.build_json_response(
        schemas.PromptContextResponse, me.context(body.prompt, as_of=build_as_of(body), **options)
    )


@router.post("/learn", response_model=schemas.StoredTurns, status_code=202)
def learn(me: CallerMemory, body: LearnRequest) -> Any:
    """Add turns to a conversation and learn from it in the background, if it is time to."""
    check_scope(me, body.scope)
    turns = me.learn(dump_turns(body.turns), **schemas.dump_given(body, "turns"))
    return {"session_id": turns[0].session_id, "turns": schemas.build_memories(me, turns)}


def dump_turns(turns: list[schemas.NewTurn]) -> Any:
    """Turns as the library takes them."""
    return [schemas.dump_given(one) for one in turns]


@router.post("/feedback", response_model=schemas.WriteResponse)
def record_feedback(me: CallerMemory, body: FeedbackRequest) -> Any:
    """Say that following a rule helped or did harm."""
    if body.verdict is Verdict.HELPFUL:
        done = me.helpful(body.rule, session=body.session)
    else:
        done = me.harmful(body.rule, body.reason, session=body.session)
    return schemas.build_write_response(me, done)


@router.post("/forget", response_model=schemas.WriteResponse)
def forget(me: CallerMemory, body: ForgetRequest) -> Any:
    """End the one memory that is meant, and say which it was."""
    return schemas.build_write_response(me, me.forget(body.what))


@router.post("/forget-all", response_model=schemas.BatchResponse)
def forget_all(me: CallerMemory, body: BulkSelectionRequest) -> Any:
    """End all memories that are in force, or those that are meant; one event, undoable."""
    check_scope(me, body.scope)
    return me.forget_all(**schemas.dump_given(body, "sure"))


@router.post("/delete-many", response_model=schemas.BatchResponse)
def delete_many(me: CallerMemory, body: DeleteManyRequest) -> Any:
    """Delete several memories at once: all of them, or none if one is not to be found."""
    return me.delete_many(body.what)


@router.post("/delete-all", response_model=schemas.BatchResponse)
def delete_all(me: CallerMemory, body: BulkSelectionRequest) -> Any:
    """Put everything into the trash, or what is meant; destroy it where the profile says so."""
    check_scope(me, body.scope)
    return me.delete_all(**schemas.dump_given(body, "sure"))


@router.post("/undo", response_model=schemas.WriteResponse)
def undo(me: CallerMemory, body: UndoRequest) -> Any:
    """Take back one change."""
    return schemas.build_write_response(me, me.undo(body.event))
