"""What the script of the pages asks for: what the palette finds, and whether anything is new."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from remembrancer.errors import ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server.pages.filters import asked
from remembrancer.server.pages.page_context import Frame, Framed
from remembrancer.types import Session

router = APIRouter()

SETTINGS = (
    ("/settings/keys", "Keys"),
    ("/settings/checks", "Checks"),
    ("/settings/erase", "Erase me"),
    ("/how-it-works", "How it works"),
)
MOST_SESSIONS = 200


@router.get("/palette.json")
def palette(frame: Framed) -> Response:
    """What fits the words: pages, memories, rules and conversations."""
    q = asked(frame.request.query_params).q
    items = _pages(frame, q)
    if not frame.isolated:
        me = frame.me
        items += _sessions(me, q)
        items += _memories(frame, me, q) if q else []
        items += _actions(q)
    return JSONResponse({"items": items})


def _actions(q: str) -> list[dict[str, Any]]:
    """What can be done from the palette: each is a form that the page sends."""
    undo = {"kind": "action", "name": "Undo the latest change", "post": "/undo", "fields": {}}
    remember = {"kind": "action", "name": f"Remember: {q}", "post": "/remember"}
    fitting: list[dict[str, Any]] = [undo] if q.casefold() in "undo the latest change" else []
    return [*fitting, *([{**remember, "fields": {"content": q}}] if q else [])]


def _pages(frame: Frame, q: str) -> list[dict[str, Any]]:
    named = {"/chat": "New chat"}
    links = [(href, named.get(href, name)) for href, name in (*frame.links(), *SETTINGS)]
    return [_item("page", name, href) for href, name in links if q.casefold() in name.casefold()]


def _sessions(me: Memory, q: str) -> list[dict[str, Any]]:
    def named(one: Session) -> str:
        return one.title or one.id

    found = me.sessions(limit=MOST_SESSIONS if q else 3).items
    fitting = [one for one in found if q.casefold() in named(one).casefold()][:5]
    return [_item("conversation", named(one), f"/chat/{quote(one.id, safe='')}") for one in fitting]


def _memories(frame: Frame, me: Memory, q: str) -> list[dict[str, Any]]:
    kinds = [kind for kind in ("fact", "rule") if kind in frame.profile.recall.kinds]
    found = me.recall(q, kinds=kinds, limit=8, used=False, minimum_importance=0)
    return [_item(one.memory.kind, one.memory.content, f"/memory/{one.memory.id}") for one in found]


def _item(kind: str, name: str, href: str) -> dict[str, Any]:
    return {"kind": str(kind), "name": name, "href": href}


@router.get("/live.json")
def live(frame: Framed) -> Response:
    """The latest thing that happened: another one means that a page is no longer up to date."""
    try:
        latest: Any = frame.me.activity(limit=1).items
    except ScopeRequired:
        latest = ()
    return JSONResponse({"latest": latest[0].id if latest else ""})
