"""The conversation pages: the list, the message search, and one conversation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.pages import text
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext, PastPage
from remembrancer.server.sent_path import SentPathRoute
from remembrancer.sessions.view import read_brief, select_summarised
from remembrancer.types import Batch, Session, SessionStatus, Status

router = APIRouter(route_class=SentPathRoute)

PAGE_SIZE = 50
MAX_TURNS_SHOWN = 200


@router.get("/conversations")
def show_conversations(context: CurrentPage) -> Response:
    me, filters = context.me, parse_filters(context)
    if filters.q:
        found = me.recall(filters.q, kinds=["turn"], limit=40, used=False, minimum_importance=0)
        turns = [context.build_card(result.memory) for result in found]
        return context.render("message_search.html", "Conversations", filters=filters, turns=turns)
    page = me.sessions(
        limit=PAGE_SIZE, status=filters.status or None, cursor=filters.cursor or None
    )
    return context.render(
        "conversations.html",
        "Conversations",
        filters=filters,
        groups=group_by_recency(context, page.items),
        cursor=page.cursor,
    )


def group_by_recency(context: PageContext, sessions: Iterable[Session]) -> dict[str, list[Session]]:
    """Conversations by the age of their last message; archived ones come last."""
    today = context.now.astimezone(context.zone).date()
    groups: dict[str, list[Session]] = {}
    archived = []
    for session in sessions:
        if session.status is SessionStatus.ARCHIVED:
            archived.append(session)
            continue
        days = (today - session.active_at.astimezone(context.zone).date()) / timedelta(days=1)
        name = "Today" if days < 1 else "Yesterday" if days < 2 else "Previous 7 days"
        if days > 7:
            name = "Older"
        groups.setdefault(name, []).append(session)
    return groups | ({"Archived": archived} if archived else {})


@router.get("/conversations/{id}")
def show_conversation(context: PastPage, id: schemas.Name) -> Response:
    """The messages of one conversation, and its memories; its title and summary are today's."""
    me, then = context.me, context.past.as_of if context.past else None
    memories = context.build_cards(me.session_memories(id, as_of=then))
    try:
        session = me.session(id)
    except NotFound:
        if not memories and not _is_cited(me, id):
            raise
        return context.render("session.html", "Session", session=id, memories=memories)
    turns = me.turns(id, as_of=then)
    limits = me.profile.sessions
    active = [turn for turn in turns if turn.status is Status.ACTIVE]
    return context.render(
        "conversation.html",
        session.title or text.UNTITLED,
        session=session,
        in_brief=0 if then else len(select_summarised(active, limits, limits.context_tokens)),
        brief=read_brief(session),
        turns=turns[-MAX_TURNS_SHOWN:],
        left_out=max(0, len(turns) - MAX_TURNS_SHOWN),
        memories=memories,
    )


def _is_cited(me: Memory, id: str) -> bool:
    """True if a memory that is no longer in force names the session."""
    return any(
        me.list(session=id, status=status, minimum_importance=0, limit=1).items for status in Status
    )


@router.post("/conversations/{id}/{verb}")
def change_conversation(
    context: CurrentPage, id: schemas.Name, verb: str, form: SubmittedForm
) -> Response:
    return redirect_back(form, _run_action(context.me, id, verb, form))


def _run_action(me: Memory, id: str, verb: str, form: Form) -> Batch | str:
    """Run an action; returns what the toast says or can undo."""
    match verb:
        case "rename":
            me.rename(id, form.get("title"))
            return "renamed"
        case "archive" | "unarchive":
            me.archive(id, back=verb == "unarchive")
            return f"{verb}d"
        case "delete":
            return me.delete_session(id)
        case "restore":
            return me.restore_session(id)
    raise NotFound("This action does not exist.")
