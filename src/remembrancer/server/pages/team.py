"""The team pages for administrators: statistics, review queue, all facts, and people."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Depends
from starlette.responses import Response

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.guard.reasons import explain_rules
from remembrancer.server import schemas
from remembrancer.server.deps import TeamReview
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.charts import Chart
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.team.review import EDIT_CAPABILITY, STATS_WEEKS, Review, TeamStats
from remembrancer.team.service import ProposalOutcome
from remembrancer.text_format import pluralize
from remembrancer.types import TeamKind, TeamOrigin, TeamStatus

router = APIRouter()

PAGE_SIZE = 40

STEPS = ("say", "check", "hold", "agree", "share")

DECISIONS: dict[str, tuple[Callable[..., object], str]] = {
    "approve": (Review.approve, "approved"),
    "reject": (Review.reject, "rejected"),
    "reopen": (Review.reopen, "reopened"),
    "delete": (Review.delete, "removed"),
}


PROPOSAL_MESSAGES = {
    ProposalOutcome.PENDING: "proposed",
    ProposalOutcome.CORROBORATED: "corroborated",
    ProposalOutcome.APPROVED: "approved",
    ProposalOutcome.KNOWN: "known",
}


def require_team(context: CurrentPage) -> None:
    """Raises NotFound in profiles without a team memory; their users can still be looked after."""
    if not context.profile.team.enabled:
        raise NotFound(f"The profile {context.profile.name!r} has no team memory.")


NeedsTeam = Depends(require_team)


@router.get("/team", dependencies=[NeedsTeam])
def show_stats(context: CurrentPage, review: TeamReview) -> Response:
    stats = review.stats()
    pending = stats.by_status.get(TeamStatus.PENDING, 0)
    total = sum(stats.by_status.values())
    return context.render(
        "team.html",
        "Team",
        stats=stats,
        pending=pending,
        total=total,
        edit=EDIT_CAPABILITY,
        activity=_build_activity_rows(stats),
        weeks=STATS_WEEKS,
        charts=_build_charts(stats, pending, total),
        drawing=charts.draw_cycle("From a message to shared team knowledge", STEPS),
    )


def _build_activity_rows(stats: TeamStats) -> list[dict[str, object]]:
    """What became of the proposals of each origin, with the reasons for refusals in words."""
    return [
        {
            "origin": origin,
            "runs": one.runs,
            "proposed": one.proposed,
            "merged": f"{one.merge_rate:.0%}",
            "refused": one.refused,
            "reasons": [(explain_rules([rule])[0], number) for rule, number in one.by_rule.items()],
        }
        for origin, one in stats.activity.items()
    ]


def _build_charts(stats: TeamStats, pending: int, total: int) -> list[Chart]:
    return [
        charts.draw_shares(
            "Decisions",
            f"{pending:,} of {pluralize(total, 'proposal')} waiting for a decision.",
            {name: stats.by_status.get(name, 0) for name in ("approved", "pending", "rejected")},
        ),
        charts.draw_bars(
            "Proposals by kind",
            f"{pluralize(total, 'proposal')} in all.",
            {str(kind): stats.by_kind.get(kind, 0) for kind in TeamKind},
        ),
        charts.draw_bars(
            "Proposals by author",
            "By kind of author; names are not stored.",
            {str(origin): stats.by_origin.get(origin, 0) for origin in TeamOrigin},
        ),
        charts.draw_bars(
            "Contributions per week",
            f"{pluralize(stats.said, 'contribution')} in all; {stats.merged:.0%} confirmed an "
            "existing proposal.",
            text.label_weeks(stats.weeks),
            label_ends_only=True,
        ),
    ]


@router.get("/team/review", dependencies=[NeedsTeam])
def show_review_queue(
    context: CurrentPage, review: TeamReview, show: str = "", cursor: str = ""
) -> Response:
    """Pending proposals: all, those of a single person, or contested ones."""
    page = review.list(
        status=TeamStatus.PENDING,
        single=show == "single",
        contested=show == "contested",
        limit=PAGE_SIZE,
        cursor=cursor or None,
    )
    return context.render(
        "review.html",
        "Review",
        show=show,
        entries=page.items,
        rivals=review.rivals(page.items),
        cursor=page.cursor,
        edit=EDIT_CAPABILITY,
    )


@router.get("/team/manage", dependencies=[NeedsTeam])
def show_all_facts(
    context: CurrentPage,
    review: TeamReview,
    status: str = "",
    kind: str = "",
    origin: str = "",
    q: str = "",
    cursor: str = "",
) -> Response:
    """All team facts, with filters."""
    page = review.list(
        status=status or None,
        kind=kind or None,
        origin=origin or None,
        words=q.strip() or None,
        limit=PAGE_SIZE,
        cursor=cursor or None,
    )
    return context.render(
        "manage.html",
        "Manage",
        filters={"status": status, "kind": kind, "origin": origin, "q": q},
        entries=page.items,
        rivals=review.rivals(page.items),
        cursor=page.cursor,
        edit=EDIT_CAPABILITY,
        choices={"status": list(TeamStatus), "kind": list(TeamKind), "origin": list(TeamOrigin)},
    )


@router.post("/team/decide", dependencies=[NeedsTeam])
def apply_decision(review: TeamReview, form: SubmittedForm) -> Response:
    """Apply a decision to all selected facts, or to the one whose button was pressed."""
    action, _, fact_id = form.get("one").partition(":")
    action, ids = (action, [fact_id]) if fact_id else (form.get("do"), form.get_all("id"))
    if action not in DECISIONS:
        raise NotFound("This action does not exist.")
    if not ids:
        raise InvalidInput("Nothing is selected. Select the entries to decide on.")
    decide, message = DECISIONS[action]
    decide(review, *ids)
    return redirect_back(form, message)


@router.post("/team/propose", dependencies=[NeedsTeam])
def propose(context: CurrentPage, review: TeamReview, form: SubmittedForm) -> Response:
    """Propose a fact; whoever may edit can approve it at once."""
    can_approve = bool(form.get("approve"))
    if can_approve:
        review.require_edit()
    importance = form.get_number("importance")
    proposed = context.me.propose(
        form.get("content"),
        kind=form.get("kind") or TeamKind.FACT,
        importance=3 if importance is None else importance,
    )
    if proposed.fact_id is None or proposed.status is TeamStatus.REJECTED:
        raise InvalidInput(context.me.explain_proposal(proposed))
    if can_approve and proposed.status is TeamStatus.PENDING:
        review.approve(proposed.fact_id)
        return redirect_back(form, "approved")
    return redirect_back(form, PROPOSAL_MESSAGES[proposed.verdict])


@router.post("/team/facts/{id}", dependencies=[NeedsTeam])
def edit_fact(review: TeamReview, id: schemas.Name, form: SubmittedForm) -> Response:
    """Change the text or the importance of a team fact."""
    before = review.get(id).fact
    content, importance = form.get("content"), form.get_number("importance")
    if content and content != before.content:
        review.edit(id, content)
    if importance is not None and importance != before.importance:
        review.set_importance(id, importance)
    return redirect_back(form, "saved")


@router.get("/team/people")
def show_people(context: CurrentPage, review: TeamReview) -> Response:
    """The names of all users with stored data."""
    return context.render("people.html", "People", people=review.people())


@router.get("/team/people/{user}")
def show_person(context: CurrentPage, review: TeamReview, user: schemas.Name) -> Response:
    """How much data of a user is stored; the view is logged in their activity."""
    return context.render("person.html", user, person=review.person(user), edit=EDIT_CAPABILITY)


@router.post("/team/people/{user}/erase")
def erase_person(
    context: CurrentPage, review: TeamReview, user: schemas.Name, form: SubmittedForm
) -> Response:
    """Erase all data of a user, if their name was typed."""
    review.require_edit()
    confirm_name(form, user)
    receipt = context.engine.erase(user, tenant=context.caller.owner.tenant)
    return context.render("receipt.html", "Erased", receipt=receipt, own=False)


@router.post("/team/people/{user}/withdraw")
def withdraw_contributions(
    context: CurrentPage, review: TeamReview, user: schemas.Name, form: SubmittedForm
) -> Response:
    """Remove what a user said for the team, and nothing else, if their name was typed."""
    review.require_edit()
    confirm_name(form, user)
    tenant = context.caller.owner.tenant
    receipt = context.engine.erase(user, tenant=tenant, contributions_only=True)
    return context.render("receipt.html", "Withdrawn", receipt=receipt, own=False)


def confirm_name(form: Form, user: str) -> None:
    """Raise InvalidInput unless the name of the user to erase was typed."""
    if form.get("name") != user:
        raise InvalidInput(f"Nothing was erased. Type the name {user!r} to confirm.")
