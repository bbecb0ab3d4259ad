"""Checks the facts that a model and the rules found, and decides which are in doubt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.learn.details.grounding import (
    DetailKind,
    GroundingText,
    TextOrigin,
    find_ungrounded,
)
from remembrancer.learn.details.said_dates import dates_follow
from remembrancer.learn.evidence_check import RejectionReason, find_objection
from remembrancer.learn.extracted_fact import ExtractedFact, inherit_key, is_stated, says_same
from remembrancer.learn.learned_statement import build_statement
from remembrancer.learn.profile_mapping import file_category
from remembrancer.learn.provenance import check_provenance, find_agreeing_turn
from remembrancer.learn.transcript import Transcript, contains_quote
from remembrancer.learn.verify import verify
from remembrancer.learn.wording.doubt import Doubt, find_doubt
from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.remember.attributes import USER_SUBJECT, canonical_subject
from remembrancer.remember.statement import Statement
from remembrancer.types import Permanence, Record, Session, Turn

ANYONE = "anyone"
"""The subject of a fact of a domain that names none."""

FINAL_DOUBTS = (Doubt.UNGROUNDED,)
"""Doubts that a second answer of the model cannot remove: code compares numbers better."""


@dataclass(frozen=True, slots=True)
class CheckedFact:
    """A candidate that can be stored, in doubt or not, or the reason for its rejection."""

    candidate: ExtractedFact
    reason: RejectionReason | None = None
    doubt: Doubt | None = None
    by_model: bool = True


@dataclass(frozen=True, slots=True)
class Check:
    """What the candidates of one batch are checked against."""

    call: Call
    session: Session
    transcript: Transcript
    memories: Sequence[Record]
    is_model_weak: bool = False

    @property
    def is_about_domain(self) -> bool:
        """True if what is learned need not be about the person."""
        return self.call.profile.learning.about == "domain"

    def check_all(
        self, by_model: Sequence[ExtractedFact], by_rules: Sequence[ExtractedFact]
    ) -> list[CheckedFact]:
        """Check the facts found by the model and by rules, in the order they were said.

        Where both found the same fact, the model's gets the key found by the rules. A fact that
        the user asked to have remembered keeps the user's wording.
        """
        by_model, by_rules = (
            [self._drop_speaker(one) for one in some] for some in (by_model, by_rules)
        )
        requested = [one for one in by_rules if one.requested]
        proposed = [
            inherit_key(one, by_rules)
            for one in by_model
            if not any(is_stated(other, [one]) for other in requested)
        ]
        checked = [self._try_check(one, self._check) for one in proposed]
        checked += [self._try_check(one, self._check_found_by_rules) for one in by_rules]
        return sorted(checked, key=lambda one: self._last_position(one.candidate))

    def _drop_speaker(self, candidate: ExtractedFact) -> ExtractedFact:
        """Without the key of "the user" in the memory of a domain, where many people speak."""
        own_names = self.transcript.own_names
        subject = canonical_subject(candidate.subject or USER_SUBJECT, own_names)
        if not self.is_about_domain or subject != USER_SUBJECT:
            return candidate
        name = next(iter(own_names), None)
        return replace(candidate, subject=name, predicate=candidate.predicate if name else None)

    def drop_repeated(self, checked: Sequence[CheckedFact]) -> list[CheckedFact]:
        """Drop the facts found by rules that the model states for certain, in its own wording."""
        accepted = [one for one in checked if one.by_model and one.reason is None]
        certain = [one.candidate for one in accepted if one.doubt is None]
        doubted = [one.candidate for one in accepted if one.doubt is not None]

        def is_repeated(one: CheckedFact) -> bool:
            known = [*certain, *doubted] if one.doubt else certain
            return not one.candidate.requested and is_stated(one.candidate, known)

        return [one for one in checked if one.by_model or not is_repeated(one)]

    def verify(self, checked: Sequence[CheckedFact]) -> tuple[list[CheckedFact], int]:
        """Ask the model about all facts at once; returns them and the tokens it cost."""
        model = self.call.models.fast
        claims = self._list_claims(checked)
        if model is None or not claims:
            return list(checked), 0
        try:
            found = verify(
                model,
                self.transcript,
                [one.candidate for one in claims],
                self.call.now(),
                of_anyone=self.is_about_domain,
            )
        except (InvalidModelResponse, ModelUnavailable) as error:
            if isinstance(error, ModelUnavailable) and not error.refused:
                raise
            return [self._check_words(one) for one in checked], 0
        verified = {
            id(one): _apply_verdict(one, found.doubts.get(place))
            for place, one in enumerate(claims)
        }
        unasked = [one for one in checked if one.reason is not None or one.candidate.requested]
        kept = {**verified, **{id(one): one for one in unasked}}
        return [kept[id(one)] for one in checked if id(one) in kept], found.tokens

    def build_statement(self, fact: CheckedFact) -> Statement | None:
        """The statement to store; None if it was rejected or cannot be stored."""
        if fact.reason is not None:
            return None
        candidate = fact.candidate
        if not fact.by_model:
            filed = file_category(self.call.profile, candidate.content, candidate.category)
            candidate = replace(candidate, category=filed)
        try:
            return build_statement(self.call, self.session, self.transcript, candidate, fact.doubt)
        except Exception:  # One proposal must not fail the others.
            return None

    def _try_check(
        self, candidate: ExtractedFact, check: Callable[[ExtractedFact], CheckedFact]
    ) -> CheckedFact:
        try:
            return check(candidate)
        except Exception:  # One proposal must not fail the others.
            return CheckedFact(candidate, RejectionReason.REFUSED)

    def _list_claims(self, checked: Sequence[CheckedFact]) -> list[CheckedFact]:
        """The facts to ask about; one that the rules found and the model worded is one claim."""
        open_facts = [one for one in checked if one.reason is None and not one.candidate.requested]
        proposed = [one.candidate for one in open_facts if one.by_model and one.doubt is None]
        return [
            one
            for one in open_facts
            if one.by_model or not any(self._are_equal(one.candidate, other) for other in proposed)
        ]

    def _are_equal(self, one: ExtractedFact, other: ExtractedFact) -> bool:
        return is_stated(one, [other]) and says_same(one, other, self.transcript.own_names)

    def _check(self, candidate: ExtractedFact) -> CheckedFact:
        if self.is_model_weak and (objection := self._compare_words(candidate)):
            return CheckedFact(candidate, objection)
        traced = check_provenance(candidate, self.transcript)
        if isinstance(traced, RejectionReason):
            return CheckedFact(candidate, traced)
        if traced.permanence is Permanence.EPHEMERAL:
            return CheckedFact(traced, RejectionReason.PASSING)
        dated = self._check_dates(traced)
        return CheckedFact(dated, doubt=self._find_doubt(dated))

    def _check_found_by_rules(self, candidate: ExtractedFact) -> CheckedFact:
        traced = check_provenance(candidate, self.transcript)
        if isinstance(traced, RejectionReason):
            return CheckedFact(candidate, traced, by_model=False)
        return CheckedFact(traced, by_model=False)

    def _check_dates(self, candidate: ExtractedFact) -> ExtractedFact:
        """Drop the dates that do not follow from the words and the time of the turns."""
        if candidate.dates is None:
            return candidate
        turns = [one for one in map(self.transcript.find_turn, candidate.turns) if one is not None]
        texts = [self.transcript.own_words.get(one.id) or one.content for one in turns]
        others = self.transcript.own_words.items()
        context = [text for one, text in others if one not in candidate.turns]
        is_said = any(contains_quote(one, candidate.said_as) for one in (*texts, *context))
        said_as = candidate.said_as if is_said else ""
        dates = dates_follow(candidate.dates, said_as, texts, turns[-1].said_at, context)
        return replace(candidate, dates=dates)

    def _find_doubt(self, candidate: ExtractedFact) -> Doubt | None:
        person = next(iter(self.transcript.own_names), None)
        ungrounded = find_ungrounded(candidate.content, self._list_sources(candidate), person)
        if any(one.kind is not DetailKind.DATE for one in ungrounded):
            return Doubt.UNGROUNDED
        if ungrounded:
            return Doubt.DATES
        doubt = self._doubt_words(candidate)
        if doubt is None and candidate.confidence < self.call.profile.learning.minimum_confidence:
            return Doubt.LOW_CONFIDENCE
        return doubt

    def _check_words(self, fact: CheckedFact) -> CheckedFact:
        """Without a verdict, only what repeats the person's words is beyond doubt."""
        is_certain = not fact.by_model or fact.candidate.requested
        if fact.reason or fact.doubt or is_certain or self._compare_words(fact.candidate) is None:
            return fact
        return replace(fact, doubt=Doubt.UNSUPPORTED)

    def _compare_words(self, candidate: ExtractedFact) -> RejectionReason | None:
        remembered = [one.content for one in self.memories if one.id != candidate.target]
        learning = self.call.profile.learning
        return find_objection(candidate, self.transcript, remembered, learning)

    def _doubt_words(self, candidate: ExtractedFact) -> Doubt | None:
        own = self.transcript.own_words
        last = self._last_position(candidate)
        later = [
            own[one.id] for one in self.transcript.turns if one.position > last and one.id in own
        ]
        return find_doubt(
            candidate.content,
            [one.words for one in candidate.quotes if one.turn in own],
            "\n".join(own[one] for one in candidate.turns if one in own),
            about=self._name_subject(candidate),
            said_later="\n".join(later),
        )

    def _name_subject(self, candidate: ExtractedFact) -> str:
        if self.is_about_domain and candidate.subject is None:
            return ANYONE
        return canonical_subject(candidate.subject or USER_SUBJECT, self.transcript.own_names)

    def _list_sources(self, candidate: ExtractedFact) -> list[GroundingText]:
        """The texts that names, numbers and dates of a candidate can come from: none of a tool."""
        own = self.transcript.own_words
        turns = [
            GroundingText(
                own.get(one.id) or one.content, self._find_origin(candidate, one), one.said_at
            )
            for one in self.transcript.turns
            if one.id in candidate.turns or not one.tainted
        ]
        memories = [
            GroundingText(
                one.content, TextOrigin.EVIDENCE if one.id == candidate.target else TextOrigin.OWN
            )
            for one in self.memories
        ]
        return [*turns, *memories]

    def _find_origin(self, candidate: ExtractedFact, turn: Turn) -> TextOrigin:
        if turn.id in candidate.turns or find_agreeing_turn(turn, self.transcript) is not None:
            return TextOrigin.EVIDENCE
        return TextOrigin.OWN if turn.id in self.transcript.own_words else TextOrigin.OTHER

    def _last_position(self, candidate: ExtractedFact) -> int:
        turns = (self.transcript.find_turn(one) for one in candidate.turns)
        return max((one.position for one in turns if one is not None), default=0)


def _apply_verdict(fact: CheckedFact, doubt: Doubt | None) -> CheckedFact:
    if doubt is Doubt.QUOTED:
        return replace(fact, reason=RejectionReason.NOT_BY_THE_PERSON)
    if doubt is None and fact.doubt in FINAL_DOUBTS:
        return fact
    return replace(fact, doubt=doubt)
