"""Conversations: what was said, and what was remembered of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import Batch, Session, SessionStatus

router = APIRouter()

PAGE_SIZE = 50
MAX_TURNS_SHOWN = 200
"""How many turns are shown at once."""


def _rename(me: Memory, id: str, form: Form) -> Batch | str:
    me.rename(id, form.get("title"))
    return "renamed"


def _archive(me: Memory, id: str, form: Form) -> Batch | str:
    me.archive(id)
    return "archived"


def _unarchive(me: Memory, id: str, form: Form) -> Batch | str:
    me.archive(id, back=True)
    return "unarchived"


ACTIONS: dict[str, Callable[[Memory, str, Form], Batch | str]] = {
    "rename": _rename,
    "archive": _archive,
    "unarchive": _unarchive,
    "delete": lambda me, one, _: me.delete_session(one),
    "restore": lambda me, one, _: me.restore_session(one),
}


@router.get("/conversations")
def show_conversations(frame: CurrentPage) -> Response:
    """All conversations by how long ago they were, or those in which something was said."""
    me, wanted = frame.me, parse_filters(frame.request.query_params)
    if wanted.q:
        said = me.recall(wanted.q, kinds=["turn"], limit=40, used=False, minimum_importance=0)
        turns = [frame.build_card(one.memory, me) for one in said]
        return frame.render("said.html", "Conversations", wanted=wanted, turns=turns)
    page = me.sessions(limit=PAGE_SIZE, status=wanted.status or None, cursor=wanted.cursor or None)
    return frame.render(
        "conversations.html",
        "Conversations",
        wanted=wanted,
        groups=group_by_recency(frame, page.items),
        cursor=page.cursor,
    )


def group_by_recency(frame: PageContext, sessions: Iterable[Session]) -> dict[str, list[Session]]:
    """Conversations by how long ago something was said in them, those that were put away apart."""
    today = frame.now.astimezone(frame.zone).date()
    groups: dict[str, list[Session]] = {}
    archived = []
    for one in sessions:
        if one.status is SessionStatus.ARCHIVED:
            archived.append(one)
            continue
        days = (today - one.active_at.astimezone(frame.zone).date()) / timedelta(days=1)
        name = "Today" if days < 1 else "Yesterday" if days < 2 else "Previous 7 days"
        if days > 7:
            name = "Older"
        groups.setdefault(name, []).append(one)
    return groups | ({"Archived": archived} if archived else {})


@router.get("/conversations/{id}")
def show_conversation(frame: CurrentPage, id: schemas.Name) -> Response:
    """What was said in one conversation, and the memories that come from it."""
    me = frame.me
    session = me.session(id)
    turns = me.turns(id)
    memories = me.list(session=id, minimum_importance=0)
    return frame.render(
        "conversation.html",
        session.title or session.id,
        session=session,
        turns=turns[-MAX_TURNS_SHOWN:],
        left_out=max(0, len(turns) - MAX_TURNS_SHOWN),
        memories=[frame.build_card(one, me) for one in memories.items],
    )


@router.post("/conversations/{id}/{verb}")
def change_conversation(
    frame: CurrentPage, id: schemas.Name, verb: str, form: SubmittedForm
) -> Response:
    """Rename a conversation, put it away, throw it away, or bring it back."""
    if verb not in ACTIONS:
        raise NotFound("There is nothing of that name to do.")
    return redirect_back(form, ACTIONS[verb](frame.me, id, form))
