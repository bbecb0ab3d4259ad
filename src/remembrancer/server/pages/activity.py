"""What happened, with undo, and what was thrown away, with the way back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import ActivityEntry, list_activity
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.types import Status

router = APIRouter()


@router.get("/activity")
def show_activity(frame: CurrentPage, cursor: str = "") -> Response:
    """Everything that happened, day by day."""
    page = list_activity(frame, frame.me, cursor=cursor or None)
    days: dict[str, list[ActivityEntry]] = {}
    for one in page.items:
        days.setdefault(frame.format_day(one.event.at), []).append(one)
    return frame.render("activity.html", "Activity", days=days, cursor=page.cursor)


@router.post("/undo")
def undo(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Take back one thing that happened, or the latest."""
    return redirect_back(form, frame.me.undo(form.get("event") or None))


@router.get("/trash")
def show_trash(frame: CurrentPage, cursor: str = "") -> Response:
    """What was thrown away and can be brought back."""
    me = frame.me
    page = me.list(status=Status.TRASHED, minimum_importance=0, cursor=cursor or None)
    return frame.render(
        "trash.html",
        "Trash",
        cards=[frame.build_card(one, me) for one in page.items],
        cursor=page.cursor,
        sessions=me.sessions(trashed=True).items,
        days=frame.profile.deletion.trash_days,
    )
