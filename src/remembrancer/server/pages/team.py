"""What the team knows, for whoever looks after it: numbers, the queue, everything, and people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.server import schemas
from remembrancer.server.deps import the_desk
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.charts import Chart
from remembrancer.server.pages.forms import Form, Sent, back
from remembrancer.server.pages.page_context import Framed
from remembrancer.team.review import EDIT, Review, TeamStats
from remembrancer.types import TeamKind, TeamOrigin, TeamStatus

router = APIRouter()

Desk = Annotated[Review, Depends(the_desk)]

PAGE = 40

STEPS = ("say", "check", "hold", "agree", "tell")

DECISIONS: dict[str, tuple[Callable[..., object], str]] = {
    "approve": (Review.approve, "approved"),
    "reject": (Review.reject, "rejected"),
    "reopen": (Review.reopen, "reopened"),
    "delete": (Review.delete, "removed"),
}


@router.get("/team")
def stats(frame: Framed, desk: Desk) -> Response:
    """How much the team knows, and how it came to be."""
    found = desk.stats()
    pending = found.by_status.get(TeamStatus.PENDING, 0)
    total = sum(found.by_status.values())
    return frame.show(
        "team.html",
        "Team",
        stats=found,
        pending=pending,
        total=total,
        charts=_charts(found, pending, total),
        drawing=charts.loop("From what someone says to what the team is told", STEPS),
    )


def _charts(found: TeamStats, pending: int, total: int) -> list[Chart]:
    return [
        charts.shares(
            "What became of it",
            f"{text.counted(pending, 'proposal')} of {total:,} waiting for a decision.",
            {one: found.by_status.get(one, 0) for one in ("approved", "pending", "rejected")},
        ),
        charts.bars(
            "What it is about",
            f"{text.counted(total, 'thing')} that were said to the team.",
            {str(one): found.by_kind.get(one, 0) for one in TeamKind},
        ),
        charts.bars(
            "Who proposed it",
            "By class of author; who it was is known to nobody.",
            {str(one): found.by_origin.get(one, 0) for one in TeamOrigin},
        ),
        charts.bars(
            "What was said, week by week",
            f"In all {text.counted(found.said, 'time')}, {found.merged:.0%} of which confirmed "
            "what someone had said before.",
            text.by_week(found.weeks),
            ends=True,
        ),
    ]


@router.get("/team/review")
def review(frame: Framed, desk: Desk, show: str = "", cursor: str = "") -> Response:
    """What waits for a decision: all, what one person alone said, or what is contradicted."""
    page = desk.list(
        status=TeamStatus.PENDING,
        single=show == "single",
        contested=show == "contested",
        limit=PAGE,
        cursor=cursor or None,
    )
    return frame.show(
        "review.html", "Review", show=show, entries=page.items, cursor=page.cursor, edit=EDIT
    )


@router.get("/team/manage")
def manage(
    frame: Framed,
    desk: Desk,
    status: str = "",
    kind: str = "",
    origin: str = "",
    q: str = "",
    cursor: str = "",
) -> Response:
    """Everything that was said to the team, with what was decided."""
    page = desk.list(
        status=status or None,
        kind=kind or None,
        origin=origin or None,
        words=q.strip() or None,
        limit=PAGE,
        cursor=cursor or None,
    )
    return frame.show(
        "manage.html",
        "Manage",
        asked={"status": status, "kind": kind, "origin": origin, "q": q},
        entries=page.items,
        cursor=page.cursor,
        edit=EDIT,
        choices={"status": list(TeamStatus), "kind": list(TeamKind), "origin": list(TeamOrigin)},
    )


@router.post("/team/decide")
def decide(desk: Desk, form: Sent) -> Response:
    """Decide about everything that is ticked, or about one."""
    ids = [form.get("only")] if form.get("only") else form.all("id")
    if form.get("do") not in DECISIONS:
        raise NotFound("There is nothing of that name to do.")
    if not ids:
        raise InvalidInput("Nothing is ticked: choose what to decide about.")
    act, said = DECISIONS[form.get("do")]
    act(desk, *ids)
    return back(form, said)


@router.post("/team/facts/{id}")
def edit(desk: Desk, id: schemas.Name, form: Sent) -> Response:
    """Give a team fact other words, or say how much it matters."""
    before = desk.get(id).fact
    content, importance = form.get("content"), form.number("importance")
    if content and content != before.content:
        desk.edit(id, content)
    if importance is not None and importance != before.importance:
        desk.set_importance(id, importance)
    return back(form, "saved")


@router.get("/team/people")
def people(frame: Framed, desk: Desk) -> Response:
    """Who has a memory here, by name and nothing else."""
    return frame.show("people.html", "People", people=desk.people())


@router.get("/team/people/{user}")
def person(frame: Framed, desk: Desk, user: schemas.Name) -> Response:
    """How much there is of someone, who then sees that it was looked at."""
    return frame.show("person.html", user, person=desk.person(user), edit=EDIT)


@router.post("/team/people/{user}/erase")
def erase(frame: Framed, desk: Desk, user: schemas.Name, form: Sent) -> Response:
    """Remove everything of someone, if their name is typed."""
    desk.require_edit()
    confirm_name(form, user)
    receipt = frame.engine.erase(user, tenant=frame.caller.owner.tenant)
    return frame.show("receipt.html", "Erased", receipt=receipt, own=False)


def confirm_name(form: Form, user: str) -> None:
    """Refuse unless the name of whoever is to be erased was typed."""
    if form.get("name") != user:
        raise InvalidInput(f"Nothing was erased: type the name {user!r} to erase {user}.")
