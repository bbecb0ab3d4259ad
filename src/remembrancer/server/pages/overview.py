"""The overview: what is remembered at a glance, and one search over all of it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from remembrancer.maintenance.runner import Scheduled
from remembrancer.maintenance.stats import BESIDES_TURNS, Survey
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.activity_feed import counting, happenings
from remembrancer.server.pages.charts import Chart
from remembrancer.server.pages.filters import asked, found
from remembrancer.server.pages.forms import Sent, back
from remembrancer.server.pages.page_context import THEME, THEMES, Frame, Framed
from remembrancer.types import Permanence, Status

router = APIRouter()

YEAR = 31_536_000


@router.get("/memory")
def overview(frame: Framed) -> Response:
    """What is remembered, what happened to it, and how it is doing."""
    if frame.isolated and frame.agent is None:
        return RedirectResponse("/instances", 303)
    me, wanted = frame.me, asked(frame.request.query_params)
    scopes = frame.scopes(me)
    if wanted.narrowed:
        result = found(frame, me, wanted, BESIDES_TURNS)
        cards = [frame.card(one, me) for one in result.records]
        return frame.show(
            "search.html", "Search", wanted=wanted, scopes=scopes, cards=cards, cursor=result.cursor
        )
    survey = frame.survey(me)
    if survey is None:
        return counting(frame, "Overview")
    consolidation = next(one for one in frame.engine.schedule() if one.job == "consolidate")
    return frame.show(
        "overview.html",
        "Overview",
        wanted=wanted,
        scopes=scopes,
        survey=survey,
        numbers=_numbers(survey),
        charts=_charts(frame, survey),
        backlog=_backlog(frame, survey, consolidation),
        feed=happenings(frame, me, limit=12).items,
    )


def _numbers(survey: Survey) -> list[tuple[str, str, str, str]]:
    """The cards on top: a number, what it counts, what it is made of, and where to go."""
    kinds = {kind: counts.get(Status.ACTIVE, 0) for kind, counts in survey.stats.by_kind.items()}
    permanences = survey.permanences
    made_of = [f"{permanences[one]:,} {one}" for one in Permanence if permanences.get(one)]
    matured = [
        f"{count:,} {text.matured(one, count)}" for one, count in survey.maturities.items() if count
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


def _charts(frame: Frame, survey: Survey) -> list[Chart]:
    effect = survey.effect
    strong = sum(survey.confidence[4:])
    total = sum(survey.confidence)
    share = f"{round(100 * strong / total)} %" if total else "None"
    tried = effect.helping + effect.doubtful + effect.warning
    helping = f"{effect.helping} of {tried} rules that were tried help" if tried else ""
    return [
        charts.bars(
            "How far memories are believed",
            f"{share} of {text.counted(total, 'fact and rule', 'facts and rules')} "
            "are sure or certain.",
            dict(zip(text.CONFIDENCE, survey.confidence, strict=True)),
            rising=True,
        ),
        charts.shares(
            "Whether rules help",
            f"{helping or 'No rule was tried yet'}.",
            {
                "help": effect.helping,
                "never tried": effect.untried,
                "doubtful": effect.doubtful,
                "warnings": effect.warning,
            },
        ),
        charts.bars(
            "What was learned, week by week",
            f"{text.counted(sum(survey.growth), 'memory', 'memories')} in twelve weeks "
            "that are still there.",
            text.by_week(survey.growth),
            ends=True,
        ),
    ]


def _backlog(frame: Frame, survey: Survey, job: Scheduled) -> str:
    """One sentence on the episodes that nothing was concluded from yet."""
    waiting = survey.stats.backlog
    waits = f"{text.counted(waiting, 'episode')} {'waits' if waiting == 1 else 'wait'}"
    last = f"last done {frame.ago(job.finished_at)}" if job.finished_at else "never done yet"
    return f"{waits if waiting else 'No episode waits'} to be looked through; {last}."


@router.post("/theme")
def theme(form: Sent) -> Response:
    """Choose light, dark, or what the system says."""
    answer = back(form)
    chosen = form.get("theme")
    if chosen in THEMES:
        answer.set_cookie(THEME, chosen, max_age=YEAR, path="/", httponly=True, samesite="strict")
    return answer


@router.post("/remember")
def remember(frame: Framed, form: Sent) -> Response:
    """Keep one thing that was typed in."""
    details = {name: form.get(name) for name in ("kind", "scope") if form.get(name)}
    done = frame.me.remember(form.get("content"), **details)  # type: ignore[arg-type]
    return back(form, done if done.event else "known")
