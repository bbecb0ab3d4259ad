"""The agents of a user, and the memories of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.maintenance.stats import Survey
from remembrancer.remember.provenance import trace_provenance
from remembrancer.server.pages.activity_feed import render_loading_page
from remembrancer.server.pages.filters import PageFilters, find_records, parse_filters
from remembrancer.server.pages.kind_lists import group_by_subject, load_rule_groups
from remembrancer.server.pages.page_context import CurrentPage, PageContext, PastPage
from remembrancer.text_format import pluralize
from remembrancer.types import GLOBAL_SCOPE, Kind, ProvenanceKind, Record

router = APIRouter()

MAX_LEARNED = 3
MAX_READ = 50
MAX_EPISODES = 20


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent, the memories in its own scope by kind, and how many it stored in any scope."""

    name: str
    own: str
    stored: int


@router.get("/agents")
def show_agents(context: CurrentPage) -> Response:
    survey = context.load_survey()
    if survey is None:
        return render_loading_page(context, "Agents")
    return context.render(
        "agents.html",
        "Agents",
        agents=_list_agents(context, survey),
        shared=_describe_counts(survey.scopes.get(GLOBAL_SCOPE, {})),
    )


def _list_agents(context: PageContext, survey: Survey) -> list[AgentEntry]:
    names = {*context.engine.settings.agents, *survey.agents, *survey.scopes} - {GLOBAL_SCOPE}
    return [
        AgentEntry(name, _describe_counts(survey.scopes.get(name, {})), survey.agents.get(name, 0))
        for name in sorted(names)
    ]


def _describe_counts(counts: Mapping[Kind, int]) -> str:
    """`2 facts, 1 rule`."""
    return ", ".join(pluralize(counts[kind], kind) for kind in Kind if counts.get(kind)) or "none"


@router.get("/agents/{agent}/memory")
@router.get("/butlers/{agent}/memory")
def show_agent_memory(context: PastPage) -> Response:
    """One agent: its facts by subject, its rules and its episodes."""
    filters = parse_filters(context)
    of_facts = replace(filters, backlog="", since="", until="")
    facts = find_records(context, of_facts, [Kind.FACT])
    of_episodes = PageFilters(backlog=filters.backlog, since=filters.since, until=filters.until)
    kinds = context.profile.recall.kinds
    rules = load_rule_groups(context, PageFilters()) if Kind.RULE in kinds else []
    has_episodes = Kind.EPISODE in kinds
    episodes = find_records(context, of_episodes, [Kind.EPISODE]).items if has_episodes else ()
    return context.render(
        "agent.html",
        context.agent or "Agent",
        filters=of_facts,
        of_episodes=of_episodes,
        scopes=[GLOBAL_SCOPE, context.agent],
        agents=context.list_agents(),
        categories=list(context.profile.categories),
        groups=group_by_subject(context, facts.items),
        cursor=facts.cursor,
        learned=() if context.past else context.build_cards(_find_learned(context)),
        rules=rules,
        episodes=context.build_cards(episodes[:MAX_EPISODES]),
        survey=context.load_survey(),
    )


def _find_learned(context: PageContext) -> tuple[Record, ...]:
    """The latest facts that this agent stored or that came from its episodes and conversations."""
    page = context.me.list(
        kinds=[Kind.FACT], agent=context.agent, minimum_importance=0, limit=MAX_READ
    )
    learned = (one for one in page.items if not _is_written_by_hand(one))
    return tuple(islice(learned, MAX_LEARNED))


def _is_written_by_hand(record: Record) -> bool:
    return trace_provenance(record).kind is ProvenanceKind.DIRECT
