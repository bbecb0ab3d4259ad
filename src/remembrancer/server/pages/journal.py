"""Journal → Memory: everything that is loaded into a chat, by category, and how to take it back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.messages import NOTE_TAG
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.types import Fact, Kind, Status

router = APIRouter()

MAX_FORGOTTEN_SHOWN = 20
MAX_NOTES_SHOWN = 50


@router.get("/journal/memory")
def show_journal(frame: CurrentPage, cursor: str = "") -> Response:
    """Every memory in force by its category, replies that were kept, and what was forgotten."""
    me = frame.me
    page = me.list(kinds=[Kind.FACT], minimum_importance=0, limit=100, cursor=cursor or None)
    groups: dict[str, list[Card]] = {
        name: [] for name in frame.profile.categories if not cursor or page.items
    }
    for one in page.items:
        if isinstance(one, Fact):
            groups.setdefault(one.category, []).append(frame.build_card(one, me))
    forgotten = me.list(status=Status.FORGOTTEN, minimum_importance=0, limit=MAX_FORGOTTEN_SHOWN)
    notes = me.list(
        kinds=[Kind.EPISODE], tags=[NOTE_TAG], minimum_importance=0, limit=MAX_NOTES_SHOWN
    )
    return frame.render(
        "journal.html",
        "Journal",
        groups={name: cards for name, cards in groups.items() if cards},
        about={name: one.description for name, one in frame.profile.categories.items()},
        forgotten=[frame.build_card(one, me) for one in forgotten.items],
        notes=[frame.build_card(one, me) for one in notes.items],
        cursor=page.cursor,
    )
