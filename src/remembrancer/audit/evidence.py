"""Whether the turns that a memory names as its evidence bear it out. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.search.terms import normalise_quote
from remembrancer.types import Evidence, Record, Turn

Turns = Mapping[str, Turn]
"""The turns that exist, by id."""


def explain_unsupported(record: Record, turns: Turns) -> str | None:
    """Why no evidence of a memory supports it; None if some does."""
    if not record.evidence:
        return "it cites nothing that the person said"
    reasons = [_explain_flaw(one, turns) for one in record.evidence]
    return None if None in reasons else reasons[0]


def list_missing_turns(record: Record, turns: Turns) -> tuple[str, ...]:
    """The ids of the turns that a memory cites and that are not there."""
    return tuple(one.turn_id for one in record.evidence if not _has_turn(one, turns))


def _explain_flaw(evidence: Evidence, turns: Turns) -> str | None:
    if not _has_turn(evidence, turns):
        return f"the turn {evidence.turn_id} that it cites is not there"
    turn = turns[evidence.turn_id]
    if not turn.is_by_user:
        return f"the turn {turn.id} that it cites is not by the person"
    if normalise_quote(evidence.quote) not in normalise_quote(turn.content):
        return f"the turn {turn.id} does not say what it quotes"
    return None


def _has_turn(evidence: Evidence, turns: Turns) -> bool:
    turn = turns.get(evidence.turn_id)
    return turn is not None and turn.session_id == evidence.session_id
