"""Explains in plain words what became of a proposal to the team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from remembrancer.guard.reasons import explain_rules
from remembrancer.team.service import ProposalOutcome, TeamProposalResult
from remembrancer.text_format import quote
from remembrancer.types import TeamFact, TeamStatus, Tenant

if TYPE_CHECKING:
    from remembrancer.call import Call

MAX_QUOTE_CHARS = 300


def explain_proposal(call: Call, result: TeamProposalResult) -> str:
    """The outcome for the person who made the proposal, with what contradicts it."""
    tenant = Tenant(call.owner.tenant)
    rivals: list[TeamFact] = []
    if result.conflicts:
        with call.store.open_team_writer(tenant) as writer:
            found = [writer.get_fact(one) for one in result.conflicts]
        rivals = [one for one in found if one is not None]
    promote_at = call.services.live_settings.get(tenant, call.profile).promote_at
    return describe_outcome(result, rivals, promote_at)


def describe_outcome(
    result: TeamProposalResult, rivals: Sequence[TeamFact], promote_at: int | None
) -> str:
    wait = _describe_wait(result, rivals, promote_at)
    match result.verdict:
        case ProposalOutcome.PENDING:
            return f"Proposed to the team. {wait}"
        case ProposalOutcome.CORROBORATED:
            counted = "Someone else proposed the same; you are counted as one more."
            return f"{counted} {wait or 'The team can recall it.'}"
        case ProposalOutcome.APPROVED:
            return "Approved: enough people proposed the same, and the team can recall it."
        case ProposalOutcome.KNOWN:
            return f"You have proposed this before. {wait or 'The team can recall it.'}"
        case ProposalOutcome.REJECTED_BEFORE:
            return "A reviewer has rejected this before, so it was not proposed again."
        case ProposalOutcome.REFUSED:
            return f"This cannot be shared with the team. {' '.join(explain_rules(result.rules))}"
        case _:
            assert_never(result.verdict)


def _describe_wait(
    result: TeamProposalResult, rivals: Sequence[TeamFact], promote_at: int | None
) -> str:
    """What a pending proposal waits for; empty if it waits for nothing."""
    if result.status is not TeamStatus.PENDING:
        return ""
    if result.conflicts:
        return f"It contradicts {_name_rivals(rivals)}, so a reviewer has to decide."
    if result.needs_reviewer:
        return (
            "It says what an assistant is to do or believe, or is not plain text, so it is pending "
            "until a reviewer approves it."
        )
    match promote_at:
        case None:
            return "It is pending until a reviewer approves it."
        case 2:
            return "It is pending until someone else proposes the same or a reviewer approves it."
        case enough:
            return f"It is pending until {enough} people propose it or a reviewer approves it."


def _name_rivals(rivals: Sequence[TeamFact]) -> str:
    """Only approved facts are quoted: nobody but reviewers reads what is pending."""
    approved = [one for one in rivals if one.status is TeamStatus.APPROVED]
    quoted = [quote(one.content, MAX_QUOTE_CHARS) for one in approved]
    others = ["another proposal that is pending"] if len(approved) < len(rivals) else []
    return " and ".join([*quoted, *others]) or "another proposal"
