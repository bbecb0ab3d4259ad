"""The activity log with undo, and the trash with restore."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import ActivityEntry, list_activity
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.types import Status

router = APIRouter()


@router.get("/activity")
def show_activity(context: CurrentPage, cursor: str = "") -> Response:
    page = list_activity(context, cursor=cursor or None)
    days: dict[str, list[ActivityEntry]] = {}
    for entry in page.items:
        days.setdefault(context.format_day(entry.event.at), []).append(entry)
    return context.render("activity.html", "Activity", days=days, cursor=page.cursor)


@router.post("/undo")
def undo(context: CurrentPage, form: SubmittedForm) -> Response:
    """Undo the given event, or the latest one."""
    return redirect_back(form, context.me.undo(form.get("event") or None))


@router.get("/trash")
def show_trash(context: CurrentPage, cursor: str = "") -> Response:
    me = context.me
    page = me.list(status=Status.TRASHED, minimum_importance=0, cursor=cursor or None)
    return context.render(
        "trash.html",
        "Trash",
        cards=context.build_cards(page.items),
        cursor=page.cursor,
        sessions=me.sessions(trashed=True).items,
        days=context.profile.deletion.trash_days,
    )
