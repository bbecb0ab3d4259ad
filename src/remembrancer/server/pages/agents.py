"""The agents of a user, and the memories of each of them."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import render_loading_page
from remembrancer.server.pages.filters import PageFilters, find_records, parse_filters
from remembrancer.server.pages.kind_lists import group_by_maturity, group_by_subject
from remembrancer.server.pages.page_context import CurrentPage
from remembrancer.types import GLOBAL_SCOPE, Kind, Page, Source

router = APIRouter()

LEARNED_SOURCES = (Source.EXTRACTED, Source.CONSOLIDATED)


@router.get("/agents")
def show_agents(context: CurrentPage) -> Response:
    survey = context.load_survey()
    if survey is None:
        return render_loading_page(context, "Agents")
    counts = dict(survey.stats.by_scope)
    for name in context.engine.settings.agents:
        counts.setdefault(name, 0)
    shared = counts.pop(GLOBAL_SCOPE, 0)
    return context.render("agents.html", "Agents", counts=sorted(counts.items()), shared=shared)


@router.get("/agents/{agent}/memory")
@router.get("/butlers/{agent}/memory")
def show_agent_memory(context: CurrentPage) -> Response:
    """One agent: its facts by subject, its rules and its episodes."""
    filters = parse_filters(context)
    facts = find_records(context, filters, [Kind.FACT])
    learned = [fact for fact in facts.items if fact.source in LEARNED_SOURCES] or [*facts.items]
    kinds = context.profile.recall.kinds
    rules, episodes = (
        find_records(context, PageFilters(), [kind]) if kind in kinds else Page(())
        for kind in (Kind.RULE, Kind.EPISODE)
    )
    return context.render(
        "agent.html",
        context.agent or "Agent",
        filters=filters,
        scopes=[GLOBAL_SCOPE, context.agent],
        categories=list(context.profile.categories),
        groups=group_by_subject(context, facts.items),
        cursor=facts.cursor,
        learned=context.build_cards(learned[:3]),
        rules=group_by_maturity(context, rules.items),
        episodes=context.build_cards(episodes.items[:20]),
        survey=context.load_survey(),
    )
