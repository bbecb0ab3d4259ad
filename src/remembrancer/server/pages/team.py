"""What the team knows, for whoever looks after it: numbers, the queue, everything, and people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.server import schemas
from remembrancer.server.deps import get_review
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.charts import Chart
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.team.review import EDIT_CAPABILITY, Review, TeamStats
from remembrancer.types import TeamKind, TeamOrigin, TeamStatus

router = APIRouter()

TeamReview = Annotated[Review, Depends(get_review)]

PAGE_SIZE = 40

STEPS = ("say", "check", "hold", "agree", "tell")

DECISIONS: dict[str, tuple[Callable[..., object], str]] = {
    "approve": (Review.approve, "approved"),
    "reject": (Review.reject, "rejected"),
    "reopen": (Review.reopen, "reopened"),
    "delete": (Review.delete, "removed"),
}


@router.get("/team")
def show_stats(frame: CurrentPage, review: TeamReview) -> Response:
    """How much the team knows, and how it came to be."""
    found = review.stats()
    pending = found.by_status.get(TeamStatus.PENDING, 0)
    total = sum(found.by_status.values())
    return frame.render(
        "team.html",
        "Team",
        stats=found,
        pending=pending,
        total=total,
        charts=_build_charts(found, pending, total),
        drawing=charts.draw_cycle("From what someone says to what the team is told", STEPS),
    )


def _build_charts(found: TeamStats, pending: int, total: int) -> list[Chart]:
    return [
        charts.draw_shares(
            "What became of it",
            f"{text.pluralize(pending, 'proposal')} of {total:,} waiting for a decision.",
            {one: found.by_status.get(one, 0) for one in ("approved", "pending", "rejected")},
        ),
        charts.draw_bars(
            "What it is about",
            f"{text.pluralize(total, 'thing')} that were said to the team.",
            {str(one): found.by_kind.get(one, 0) for one in TeamKind},
        ),
        charts.draw_bars(
            "Who proposed it",
            "By class of author; who it was is known to nobody.",
            {str(one): found.by_origin.get(one, 0) for one in TeamOrigin},
        ),
        charts.draw_bars(
            "What was said, week by week",
            f"In all {text.pluralize(found.said, 'time')}, {found.merged:.0%} of which confirmed "
            "what someone had said before.",
            text.label_weeks(found.weeks),
            label_ends_only=True,
        ),
    ]


@router.get("/team/review")
def show_review_queue(
    frame: CurrentPage, review: TeamReview, show: str = "", cursor: str = ""
) -> Response:
    """What waits for a decision: all, what one person alone said, or what is contradicted."""
    page = review.list(
        status=TeamStatus.PENDING,
        single=show == "single",
        contested=show == "contested",
        limit=PAGE_SIZE,
        cursor=cursor or None,
    )
    return frame.render(
        "review.html",
        "Review",
        show=show,
        entries=page.items,
        cursor=page.cursor,
        edit=EDIT_CAPABILITY,
    )


@router.get("/team/manage")
def show_all_facts(
    frame: CurrentPage,
    review: TeamReview,
    status: str = "",
    kind: str = "",
    origin: str = "",
    q: str = "",
    cursor: str = "",
) -> Response:
    """Everything that was said to the team, with what was decided."""
    page = review.list(
        status=status or None,
        kind=kind or None,
        origin=origin or None,
        words=q.strip() or None,
        limit=PAGE_SIZE,
        cursor=cursor or None,
    )
    return frame.render(
        "manage.html",
        "Manage",
        asked={"status": status, "kind": kind, "origin": origin, "q": q},
        entries=page.items,
        cursor=page.cursor,
        edit=EDIT_CAPABILITY,
        choices={"status": list(TeamStatus), "kind": list(TeamKind), "origin": list(TeamOrigin)},
    )


@router.post("/team/decide")
def apply_decision(review: TeamReview, form: SubmittedForm) -> Response:
    """Decide about everything that is ticked, or about one."""
    ids = [form.get("only")] if form.get("only") else form.get_all("id")
    if form.get("do") not in DECISIONS:
        raise NotFound("There is nothing of that name to do.")
    if not ids:
        raise InvalidInput("Nothing is ticked: choose what to decide about.")
    act, said = DECISIONS[form.get("do")]
    act(review, *ids)
    return redirect_back(form, said)


@router.post("/team/facts/{id}")
def edit_fact(review: TeamReview, id: schemas.Name, form: SubmittedForm) -> Response:
    """Give a team fact other words, or say how much it matters."""
    before = review.get(id).fact
    content, importance = form.get("content"), form.get_number("importance")
    if content and content != before.content:
        review.edit(id, content)
    if importance is not None and importance != before.importance:
        review.set_importance(id, importance)
    return redirect_back(form, "saved")


@router.get("/team/people")
def show_people(frame: CurrentPage, review: TeamReview) -> Response:
    """Who has a memory here, by name and nothing else."""
    return frame.render("people.html", "People", people=review.people())


@router.get("/team/people/{user}")
def show_person(frame: CurrentPage, review: TeamReview, user: schemas.Name) -> Response:
    """How much there is of someone, who then sees that it was looked at."""
    return frame.render("person.html", user, person=review.person(user), edit=EDIT_CAPABILITY)


@router.post("/team/people/{user}/erase")
def erase_person(
    frame: CurrentPage, review: TeamReview, user: schemas.Name, form: SubmittedForm
) -> Response:
    """Remove everything of someone, if their name is typed."""
    review.require_edit()
    confirm_name(form, user)
    receipt = frame.engine.erase(user, tenant=frame.caller.owner.tenant)
    return frame.render("receipt.html", "Erased", receipt=receipt, own=False)


def confirm_name(form: Form, user: str) -> None:
    """Refuse unless the name of whoever is to be erased was typed."""
    if form.get("name") != user:
        raise InvalidInput(f"Nothing was erased: type the name {user!r} to erase {user}.")
