"""The agents that act for a person, and what each of them knows."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import render_counting_page
from remembrancer.server.pages.filters import MatchingRecords, find_records, parse_filters
from remembrancer.server.pages.kind_lists import group_by_maturity, group_by_subject
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.types import GLOBAL_SCOPE, Kind, Source

router = APIRouter()

LEARNED_SOURCES = (Source.EXTRACTED, Source.CONSOLIDATED)


@router.get("/agents")
def show_agents(frame: CurrentPage) -> Response:
    """Who acts for the person, and how much each of them knows."""
    survey = frame.load_survey(frame.me)
    if survey is None:
        return render_counting_page(frame, "Agents")
    counts = dict(survey.stats.by_scope)
    for name in frame.engine.settings.agents:
        counts.setdefault(name, 0)
    shared = counts.pop(GLOBAL_SCOPE, 0)
    return frame.render("agents.html", "Agents", counts=sorted(counts.items()), shared=shared)


@router.get("/agents/{agent}/memory")
@router.get("/butlers/{agent}/memory")
def show_agent_memory(frame: CurrentPage) -> Response:
    """What one agent knows: facts by subject, its playbook, and what it went through."""
    me, wanted = frame.me, parse_filters(frame.request.query_params)
    facts = find_records(frame, me, wanted, [Kind.FACT])
    learned = [one for one in facts.records if one.source in LEARNED_SOURCES] or facts.records
    kinds = frame.profile.recall.kinds
    rules = (
        find_records(frame, me, parse_filters({}), [Kind.RULE])
        if Kind.RULE in kinds
        else MatchingRecords(())
    )
    episodes = (
        find_records(frame, me, parse_filters({}), [Kind.EPISODE])
        if Kind.EPISODE in kinds
        else MatchingRecords(())
    )
    return frame.render(
        "agent.html",
        frame.agent or "Agent",
        wanted=wanted,
        scopes=[GLOBAL_SCOPE, frame.agent],
        categories=list(frame.profile.categories),
        groups=group_by_subject(frame, me, facts.records),
        cursor=facts.cursor,
        learned=[frame.build_card(one, me) for one in learned[:3]],
        rules=group_by_maturity(frame, me, rules.records),
        episodes=[frame.build_card(one, me) for one in episodes.records[:20]],
        survey=frame.load_survey(me),
    )
