"""What was learned before from turns that are read again: after a model failed, rules read them.

A memory that the person forgot, deleted or corrected is not learned again from the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.call import Call
from remembrancer.learn.extracted_fact import (
    ExtractedFact,
    Quote,
    has_same_subject,
    is_stated,
    quotes_same_clause,
    says_same,
    tells_of,
)
from remembrancer.learn.transcript import Transcript
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Filter, Reader
from remembrancer.types import Fact, Kind, Session, Status

FORGOTTEN_STATUSES = (Status.FORGOTTEN, Status.TRASHED, Status.RETRACTED)
DISMISSED_STATUSES = (*FORGOTTEN_STATUSES, Status.SUPERSEDED)
MAX_EARLIER_FACTS = 1000


@dataclass(frozen=True, slots=True)
class EarlierFacts:
    """The facts that were learned from a session before, and those found before but gone now."""

    transcript: Transcript
    known: Sequence[tuple[Fact, ExtractedFact]]
    found_before: Sequence[ExtractedFact] = ()
    gone: Sequence[ExtractedFact] = ()

    def was_found_before(self, candidate: ExtractedFact) -> bool:
        """True if rules found it when they read the same turns."""
        return any(
            one.content == candidate.content and one.turns == candidate.turns
            for one in self.found_before
        )

    def is_dismissed(self, candidate: ExtractedFact) -> bool:
        """True if the person forgot, deleted or corrected it, and has not said it again."""
        dismissed = [one for one in self.known if one[0].status in DISMISSED_STATUSES]
        return any(
            self._are_alike(candidate, fact) or self._is_forgotten_since(candidate, record, fact)
            for record, fact in dismissed
        ) or any(self._are_alike(candidate, one) for one in self.gone)

    def is_saved(self, candidate: ExtractedFact) -> bool:
        """True if a memory rests on the same words and tells it, as one saved while chatting."""
        return any(
            record.status is Status.ACTIVE
            and is_stated(candidate, [fact])
            and tells_of(fact, candidate)
            and has_same_subject(candidate, fact, self.transcript.own_names)
            for record, fact in self.known
        )

    def find_restated(self, candidate: ExtractedFact) -> str | None:
        """The id of the memory from the same words that a candidate states, in other words."""
        found = (
            record.id
            for record, fact in self.known
            if record.status is Status.ACTIVE
            and quotes_same_clause(fact, candidate)
            and has_same_subject(fact, candidate, self.transcript.own_names)
        )
        return next(found, None)

    def _are_alike(self, one: ExtractedFact, other: ExtractedFact) -> bool:
        same_words = is_stated(one, [other]) and is_stated(other, [one])
        return same_words and has_same_subject(one, other, self.transcript.own_names)

    def _is_forgotten_since(
        self, candidate: ExtractedFact, record: Fact, fact: ExtractedFact
    ) -> bool:
        """True if it was forgotten after the person had said it in all of these turns."""
        if record.status not in FORGOTTEN_STATUSES or record.retired_at is None:
            return False
        turns = [self.transcript.find_turn(one) for one in candidate.turns]
        earlier = all(one is None or one.recorded_at < record.retired_at for one in turns)
        return earlier and says_same(candidate, fact, self.transcript.own_names)


def load_earlier(
    call: Call,
    reader: Reader,
    session: Session,
    transcript: Transcript,
    found_before: Sequence[ExtractedFact],
) -> EarlierFacts:
    """`found_before` are the facts that rules found when they read these turns before."""
    here = Filter(now=call.now(), kinds=(Kind.FACT,), session_id=session.id, statuses=tuple(Status))
    records = [one for one in reader.find(here, MAX_EARLIER_FACTS) if isinstance(one, Fact)]
    known = [(one, _read_evidence(one)) for one in records]
    cited = [fact for _, fact in known]
    uncited = [one for one in found_before if not _is_among(one, cited)]
    gone = [one for one in uncited if not _is_known_elsewhere(call, reader, one)]
    return EarlierFacts(transcript, known, found_before, gone)


def _is_known_elsewhere(call: Call, reader: Reader, fact: ExtractedFact) -> bool:
    """True if the fact was not stored because it was known already."""
    same_words = Filter(now=call.now(), kinds=(Kind.FACT,), fingerprint=fingerprint(fact.content))
    return bool(reader.find(same_words, 1))


def _read_evidence(record: Fact) -> ExtractedFact:
    return ExtractedFact(
        content=record.content,
        quotes=tuple(Quote(one.turn_id, one.quote) for one in record.evidence),
        subject=record.subject,
        predicate=record.predicate,
    )


def _is_among(fact: ExtractedFact, others: Sequence[ExtractedFact]) -> bool:
    return any(is_stated(fact, [one]) and is_stated(one, [fact]) for one in others)
