"""The overview: what is remembered at a glance, and one search over all of it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from remembrancer.maintenance.runner import ScheduledJob
from remembrancer.maintenance.stats import LISTED_KINDS, Survey
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.activity_feed import list_activity, render_counting_page
from remembrancer.server.pages.charts import Chart
from remembrancer.server.pages.filters import find_records, parse_filters
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import THEME_COOKIE, THEMES, CurrentPage, PageContext
from remembrancer.types import Permanence, Status

router = APIRouter()

YEAR_SECONDS = 31_536_000


@router.get("/memory")
def show_overview(frame: CurrentPage) -> Response:
    """What is remembered, what happened to it, and how it is doing."""
    if frame.isolated and frame.agent is None:
        return RedirectResponse("/instances", 303)
    me, wanted = frame.me, parse_filters(frame.request.query_params)
    scopes = frame.list_scopes(me)
    if wanted.has_filters:
        result = find_records(frame, me, wanted, LISTED_KINDS)
        cards = [frame.build_card(one, me) for one in result.records]
        return frame.render(
            "search.html", "Search", wanted=wanted, scopes=scopes, cards=cards, cursor=result.cursor
        )
    survey = frame.load_survey(me)
    if survey is None:
        return render_counting_page(frame, "Overview")
    consolidation = next(one for one in frame.engine.schedule() if one.job == "consolidate")
    return frame.render(
        "overview.html",
        "Overview",
        wanted=wanted,
        scopes=scopes,
        survey=survey,
        numbers=_build_numbers(survey),
        charts=_build_charts(frame, survey),
        backlog=_describe_backlog(frame, survey, consolidation),
        feed=list_activity(frame, me, limit=12).items,
    )


def _build_numbers(survey: Survey) -> list[tuple[str, str, str, str]]:
    """The cards on top: a number, what it counts, what it is made of, and where to go."""
    kinds = {kind: counts.get(Status.ACTIVE, 0) for kind, counts in survey.stats.by_kind.items()}
    permanences = survey.permanences
    made_of = [f"{permanences[one]:,} {one}" for one in Permanence if permanences.get(one)]
    matured = [
        f"{count:,} {text.name_maturity(one, count)}"
        for one, count in survey.maturities.items()
        if count
    ]
    backlog = survey.stats.backlog
    soon = survey.stats.expiring
    return [
        (f"{kinds.get('fact', 0):,}", "facts", ", ".join(made_of) or "none yet", "/facts"),
        (f"{kinds.get('rule', 0):,}", "rules", ", ".join(matured) or "none yet", "/playbook"),
        (
            f"{kinds.get('episode', 0):,}",
            "episodes",
            f"{backlog:,} not yet looked through" if backlog else "all looked through",
            "/episodes",
        ),
        (
            f"{survey.stats.fading:,}",
            "fading",
            f"{soon:,} will be over within a week" if soon else "nothing ends this week",
            "/facts?status=fading",
        ),
    ]


def _build_charts(frame: PageContext, survey: Survey) -> list[Chart]:
    effect = survey.effect
    strong = sum(survey.confidence[4:])
    total = sum(survey.confidence)
    share = f"{round(100 * strong / total)} %" if total else "None"
    tried = effect.helping + effect.doubtful + effect.warning
    helping = f"{effect.helping} of {tried} rules that were tried help" if tried else ""
    return [
        charts.draw_bars(
            "How far memories are believed",
            f"{share} of {text.pluralize(total, 'fact and rule', 'facts and rules')} "
            "are sure or certain.",
            dict(zip(text.CONFIDENCE_LABELS, survey.confidence, strict=True)),
            rising=True,
        ),
        charts.draw_shares(
            "Whether rules help",
            f"{helping or 'No rule was tried yet'}.",
            {
                "help": effect.helping,
                "never tried": effect.untried,
                "doubtful": effect.doubtful,
                "warnings": effect.warning,
            },
        ),
        charts.draw_bars(
            "What was learned, week by week",
            f"{text.pluralize(sum(survey.growth), 'memory', 'memories')} in twelve weeks "
            "that are still there.",
            text.label_weeks(survey.growth),
            label_ends_only=True,
        ),
    ]


def _describe_backlog(frame: PageContext, survey: Survey, job: ScheduledJob) -> str:
    """One sentence on the episodes that nothing was concluded from yet."""
    waiting = survey.stats.backlog
    waits = f"{text.pluralize(waiting, 'episode')} {'waits' if waiting == 1 else 'wait'}"
    last = f"last done {frame.format_age(job.finished_at)}" if job.finished_at else "never done yet"
    return f"{waits if waiting else 'No episode waits'} to be looked through; {last}."


@router.post("/theme")
def set_theme(form: SubmittedForm) -> Response:
    """Choose light, dark, or what the system says."""
    answer = redirect_back(form)
    chosen = form.get("theme")
    if chosen in THEMES:
        answer.set_cookie(
            THEME_COOKIE, chosen, max_age=YEAR_SECONDS, path="/", httponly=True, samesite="strict"
        )
    return answer


@router.post("/remember")
def remember(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Keep one thing that was typed in."""
    details = {name: form.get(name) for name in ("kind", "scope") if form.get(name)}
    done = frame.me.remember(form.get("content"), **details)  # type: ignore[arg-type]
    return redirect_back(form, done if done.event else "known")
