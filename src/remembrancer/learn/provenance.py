"""Checks where an extracted fact comes from: the person's own new words. No I/O.

The wording is the model's; the quotes must be the person's, or what they agreed to.
"""

from __future__ import annotations

from dataclasses import replace

from remembrancer.learn.evidence_check import RejectionReason
from remembrancer.learn.extracted_fact import ExtractedFact, Quote
from remembrancer.learn.transcript import Transcript, contains_quote
from remembrancer.learn.wording.assent import is_assent
from remembrancer.types import Turn


def check_provenance(
    candidate: ExtractedFact, transcript: Transcript
) -> ExtractedFact | RejectionReason:
    """The fact with the quotes that count, or why none does."""
    objections = {quote: _find_objection(quote, transcript) for quote in candidate.quotes}
    good = tuple(quote for quote, objection in objections.items() if objection is None)
    if not good:
        return next(one for one in objections.values() if one is not None)
    if not any(_is_new(quote, transcript) for quote in good):
        return RejectionReason.NOTHING_NEW
    return replace(candidate, quotes=good)


def find_agreeing_turn(turn: Turn, transcript: Transcript) -> Turn | None:
    """The person's next turn, if it agrees to this turn of the assistant."""
    if turn.role != "assistant":
        return None
    following = [one for one in transcript.turns if one.position > turn.position]
    reply = following[0] if following else None
    agrees = reply is not None and is_assent(transcript.own_words.get(reply.id, ""))
    return reply if agrees else None


def _find_objection(quote: Quote, transcript: Transcript) -> RejectionReason | None:
    turn = transcript.find_turn(quote.turn)
    if turn is None:
        return RejectionReason.UNKNOWN_TURN
    if turn.id not in transcript.own_words:
        agreed = find_agreeing_turn(turn, transcript) is not None
        found = agreed and contains_quote(turn.content, quote.words)
        return None if found else RejectionReason.NOT_BY_THE_PERSON
    if contains_quote(transcript.own_words[turn.id], quote.words):
        return None
    repeated = contains_quote(turn.content, quote.words)
    return RejectionReason.ECHO if repeated else RejectionReason.NO_SUCH_QUOTE


def _is_new(quote: Quote, transcript: Transcript) -> bool:
    turn = transcript.find_turn(quote.turn)
    if turn is not None and turn.id not in transcript.own_words:
        turn = find_agreeing_turn(turn, transcript)
    return turn is not None and turn.position >= transcript.new_from
