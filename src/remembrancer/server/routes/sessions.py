"""Sessions: list, read, append to, close, rename, archive and delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from remembrancer.paging import MAX_LIMIT, decode_offset, encode_offset
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, ETag, Renderer
from remembrancer.server.routes.list_params import (
    AsOfParams,
    AsOfQuery,
    DeleteQuery,
    PageParams,
    PageQuery,
    build_as_of,
)
from remembrancer.server.routes.verbs import dump_turns
from remembrancer.server.sent_path import SentPathRoute
from remembrancer.types import Batch, SessionStatus

router = APIRouter(tags=["sessions"], route_class=SentPathRoute)


class SessionListParams(PageParams):
    """Filters for sessions."""

    status: SessionStatus | None = None
    trashed: bool = False


class AppendTurnsRequest(schemas.RequestModel):
    """Turns to append; with `learn`, memories are extracted from them when they are due."""

    turns: Annotated[list[schemas.NewTurn], Field(min_length=1, max_length=10_000)]
    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)] | None = None
    learn: bool = True


class SessionViewParams(schemas.RequestModel):
    """The token budget of a view."""

    budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None


class SessionViewResponse(schemas.ResponseModel):
    """The latest turns, and a summary of the `hidden` ones before them."""

    turns: list[schemas.TurnResponse]
    summary: str | None
    hidden: int


class SessionMemoriesResponse(schemas.ResponseModel):
    """The memories of a session, newest first; its turns need not be stored."""

    items: list[schemas.AnyMemory]


class CountTurnsResponse(schemas.ResponseModel):
    """The number of turns, including deleted ones."""

    turns: int


class RenameSessionRequest(schemas.RequestModel):
    """The new title of a session."""

    title: Annotated[schemas.Text, Field(min_length=1, max_length=1000)]


class TurnListParams(PageParams, AsOfParams):
    """One page of a session's turns, of the `latest` ones, or of those at a past moment."""

    latest: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = None


class ArchiveSessionRequest(schemas.RequestModel):
    """`back` unarchives a session."""

    back: bool = False


@router.get("/sessions", response_model=schemas.SessionPage)
def list_sessions(
    me: CallerMemory, etag: ETag, params: Annotated[SessionListParams, Query()]
) -> Any:
    """List sessions, most recently active first."""
    page = me.sessions(**params.model_dump())
    etag.set(page.items, page.cursor)
    return page


@router.get("/sessions/{session}", response_model=schemas.SessionResponse)
def get_session(me: CallerMemory, session: schemas.Name, etag: ETag) -> Any:
    """Get a session."""
    found = me.session(session)
    etag.set(found)
    return found


@router.get("/sessions/{session}/turns", response_model=schemas.TurnPage)
def list_turns(
    me: CallerMemory,
    renderer: Renderer,
    session: schemas.Name,
    etag: ETag,
    params: Annotated[TurnListParams, Query()],
) -> Any:
    """List a session's turns in order."""
    me.session(session)
    start = decode_offset(params.cursor)
    found = me.turns(session, latest=params.latest, as_of=build_as_of(params))
    turns = [turn for turn in found if turn.position >= start]
    page = turns[: params.limit]
    more = len(turns) > params.limit
    cursor = encode_offset(turns[params.limit].position) if more else None
    etag.set(page, cursor)
    return {"items": renderer.memories(page), "cursor": cursor}


@router.get("/sessions/{session}/memories", response_model=SessionMemoriesResponse)
def list_session_memories(
    me: CallerMemory, renderer: Renderer, session: schemas.Name, params: AsOfQuery
) -> Any:
    """List what was saved in a session, learned from it or concluded from its episodes."""
    found = me.session_memories(session, as_of=build_as_of(params))
    return {"items": renderer.memories(found)}


@router.get("/sessions/{session}/view", response_model=SessionViewResponse)
def view_session(
    me: CallerMemory,
    renderer: Renderer,
    session: schemas.Name,
    params: Annotated[SessionViewParams, Query()],
) -> Any:
    """Get a session as a model should see it, with older turns summarised."""
    view = me.view(session, budget=params.budget)
    turns = renderer.memories(view.turns)
    return {"turns": turns, "summary": view.summary, "hidden": view.hidden}


@router.get("/sessions/{session}/count", response_model=CountTurnsResponse)
def count_turns(me: CallerMemory, session: schemas.Name, params: AsOfQuery) -> Any:
    """Count a session's turns, including deleted ones."""
    return {"turns": me.count_turns(session, as_of=build_as_of(params))}


@router.post("/sessions/{session}/turns", response_model=schemas.StoredTurns)
def append_turns(
    me: CallerMemory, renderer: Renderer, session: schemas.Name, body: AppendTurnsRequest
) -> Any:
    """Append turns to a session, which is created if it does not exist."""
    verb = me.learn if body.learn else me.append
    turns = verb(dump_turns(body.turns), session, title=body.title)
    return {"session_id": session, "turns": renderer.memories(turns)}


@router.post("/sessions/{session}/close", response_model=schemas.SessionResponse, status_code=202)
def close_session(me: CallerMemory, session: schemas.Name) -> Any:
    """Close a session and learn from its new turns. Idempotent.

    The body is ignored, so that a page can call this with `navigator.sendBeacon`.
    """
    return me.close(session)


@router.put("/sessions/{session}/title", response_model=schemas.SessionResponse)
def rename_session(me: CallerMemory, session: schemas.Name, body: RenameSessionRequest) -> Any:
    """Rename a session."""
    return me.rename(session, body.title)


@router.post("/sessions/{session}/archive", response_model=schemas.SessionResponse)
def archive_session(me: CallerMemory, session: schemas.Name, body: ArchiveSessionRequest) -> Any:
    """Archive or unarchive a session."""
    return me.archive(session, back=body.back)


@router.delete("/sessions/{session}", response_model=Batch)
def delete_session(me: CallerMemory, session: schemas.Name, params: DeleteQuery) -> Any:
    """Move a session to the trash. Memories learned from it stay."""
    return me.delete_session(session, for_good=params.for_good)


@router.post("/sessions/{session}/restore", response_model=Batch)
def restore_session(me: CallerMemory, session: schemas.Name) -> Any:
    """Restore a session from the trash."""
    return me.restore_session(session)


@router.get("/rejected", response_model=schemas.RejectionPage)
def list_rejections(me: CallerMemory, etag: ETag, params: PageQuery) -> Any:
    """List statements that were extracted but rejected, with reasons."""
    page = me.rejected(limit=params.limit, cursor=params.cursor)
    etag.set(page.items, page.cursor)
    return page
