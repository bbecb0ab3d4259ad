"""Remembering, recalling and putting into prompts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.cpu_limit import in_turn
from remembrancer.server.deps import Me, within
from remembrancer.server.routes.paging import as_of
from remembrancer.types import Kind, Verdict

router = APIRouter(tags=["remembering"])


class Prompt(schemas.Asked):
    """What the next prompt is about, and how much room there is in it."""

    prompt: Annotated[schemas.Text, Field(min_length=1, max_length=20_000)] | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    session: schemas.Name | None = None
    style: Literal["sections", "note", "hot_set"] | None = None
    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


class Conversation(schemas.Asked):
    """Turns to learn from; without a session they are a whole conversation, which is over."""

    turns: Annotated[list[schemas.Said], Field(min_length=1, max_length=10_000)]
    session: schemas.Name | None = None
    scope: schemas.Name | None = None
    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)] | None = None


class Judgement(schemas.Asked):
    """What came of following a rule."""

    rule: schemas.Name
    verdict: Verdict
    reason: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None
    session: schemas.Name | None = None


class Forgetting(schemas.Asked):
    """What to forget: an id, words that occur in it and in no other, or its sense."""

    what: Annotated[schemas.Text, Field(min_length=1, max_length=2000)]


class Narrowing(schemas.Asked):
    """Which memories; `sure` must be said, since nothing named means all."""

    sure: Literal[True]
    kinds: list[Kind] | None = None
    categories: list[schemas.Name] | None = None
    tags: list[schemas.Name] | None = None
    scope: schemas.Name | None = None
    minimum_importance: schemas.Number | None = None


class Deleting(schemas.Asked):
    """Ids of memories, or words that name one each."""

    what: Annotated[list[schemas.Text], Field(min_length=1, max_length=1000)]


class Undoing(schemas.Asked):
    """Which event to take back; without one, the latest."""

    event: schemas.Name | None = None


@router.post("/remember", response_model=schemas.Written)
def remember(me: Me, statement: schemas.Statement) -> Any:
    """Keep one thing. What it restates is replaced, what it repeats is returned as it is."""
    within(me, statement.scope)
    details = schemas.given(statement, "content")
    return schemas.written(me, me.remember(statement.content, **details))


@router.post("/recall", response_model=schemas.Recollection)
async def recall(request: Request, me: Me, query: schemas.Query) -> Any:
    """Bring back what matters for a query, best first."""
    return await in_turn(request, _recalled, me, query)


def _recalled(me: Memory, query: schemas.Query) -> Response:
    within(me, query.scope)
    wanted = schemas.given(query, "query", "known_at", "true_at", "explain")
    if (moment := as_of(query)) is not None:
        wanted["as_of"] = moment
    found = me.recall(query.query, **wanted)
    items = [
        {"memory": schemas.memory(me, one.memory), "score": one.score}
        | ({"why": one.why} if query.explain else {})
        for one in found
    ]
    told = {"items": items, "sure": found.sure, "late": found.late}
    return schemas.sent(schemas.Recollection, told)


@router.post("/context", response_model=schemas.Context)
async def context(request: Request, me: Me, asked: Prompt) -> Any:
    """Memory as text to put into a prompt, never over the budget."""
    return await in_turn(request, _context, me, asked)


def _context(me: Memory, asked: Prompt) -> Response:
    options = schemas.given(asked, "prompt", "known_at", "true_at")
    return schemas.sent(schemas.Context, me.context(asked.prompt, as_of=as_of(asked), **options))


@router.post("/learn", response_model=schemas.Heard, status_code=202)
def learn(me: Me, heard: Conversation) -> Any:
    """Add turns to a conversation and learn from it in the background, if it is time to."""
    within(me, heard.scope)
    turns = me.learn(said(heard.turns), **schemas.given(heard, "turns"))
    return {"session_id": turns[0].session_id, "turns": schemas.memories(me, turns)}


def said(turns: list[schemas.Said]) -> Any:
    """Turns as the library takes them."""
    return [schemas.given(one) for one in turns]


@router.post("/feedback", response_model=schemas.Written)
def feedback(me: Me, judgement: Judgement) -> Any:
    """Say that following a rule helped or did harm."""
    if judgement.verdict is Verdict.HELPFUL:
        done = me.helpful(judgement.rule, session=judgement.session)
    else:
        done = me.harmful(judgement.rule, judgement.reason, session=judgement.session)
    return schemas.written(me, done)


@router.post("/forget", response_model=schemas.Written)
def forget_words(me: Me, asked: Forgetting) -> Any:
    """End the one memory that is meant, and say which it was."""
    return schemas.written(me, me.forget(asked.what))


@router.post("/forget-all", response_model=schemas.Batch)
def forget_all(me: Me, narrowing: Narrowing) -> Any:
    """End all memories that are in force, or those that are meant; one event, undoable."""
    within(me, narrowing.scope)
    return me.forget_all(**schemas.given(narrowing, "sure"))


@router.post("/delete-many", response_model=schemas.Batch)
def delete_many(me: Me, asked: Deleting) -> Any:
    """Delete several memories at once: all of them, or none if one is not to be found."""
    return me.delete_many(asked.what)


@router.post("/delete-all", response_model=schemas.Batch)
def delete_all(me: Me, narrowing: Narrowing) -> Any:
    """Put everything into the trash, or what is meant; destroy it where the profile says so."""
    within(me, narrowing.scope)
    return me.delete_all(**schemas.given(narrowing, "sure"))


@router.post("/undo", response_model=schemas.Written)
def undo(me: Me, asked: Undoing) -> Any:
    """Take back one change."""
    return schemas.written(me, me.undo(asked.event))
