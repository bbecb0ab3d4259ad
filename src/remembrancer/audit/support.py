"""Whether the turns that a memory names as its evidence bear it out. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.search.terms import quotable
from remembrancer.types import Evidence, Record, Turn

Turns = Mapping[str, Turn]
"""The turns that exist, by id."""


def lacking(record: Record, turns: Turns) -> str | None:
    """Why no evidence of a memory supports it; None if some does."""
    if not record.evidence:
        return "it cites nothing that the person said"
    reasons = [_flaw(one, turns) for one in record.evidence]
    return None if None in reasons else reasons[0]


def missing(record: Record, turns: Turns) -> tuple[str, ...]:
    """The ids of the turns that a memory cites and that are not there."""
    return tuple(one.turn_id for one in record.evidence if not _is_there(one, turns))


def _flaw(evidence: Evidence, turns: Turns) -> str | None:
    if not _is_there(evidence, turns):
        return f"the turn {evidence.turn_id} that it cites is not there"
    turn = turns[evidence.turn_id]
    if not turn.is_by_user:
        return f"the turn {turn.id} that it cites is not by the person"
    if quotable(evidence.quote) not in quotable(turn.content):
        return f"the turn {turn.id} does not say what it quotes"
    return None


def _is_there(evidence: Evidence, turns: Turns) -> bool:
    turn = turns.get(evidence.turn_id)
    return turn is not None and turn.session_id == evidence.session_id
