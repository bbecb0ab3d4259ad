"""Conversations: listed, read, added to, closed, renamed, put away, thrown away."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput
from remembrancer.server import etags, schemas
from remembrancer.server.deps import CallerMemory
from remembrancer.server.routes.list_params import PageParams
from remembrancer.server.routes.verbs import dump_turns
from remembrancer.types import SessionStatus

router = APIRouter(tags=["conversations"])


class SessionListParams(PageParams):
    """Which conversations to tell."""

    status: SessionStatus | None = None
    trashed: bool = False


class AppendTurnsRequest(schemas.RequestModel):
    """What was said; `learn`: and learn from it, if it is time to."""

    turns: Annotated[list[schemas.NewTurn], Field(min_length=1, max_length=10_000)]
    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)] | None = None
    learn: bool = True


class SessionViewParams(schemas.RequestModel):
    """How many tokens a conversation may take."""

    budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None


class SessionViewResponse(schemas.ResponseModel):
    """The turns to show, and what to say of those before them; `hidden` is how many these are."""

    turns: list[schemas.Turn]
    summary: str | None
    hidden: int


class CountTurnsResponse(schemas.ResponseModel):
    """How many turns a conversation has, whatever became of them."""

    turns: int


class RenameSessionRequest(schemas.RequestModel):
    """What a conversation is to be called."""

    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)]


class ArchiveSessionRequest(schemas.RequestModel):
    """Whether to put a conversation away or to take it back."""

    back: bool = False


@router.get("/sessions", response_model=schemas.Page[schemas.Session])
def list_sessions(
    me: CallerMemory,
    request: Request,
    response: Response,
    params: Annotated[SessionListParams, Query()],
) -> Any:
    """Conversations, the latest first."""
    found = me.sessions(
        status=params.status, trashed=params.trashed, limit=params.limit, cursor=params.cursor
    )
    etags.set_etag(request, response, etags.compute_etag(found.items, found.cursor))
    return found


@router.get("/sessions/{session}", response_model=schemas.Session)
def get_session(
    me: CallerMemory, session: schemas.Name, request: Request, response: Response
) -> Any:
    """One conversation."""
    found = me.session(session)
    etags.set_etag(request, response, etags.compute_etag(found))
    return found


@router.get("/sessions/{session}/turns", response_model=schemas.Page[schemas.Turn])
def list_turns(
    me: CallerMemory,
    session: schemas.Name,
    request: Request,
    response: Response,
    params: Annotated[PageParams, Query()],
) -> Any:
    """What was said, from the first turn to the last."""
    me.session(session)
    start = _parse_cursor(params.cursor)
    turns = [one for one in me.turns(session) if one.position >= start]
    shown = turns[: params.limit]
    cursor = str(turns[params.limit].position) if len(turns) > params.limit else None
    etags.set_etag(request, response, etags.compute_etag(shown, cursor))
    return {"items": schemas.build_memories(me, shown), "cursor": cursor}


@router.get("/sessions/{session}/view", response_model=SessionViewResponse)
def view_session(
    me: CallerMemory, session: schemas.Name, params: Annotated[SessionViewParams, Query()]
) -> Any:
    """A conversation as a model should see it: the beginning of a long one is summarised."""
    seen = me.view(session, budget=params.budget)
    turns = schemas.build_memories(me, seen.turns)
    return {"turns": turns, "summary": seen.summary, "hidden": seen.hidden}


@router.get("/sessions/{session}/count", response_model=CountTurnsResponse)
def count_turns(me: CallerMemory, session: schemas.Name) -> Any:
    """How many turns a conversation has, whatever became of them."""
    return {"turns": me.count_turns(session)}


def _parse_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise InvalidInput("Invalid cursor. Pass one that a listing returned.")
    return int(cursor)


@router.post("/sessions/{session}/turns", response_model=schemas.StoredTurns)
def append_turns(me: CallerMemory, session: schemas.Name, body: AppendTurnsRequest) -> Any:
    """Add turns to a conversation, which begins with the first of them."""
    verb = me.learn if body.learn else me.append
    turns = verb(dump_turns(body.turns), session, title=body.title)
    return {"session_id": session, "turns": schemas.build_memories(me, turns)}


@router.post("/sessions/{session}/close", response_model=schemas.Session, status_code=202)
def close_session(me: CallerMemory, session: schemas.Name) -> Any:
    """End a conversation for now and learn from what is new in it; twice is as good as once.

    Any body is accepted and none is needed, so that a page can send it as a beacon when it is left.
    """
    return me.close(session)


@router.put("/sessions/{session}/title", response_model=schemas.Session)
def rename_session(me: CallerMemory, session: schemas.Name, body: RenameSessionRequest) -> Any:
    """Give a conversation another title."""
    return me.rename(session, body.title)


@router.post("/sessions/{session}/archive", response_model=schemas.Session)
def archive_session(me: CallerMemory, session: schemas.Name, body: ArchiveSessionRequest) -> Any:
    """Put a conversation away, or take it back."""
    return me.archive(session, back=body.back)


@router.delete("/sessions/{session}", response_model=schemas.BatchResponse)
def delete_session(me: CallerMemory, session: schemas.Name) -> Any:
    """Put a conversation into the trash; what was learned from it stays."""
    return me.delete_session(session)


@router.post("/sessions/{session}/restore", response_model=schemas.BatchResponse)
def restore_session(me: CallerMemory, session: schemas.Name) -> Any:
    """Bring a conversation back from the trash."""
    return me.restore_session(session)


@router.get("/rejected", response_model=schemas.Page[schemas.Rejection])
def list_rejections(
    me: CallerMemory, request: Request, response: Response, params: Annotated[PageParams, Query()]
) -> Any:
    """What conversations seemed to tell and was not remembered, and why."""
    found = me.rejected(limit=params.limit, cursor=params.cursor)
    etags.set_etag(request, response, etags.compute_etag(found.items, found.cursor))
    return found
