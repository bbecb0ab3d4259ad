"""The activity log with undo, and the trash with restore and deletion for good."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import ActivityEntry, list_activity
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.types import Status

router = APIRouter()

MAX_FORGOTTEN_SHOWN = 50


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
    forgotten = me.list(status=Status.FORGOTTEN, minimum_importance=0, limit=MAX_FORGOTTEN_SHOWN)
    return context.render(
        "trash.html",
        "Trash",
        cards=context.build_cards(page.items),
        cursor=page.cursor,
        forgotten=context.build_cards(() if cursor else forgotten.items),
        sessions=me.sessions(trashed=True).items,
        days=context.profile.deletion.trash_days,
    )


@router.post("/trash/delete")
def delete_for_good(context: CurrentPage, form: SubmittedForm) -> Response:
    """Delete a memory or a conversation for good; asks first."""
    name = "session" if form.get("session") else "id"
    value = form.get(name)
    is_session = name == "session"
    if form.get("sure"):
        done = context.me.delete_session if is_session else context.me.delete
        return redirect_back(form, done(value, for_good=True))
    context.return_path = f"{context.root}/trash"
    said = context.me.session(value).title if is_session else context.me.get(value).content
    title = "Delete for good"
    return context.render("trash_delete.html", title, said=said, name=name, value=value)
