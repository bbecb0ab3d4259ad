"""Tools for team memory: propose and recall shared knowledge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from remembrancer.tools.caller import Caller
from remembrancer.tools.results import ProposalResult, TeamListResult, TeamRecallResult
from remembrancer.tools.tool import (
    READS,
    SETS,
    drop_none,
    parse_json_list,
    tool,
)


def _parse_one_or_many(value: object) -> object:
    listed = parse_json_list(value)
    return [listed] if isinstance(listed, str) else listed


TeamKindName = Literal["fact", "howto", "reference", "glossary"]
OriginList = Annotated[
    list[Literal["assistant", "agent", "user"]], BeforeValidator(_parse_one_or_many)
]


@tool(SETS)
def propose_to_team(
    caller: Caller, content: str, kind: TeamKindName | None = None
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
    found = caller.memory.team(query, as_of=caller.as_of)
    return TeamRecallResult.from_recall(found)


@tool(READS)
def list_team_memories(
    caller: Caller,
    origins: OriginList | None = None,
    kind: TeamKindName | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> TeamListResult:
    """List what the team knows, newest first, each with its origin. Use it to see what agents,
    users or the assistant added."""
    wanted = drop_none(origins=origins, kind=kind, limit=limit, cursor=cursor)
    return TeamListResult.from_page(caller.memory.list_team(**wanted, as_of=caller.as_of))


TEAM_TOOLS = (propose_to_team, ask_team, list_team_memories)
