"""The agents that act for a person, and what each of them knows."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages.activity_feed import counting
from remembrancer.server.pages.filters import Found, asked, found
from remembrancer.server.pages.listings import by_maturity, by_subject
from remembrancer.server.pages.page_context import Framed
from remembrancer.types import GLOBAL, Kind, Source

router = APIRouter()

LEARNED = (Source.EXTRACTED, Source.CONSOLIDATED)


@router.get("/agents")
def agents(frame: Framed) -> Response:
    """Who acts for the person, and how much each of them knows."""
    survey = frame.survey(frame.me)
    if survey is None:
        return counting(frame, "Agents")
    counts = dict(survey.stats.by_scope)
    for name in frame.engine.settings.agents:
        counts.setdefault(name, 0)
    shared = counts.pop(GLOBAL, 0)
    return frame.show("agents.html", "Agents", counts=sorted(counts.items()), shared=shared)


@router.get("/agents/{agent}/memory")
@router.get("/butlers/{agent}/memory")
def agent_memory(frame: Framed) -> Response:
    """What one agent knows: facts by subject, its playbook, and what it went through."""
    me, wanted = frame.me, asked(frame.request.query_params)
    facts = found(frame, me, wanted, [Kind.FACT])
    learned = [one for one in facts.records if one.source in LEARNED] or facts.records
    kinds = frame.profile.recall.kinds
    rules = found(frame, me, asked({}), [Kind.RULE]) if Kind.RULE in kinds else Found(())
    episodes = found(frame, me, asked({}), [Kind.EPISODE]) if Kind.EPISODE in kinds else Found(())
    return frame.show(
        "agent.html",
        frame.agent or "Agent",
        wanted=wanted,
        scopes=[GLOBAL, frame.agent],
        categories=list(frame.profile.categories),
        groups=by_subject(frame, me, facts.records),
        cursor=facts.cursor,
        learned=[frame.card(one, me) for one in learned[:3]],
        rules=by_maturity(frame, me, rules.records),
        episodes=[frame.card(one, me) for one in episodes.records[:20]],
        survey=frame.survey(me),
    )
