"""What happened, with undo, and what was thrown away, with the way back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import Happening, happenings
from remembrancer.server.pages.forms import Sent, back
from remembrancer.server.pages.page_context import Framed
from remembrancer.types import Status

router = APIRouter()


@router.get("/activity")
def activity(frame: Framed, cursor: str = "") -> Response:
    """Everything that happened, day by day."""
    page = happenings(frame, frame.me, cursor=cursor or None)
    days: dict[str, list[Happening]] = {}
    for one in page.items:
        days.setdefault(frame.day(one.event.at), []).append(one)
    return frame.show("activity.html", "Activity", days=days, cursor=page.cursor)


@router.post("/undo")
def undo(frame: Framed, form: Sent) -> Response:
    """Take back one thing that happened, or the latest."""
    return back(form, frame.me.undo(form.get("event") or None))


@router.get("/trash")
def trash(frame: Framed, cursor: str = "") -> Response:
    """What was thrown away and can be brought back."""
    me = frame.me
    page = me.list(status=Status.TRASHED, minimum_importance=0, cursor=cursor or None)
    return frame.show(
        "trash.html",
        "Trash",
        cards=[frame.card(one, me) for one in page.items],
        cursor=page.cursor,
        sessions=me.sessions(trashed=True).items,
        days=frame.profile.deletion.trash_days,
    )
