"""What the script of the pages asks for: what the palette finds, and whether anything is new."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from remembrancer.errors import ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import Session

router = APIRouter()

EXTRA_PAGES = (
    ("/settings/keys", "Keys"),
    ("/settings/checks", "Checks"),
    ("/settings/erase", "Erase me"),
    ("/how-it-works", "How it works"),
)
MAX_SESSIONS = 200


@router.get("/palette.json")
def search_palette(frame: CurrentPage) -> Response:
    """What fits the words: pages, memories, rules and conversations."""
    q = parse_filters(frame.request.query_params).q
    items = _find_pages(frame, q)
    if not frame.isolated:
        me = frame.me
        items += _find_sessions(me, q)
        items += _find_memories(frame, me, q) if q else []
        items += _list_actions(q)
    return JSONResponse({"items": items})


def _list_actions(q: str) -> list[dict[str, Any]]:
    """What can be done from the palette: each is a form that the page sends."""
    undo = {"kind": "action", "name": "Undo the latest change", "post": "/undo", "fields": {}}
    remember = {"kind": "action", "name": f"Remember: {q}", "post": "/remember"}
    fitting: list[dict[str, Any]] = [undo] if q.casefold() in "undo the latest change" else []
    return [*fitting, *([{**remember, "fields": {"content": q}}] if q else [])]


def _find_pages(frame: PageContext, q: str) -> list[dict[str, Any]]:
    named = {"/chat": "New chat"}
    links = [
        (href, named.get(href, name)) for href, name in (*frame.list_nav_items(), *EXTRA_PAGES)
    ]
    return [
        _build_item("page", name, href) for href, name in links if q.casefold() in name.casefold()
    ]


def _find_sessions(me: Memory, q: str) -> list[dict[str, Any]]:
    def named(one: Session) -> str:
        return one.title or one.id

    found = me.sessions(limit=MAX_SESSIONS if q else 3).items
    fitting = [one for one in found if q.casefold() in named(one).casefold()][:5]
    return [
        _build_item("conversation", named(one), f"/chat/{quote(one.id, safe='')}")
        for one in fitting
    ]


def _find_memories(frame: PageContext, me: Memory, q: str) -> list[dict[str, Any]]:
    kinds = [kind for kind in ("fact", "rule") if kind in frame.profile.recall.kinds]
    found = me.recall(q, kinds=kinds, limit=8, used=False, minimum_importance=0)
    return [
        _build_item(one.memory.kind, one.memory.content, f"/memory/{one.memory.id}")
        for one in found
    ]


def _build_item(kind: str, name: str, href: str) -> dict[str, Any]:
    return {"kind": str(kind), "name": name, "href": href}


@router.get("/live.json")
def get_latest_event(frame: CurrentPage) -> Response:
    """The latest thing that happened: another one means that a page is no longer up to date."""
    try:
        latest: Any = frame.me.activity(limit=1).items
    except ScopeRequired:
        latest = ()
    return JSONResponse({"latest": latest[0].id if latest else ""})
