"""Journal → Memory: everything that is loaded into a chat, by category, and how to take it back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.messages import NOTE
from remembrancer.server.pages.page_context import Framed
from remembrancer.types import Fact, Kind, Status

router = APIRouter()

FORGOTTEN_SHOWN = 20
NOTES_SHOWN = 50


@router.get("/journal/memory")
def memories(frame: Framed, cursor: str = "") -> Response:
    """Every memory in force by its category, replies that were kept, and what was forgotten."""
    me = frame.me
    page = me.list(kinds=[Kind.FACT], minimum_importance=0, limit=100, cursor=cursor or None)
    groups: dict[str, list[Card]] = {
        name: [] for name in frame.profile.categories if not cursor or page.items
    }
    for one in page.items:
        if isinstance(one, Fact):
            groups.setdefault(one.category, []).append(frame.card(one, me))
    forgotten = me.list(status=Status.FORGOTTEN, minimum_importance=0, limit=FORGOTTEN_SHOWN)
    notes = me.list(kinds=[Kind.EPISODE], tags=[NOTE], minimum_importance=0, limit=NOTES_SHOWN)
    return frame.show(
        "journal.html",
        "Journal",
        groups={name: cards for name, cards in groups.items() if cards},
        about={name: one.description for name, one in frame.profile.categories.items()},
        forgotten=[frame.card(one, me) for one in forgotten.items],
        notes=[frame.card(one, me) for one in notes.items],
        cursor=page.cursor,
    )
