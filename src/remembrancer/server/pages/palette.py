"""JSON for the page script: the results of the search palette, and the latest event."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from remembrancer.errors import ScopeRequired
from remembrancer.server.pages import text
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import Session

router = APIRouter()

EXTRA_PAGES = (
    ("/settings/keys", "API keys"),
    ("/settings/checks", "Health checks"),
    ("/settings/erase", "Erase my data"),
    ("/facts?status=unconfirmed", "To review"),
    ("/how-it-works", "How it works"),
)
MAX_SESSIONS = 200


@router.get("/palette.json")
def search_palette(context: CurrentPage) -> Response:
    """Pages, conversations, memories and actions that match the query."""
    q = parse_filters(context).q
    items = _find_pages(context, q)
    if not context.isolated:
        items += _find_sessions(context, q)
        items += _find_memories(context, q) if q else []
        items += _list_actions(q)
    return JSONResponse({"items": items})


def _list_actions(q: str) -> list[dict[str, Any]]:
    """The actions of the palette; the page submits each as a form."""
    undo = {"kind": "action", "name": "Undo the last change", "post": "/undo", "fields": {}}
    remember = {"kind": "action", "name": f"Remember: {q}", "post": "/remember"}
    matches: list[dict[str, Any]] = [undo] if q.casefold() in "undo the last change" else []
    return [*matches, *([{**remember, "fields": {"content": q}}] if q else [])]


def _find_pages(context: PageContext, q: str) -> list[dict[str, Any]]:
    renamed = {"/chat": text.UNTITLED}
    links = [
        (href, renamed.get(href, name)) for href, name in (*context.list_nav_items(), *EXTRA_PAGES)
    ]
    return [
        _build_item("page", name, href) for href, name in links if q.casefold() in name.casefold()
    ]


def _find_sessions(context: PageContext, q: str) -> list[dict[str, Any]]:
    def title(session: Session) -> str:
        return session.title or f"{text.UNTITLED} of {context.format_day(session.started_at)}"

    sessions = context.me.sessions(limit=MAX_SESSIONS if q else 3).items
    matches = [session for session in sessions if q.casefold() in title(session).casefold()][:5]
    return [
        _build_item("conversation", title(session), context.chat_url(session.id))
        for session in matches
    ]


def _find_memories(context: PageContext, q: str) -> list[dict[str, Any]]:
    kinds = [kind for kind in ("fact", "rule") if kind in context.profile.recall.kinds]
    found = context.me.recall(q, kinds=kinds, limit=8, used=False, minimum_importance=0)
    return [
        _build_item(result.memory.kind, result.memory.content, f"/memory/{result.memory.id}")
        for result in found
    ]


def _build_item(kind: str, name: str, href: str) -> dict[str, Any]:
    return {"kind": str(kind), "name": name, "href": href}


@router.get("/live.json")
def get_latest_event(context: CurrentPage) -> Response:
    """The id of the latest event; a new one tells an open page to refresh."""
    try:
        latest: Any = context.me.activity(limit=1).items
    except ScopeRequired:
        latest = ()
    return JSONResponse({"latest": latest[0].id if latest else ""})
