"""The overview page, the search over all memories, and the theme switch."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from remembrancer.learn.consolidation.backlog import describe_waiting
from remembrancer.maintenance.runner import ScheduledJob
from remembrancer.maintenance.stats import LISTED_KINDS, Survey
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.activity_feed import list_activity, render_loading_page
from remembrancer.server.pages.charts import Chart
from remembrancer.server.pages.filters import find_page, parse_filters
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.kind_lists import load_review_queue
from remembrancer.server.pages.page_context import (
    THEME_COOKIE,
    THEMES,
    CurrentPage,
    PageContext,
    PastPage,
)
from remembrancer.text_format import pluralize
from remembrancer.types import Permanence, Status

router = APIRouter()

YEAR_SECONDS = 31_536_000
MAX_REVIEW_CARDS = 3


@router.get("/memory")
def show_overview(context: PastPage) -> Response:
    """Counts, charts and recent activity; with filters, the search results."""
    if context.isolated and context.agent is None:
        return RedirectResponse("/instances", 303)
    filters = parse_filters(context)
    if filters.has_filters:
        page, values = find_page(context, LISTED_KINDS)
        cards = context.build_cards(page.items)
        return context.render("search.html", "Search", cards=cards, **values)
    survey = context.load_survey()
    if survey is None:
        return render_loading_page(context, "Overview")
    review = load_review_queue(context)
    consolidation = next(job for job in context.engine.schedule() if job.job == "consolidate")
    return context.render(
        "overview.html",
        "Overview",
        filters=filters,
        scopes=context.list_scopes(),
        agents=context.list_agents(),
        survey=survey,
        numbers=_build_numbers(survey),
        charts=_build_charts(survey),
        backlog=_describe_backlog(context, survey, consolidation),
        review=review,
        doubtful=context.build_cards(review.records[:MAX_REVIEW_CARDS]),
        feed=list_activity(context, limit=12).items,
    )


def _build_numbers(survey: Survey) -> list[tuple[str, str, str, str]]:
    """The tiles on top: number, label, details and link."""
    kinds = {kind: counts.get(Status.ACTIVE, 0) for kind, counts in survey.stats.by_kind.items()}
    permanences = survey.permanences
    by_permanence = [
        f"{permanences[name]:,} {name}" for name in Permanence if permanences.get(name)
    ]
    by_maturity = [
        f"{count:,} {text.name_maturity(maturity, count)}"
        for maturity, count in survey.maturities.items()
        if count
    ]
    backlog = survey.stats.backlog
    waiting = f"{backlog:,} waiting" if backlog else "none waiting"
    expiring = survey.stats.expiring
    ending = f"{expiring:,} will expire this week" if expiring else "none expire this week"
    return [
        (f"{kinds.get('fact', 0):,}", "facts", ", ".join(by_permanence) or "none yet", "/facts"),
        (f"{kinds.get('rule', 0):,}", "rules", ", ".join(by_maturity) or "none yet", "/playbook"),
        (f"{kinds.get('episode', 0):,}", "episodes", waiting, "/episodes"),
        (f"{survey.stats.fading:,}", "fading", ending, "/memory?status=fading"),
    ]


def _build_charts(survey: Survey) -> list[Chart]:
    effect = survey.effect
    high, low = survey.confidence[-1], sum(survey.confidence[:3])
    tried = effect.helping + effect.doubtful + effect.warning
    return [
        charts.draw_bars(
            "How sure the memories are",
            f"Above 80 %: {high:,} of {sum(survey.confidence):,} facts and rules. "
            f"Below 50 %: {low:,}.",
            dict(zip(text.CONFIDENCE_LABELS, survey.confidence, strict=True)),
            graded=True,
        ),
        charts.draw_shares(
            "Do the rules help?",
            f"Helpful: {effect.helping:,} of {pluralize(tried, 'rule')} tried "
            f"({round(100 * effect.helping / tried)} %)."
            if tried
            else "No rule has been tried yet.",
            {
                "helpful": effect.helping,
                "not tried": effect.untried,
                "doubtful": effect.doubtful,
                "warnings": effect.warning,
            },
        ),
        charts.draw_bars(
            "New memories per week",
            f"{pluralize(sum(survey.growth), 'memory', 'memories')} added in twelve weeks "
            "and still kept.",
            text.label_weeks(survey.growth),
            label_ends_only=True,
        ),
    ]


def _describe_backlog(context: PageContext, survey: Survey, job: ScheduledJob) -> str:
    backlog = survey.stats.backlog
    if backlog and context.engine.models.smart is None:
        return f"{describe_waiting(backlog)}."
    waiting = pluralize(backlog, "episode") if backlog else "No episodes"
    last_run = context.format_age(job.finished_at) if job.finished_at else "never"
    return f"{waiting} waiting for consolidation. Last run: {last_run}."


@router.post("/theme")
def set_theme(form: SubmittedForm) -> Response:
    """Set the theme: light, dark, or that of the system."""
    response = redirect_back(form)
    chosen = form.get("theme")
    if chosen in THEMES:
        response.set_cookie(
            THEME_COOKIE, chosen, max_age=YEAR_SECONDS, path="/", httponly=True, samesite="strict"
        )
    return response


@router.post("/remember")
def remember(context: CurrentPage, form: SubmittedForm) -> Response:
    details = {name: form.get(name) for name in ("kind", "scope") if form.get(name)}
    written = context.me.remember(form.get("content"), **details)  # type: ignore[arg-type]
    return redirect_back(form, written if written.event else "known")
