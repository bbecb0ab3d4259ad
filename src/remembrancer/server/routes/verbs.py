"""The main verbs: remember, recall, context, learn, feedback, forget, delete and undo."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field, TypeAdapter
from starlette.responses import Response

from remembrancer.options import MAX_ITEMS
from remembrancer.recall.prompt_block import Context
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, Renderer, check_scope
from remembrancer.server.render import build_json_response
from remembrancer.server.routes.list_params import AsOfParams, build_as_of
from remembrancer.types import Batch, Kind, Verdict

router = APIRouter(tags=["verbs"])

_RECALL_RESPONSE = TypeAdapter(schemas.RecallResponse)
_CONTEXT = TypeAdapter(Context)


class PromptContextRequest(AsOfParams):
    """The prompt to find memories for, its time, and the token budget."""

    prompt: Annotated[schemas.Text, Field(min_length=1, max_length=20_000)] | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    session: schemas.Name | None = None
    style: Literal["sections", "note", "hot_set"] | None = None
    now: schemas.Moment | None = None
    exclude: Annotated[list[schemas.Name], Field(max_length=10_000)] | None = None


class LearnRequest(schemas.RequestModel):
    """Turns to learn from; without `session` they are one complete session."""

    turns: Annotated[list[schemas.NewTurn], Field(min_length=1, max_length=10_000)]
    session: schemas.Name | None = None
    scope: schemas.Name | None = None
    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)] | None = None


class FeedbackRequest(schemas.RequestModel):
    """The outcome of applying a rule."""

    rule: schemas.Name
    verdict: Verdict
    reason: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None
    session: schemas.Name | None = None


class ForgetRequest(schemas.RequestModel):
    """A reference to one memory: its id, words that only it contains, or its meaning."""

    what: schemas.Reference


class BulkSelectionRequest(schemas.RequestModel):
    """Filters on memories; without any, all match, so `sure` is required."""

    sure: Literal[True]
    kinds: Annotated[list[Kind], Field(max_length=MAX_ITEMS)] | None = None
    categories: schemas.Names | None = None
    tags: schemas.Names | None = None
    scope: schemas.Name | None = None
    minimum_importance: schemas.FiniteNumber | None = None


class DeleteAllRequest(BulkSelectionRequest):
    """Filters on memories, and whether they are deleted for good."""

    for_good: schemas.ForGood = False


class DeleteManyRequest(schemas.RequestModel):
    """Ids of memories, or words that identify one each."""

    what: Annotated[list[schemas.Reference], Field(min_length=1, max_length=1000)]
    for_good: schemas.ForGood = False


class UndoRequest(schemas.RequestModel):
    """The event to undo; by default the latest."""

    event: schemas.Name | None = None


@router.post("/remember", response_model=schemas.WriteResponse)
def remember(me: CallerMemory, renderer: Renderer, body: schemas.RememberRequest) -> Any:
    """Store one memory.

    A restatement supersedes the old version; a duplicate is returned unchanged.
    """
    check_scope(me, body.scope)
    details = schemas.dump_given(body, "content")
    return renderer.write(me.remember(body.content, **details))


@router.post("/recall", response_model=schemas.RecallResponse)
def recall(me: CallerMemory, renderer: Renderer, body: schemas.RecallRequest) -> Response:
    """Search memories, best match first."""
    check_scope(me, body.scope)
    options = schemas.dump_given(body, "query", "known_at", "true_at", "explain")
    if (as_of := build_as_of(body)) is not None:
        options["as_of"] = as_of
    recalled = me.recall(body.query, **options)
    items = [
        {
            "memory": renderer.memory(one.memory),
            "score": one.score,
            "why": one.why if body.explain else None,
        }
        for one in recalled
    ]
    values = {"items": items, "sure": recalled.sure, "late": recalled.late}
    return build_json_response(_RECALL_RESPONSE, values)


@router.post("/context", response_model=Context)
def build_context(me: CallerMemory, body: PromptContextRequest) -> Response:
    """Build a prompt block of memories within a token budget."""
    options = schemas.dump_given(body, "prompt", "known_at", "true_at")
    context = me.context(body.prompt, as_of=build_as_of(body), **options)
    return build_json_response(_CONTEXT, context)


@router.post("/learn", response_model=schemas.StoredTurns, status_code=202)
def learn(me: CallerMemory, renderer: Renderer, body: LearnRequest) -> Any:
    """Append turns and extract memories in the background."""
    check_scope(me, body.scope)
    turns = me.learn(dump_turns(body.turns), **schemas.dump_given(body, "turns"))
    return {"session_id": turns[0].session_id, "turns": renderer.memories(turns)}


def dump_turns(turns: list[schemas.NewTurn]) -> Any:
    """Return turns as keyword dictionaries for `Memory.learn` and `Memory.append`."""
    return [schemas.dump_given(turn) for turn in turns]


@router.post("/feedback", response_model=schemas.WriteResponse)
def record_feedback(me: CallerMemory, renderer: Renderer, body: FeedbackRequest) -> Any:
    """Record whether a rule helped or harmed."""
    if body.verdict is Verdict.HELPFUL:
        result = me.helpful(body.rule, session=body.session)
    else:
        result = me.harmful(body.rule, body.reason, session=body.session)
    return renderer.write(result)


@router.post("/forget", response_model=schemas.WriteResponse)
def forget(me: CallerMemory, renderer: Renderer, body: ForgetRequest) -> Any:
    """Forget the memory that a reference names."""
    return renderer.write(me.forget(body.what))


@router.post("/forget-all", response_model=Batch)
def forget_all(me: CallerMemory, body: BulkSelectionRequest) -> Any:
    """Forget all active memories that match, as one undoable event."""
    check_scope(me, body.scope)
    return me.forget_all(**schemas.dump_given(body, "sure"))


@router.post("/delete-many", response_model=Batch)
def delete_many(me: CallerMemory, body: DeleteManyRequest) -> Any:
    """Delete several memories, all or none."""
    return me.delete_many(body.what, for_good=body.for_good)


@router.post("/delete-all", response_model=Batch)
def delete_all(me: CallerMemory, body: DeleteAllRequest) -> Any:
    """Move all matching memories to the trash, or delete them for good."""
    check_scope(me, body.scope)
    return me.delete_all(**schemas.dump_given(body, "sure"))


@router.post("/undo", response_model=schemas.WriteResponse)
def undo(me: CallerMemory, renderer: Renderer, body: UndoRequest) -> Any:
    """Undo one event, by default the latest."""
    return renderer.write(me.undo(body.event))
