"""Checks whether the turns that a memory cites support it. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.search.terms import normalise_quote
from remembrancer.types import Evidence, Record, Turn

Turns = Mapping[str, Turn]


def explain_unsupported(record: Record, turns: Turns) -> str | None:
    """The reason why no citation of a memory is valid; None if one is."""
    if not record.evidence:
        return "it cites no turn"
    reasons = [_explain_flaw(one, turns) for one in record.evidence]
    return None if None in reasons else reasons[0]


def list_missing_turns(record: Record, turns: Turns) -> tuple[str, ...]:
    """The ids of cited turns that do not exist."""
    return tuple(one.turn_id for one in record.evidence if not _has_turn(one, turns))


def _explain_flaw(evidence: Evidence, turns: Turns) -> str | None:
    if not _has_turn(evidence, turns):
        return f"the turn {evidence.turn_id} that it cites does not exist"
    turn = turns[evidence.turn_id]
    if not turn.is_by_user:
        return f"the turn {turn.id} that it cites is not by the user"
    if normalise_quote(evidence.quote) not in normalise_quote(turn.content):
        return f"the turn {turn.id} does not contain the quote"
    return None


def _has_turn(evidence: Evidence, turns: Turns) -> bool:
    turn = turns.get(evidence.turn_id)
    return turn is not None and turn.session_id == evidence.session_id
