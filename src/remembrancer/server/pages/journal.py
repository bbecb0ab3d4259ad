"""The journal: all facts by category, saved replies, and recently forgotten memories."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import NOTE_TAG, Fact, Kind, Status

router = APIRouter()

MAX_FORGOTTEN_SHOWN = 20
MAX_NOTES_SHOWN = 50


@router.get("/journal/memory")
def show_journal(context: CurrentPage, cursor: str = "") -> Response:
    me = context.me
    page = me.list(kinds=[Kind.FACT], minimum_importance=0, limit=100, cursor=cursor or None)
    groups: dict[str, list[Card]] = {
        name: [] for name in context.profile.categories if not cursor or page.items
    }
    for record in page.items:
        if isinstance(record, Fact):
            groups.setdefault(record.category, []).append(context.build_card(record))
    forgotten = me.list(status=Status.FORGOTTEN, minimum_importance=0, limit=MAX_FORGOTTEN_SHOWN)
    notes = me.list(
        kinds=[Kind.EPISODE], tags=[NOTE_TAG], minimum_importance=0, limit=MAX_NOTES_SHOWN
    )
    return context.render(
        "journal.html",
        "Journal",
        groups={name: cards for name, cards in groups.items() if cards},
        about={name: category.description for name, category in context.profile.categories.items()},
        forgotten=context.build_cards(forgotten.items),
        notes=context.build_cards(notes.items),
        cursor=page.cursor,
        starts_with=_list_loaded(context),
    )


def _list_loaded(context: PageContext) -> frozenset[str] | None:
    """The ids of the facts that a new chat starts with; None if the prompt decides that."""
    if context.profile.context.style != "hot_set":
        return None
    return frozenset(context.me.context().memories)
