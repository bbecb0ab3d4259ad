"""Executes "remember this for the team", and takes it back."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.assistant import commands, replies
from remembrancer.errors import Conflict, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.team.service import ProposalOutcome
from remembrancer.team.third_person import restate_for_team
from remembrancer.text_format import quote
from remembrancer.types import Turn

TEAM_PREFIX = "team_"
"""Prefix of the ids of team facts."""

CONTRIBUTIONS = {
    ProposalOutcome.PENDING,
    ProposalOutcome.CORROBORATED,
    ProposalOutcome.APPROVED,
}
"""The outcomes that add the user to the contributors."""


def propose_to_team(memory: Memory, content: str) -> tuple[str, str | None]:
    """Propose a statement; returns the reply, and the id of the fact if it can be withdrawn."""
    if not memory.profile.team.enabled:
        return replies.NO_TEAM, None
    if not content:
        return replies.WHAT_FOR_TEAM, None
    try:
        result = memory.propose(content)
    except RemembrancerError as error:
        return str(error), None
    reply = memory.explain_proposal(result)
    if result.verdict is not ProposalOutcome.REFUSED:
        reply = f"{reply}\n{quote(restate_for_team(content), replies.MAX_QUOTE_CHARS)}"
    return reply, result.fact_id if result.verdict in CONTRIBUTIONS else None


def withdraw_proposal(memory: Memory, fact_id: str) -> str:
    """Withdraw a proposal; raises NotFound if that has happened before."""
    try:
        fact = memory.withdraw(fact_id)
    except Conflict as error:
        return str(error)
    return f"Withdrawn from the team: {quote(fact.content, replies.MAX_QUOTE_CHARS)}"


def find_previous_statement(turns: Sequence[Turn]) -> str:
    """What the user said or asked to remember last; empty if that was a question or a request."""
    said = next((turn for turn in reversed(turns) if turn.is_by_user and not turn.tainted), None)
    if said is None or said.content.rstrip().endswith("?"):
        return ""
    match commands.parse_command(said.content):
        case None:
            return said.content
        case commands.Remember(content) | commands.Correct(content):
            return content
        case commands.ProposeToTeam(content):
            return content
        case _:
            return ""
