"""Tools for team memory: propose and recall shared knowledge."""

from __future__ import annotations

from typing import Literal

from remembrancer.tools.caller import Caller
from remembrancer.tools.results import ProposalResult, TeamRecallResult
from remembrancer.tools.tool import READS, SETS, drop_none, tool


@tool(SETS)
def propose_to_team(
    caller: Caller,
    content: str,
    kind: Literal["fact", "howto", "reference", "glossary"] | None = None,
) -> ProposalResult:
    """Propose project knowledge for the whole team; it waits for approval. Use it for "remember
    this for the team", and say nothing about any person."""
    origin = caller.team_origin
    proposed = caller.memory.propose(content, origin=origin, **drop_none(kind=kind))
    return ProposalResult(
        verdict=proposed.verdict,
        rules=list(proposed.rules) or None,
        explanation=caller.memory.explain_proposal(proposed),
    )


@tool(READS)
def ask_team(caller: Caller, query: str) -> TeamRecallResult:
    """Search what the team knows. Use it for questions about the project, not the user."""
    return TeamRecallResult.from_recall(caller.memory.team(query))


TEAM_TOOLS = (propose_to_team, ask_team)
