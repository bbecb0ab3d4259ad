"""Stores the facts that were learned from one batch of turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from remembrancer.call import Call
from remembrancer.learn.evidence_check import RejectionReason
from remembrancer.learn.extract import Confirmation
from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.provenance import check_provenance
from remembrancer.learn.transcript import Transcript
from remembrancer.learn.wording.change import (
    SaidChange,
    ends_relationship,
    find_changed,
    is_past,
    stands_beside,
)
from remembrancer.learn.wording.other_value import list_frame
from remembrancer.remember.attributes import (
    PARTNER,
    USER_SUBJECT,
    can_have_several,
    canonical_subject,
    fold_name,
)
from remembrancer.remember.embedding import TextVectors
from remembrancer.remember.lifecycle import renewal_values
from remembrancer.remember.pipeline import (
    Duplicate,
    Reject,
    build_version,
    commit,
    last_said_at,
    supersede,
)
from remembrancer.remember.slots import find_holder
from remembrancer.remember.statement import Statement, build_record
from remembrancer.remember.trust import is_less_trusted
from remembrancer.store.contract import Filter, Patch, Visibility, Writer
from remembrancer.types import Action, Fact, Kind, Record, Status

MAX_COMPARED_FACTS = 500
"""Facts about a subject that are compared with a statement that says it changes something."""


@dataclass(slots=True)
class FactWriter:
    """Stores facts in the caller's transaction, and collects the ids of what it did."""

    call: Call
    writer: Writer
    vectors: TextVectors
    kept: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)

    def store(self, fact: ExtractedFact, statement: Statement | None) -> RejectionReason | None:
        """Returns the reason if the fact is not stored."""
        if statement is None:
            return RejectionReason.REFUSED
        quotes = tuple(one.words for one in fact.quotes)
        if statement.doubt is not None:
            return self._add(statement, quotes)
        target = self._find_target(fact, statement) or self._find_changed(statement, quotes)
        if target is None:
            return self._add(statement, quotes)
        return self._update(target, statement, quotes)

    def confirm(self, confirmation: Confirmation, transcript: Transcript) -> None:
        """Renew a memory that the person said again in their own words."""
        memory = self.writer.get(confirmation.target)
        traced = check_provenance(confirmation.fact, transcript)
        if memory is not None and isinstance(traced, ExtractedFact):
            self._renew(memory)

    def _add(self, statement: Statement, quotes: Sequence[str]) -> RejectionReason | None:
        statement = self._free_slot(statement, quotes)
        new = build_record(self.call, statement, self.call.now())
        decision, written = commit(self.call, self.writer, new, statement, self.vectors)
        match decision:
            case Reject():
                return RejectionReason.STANDS
            case Duplicate(old):
                if not new.tainted and new.status is Status.ACTIVE:
                    self._renew(old)
            case _ if new.status is Status.UNCONFIRMED:
                self.unconfirmed.append(written.memory.id)
            case _:
                self.kept.append(written.memory.id)
        return None

    def _update(
        self, old: Record, statement: Statement, quotes: Sequence[str]
    ) -> RejectionReason | None:
        if old.status is not Status.ACTIVE:
            return self._add(statement, quotes)
        if self._is_outdated(statement, old):
            return RejectionReason.STANDS
        statement = self._keep_slot_unique(replace(statement, scope=old.scope), old)
        new = build_version(self.call, old, statement)
        if is_less_trusted(new, old, keep_explicit=self.call.profile.learning.keep_explicit):
            return RejectionReason.STANDS
        if new.status is Status.QUARANTINED:
            return RejectionReason.REFUSED
        self.kept.append(supersede(self.call, self.writer, old, statement, self.vectors).memory.id)
        return None

    def _find_target(self, fact: ExtractedFact, statement: Statement) -> Record | None:
        """The memory that a model says is updated, unless that is about somebody else."""
        old = self.writer.get(fact.target) if fact.target else None
        return old if old is not None and _can_be_about(statement, fact, old) else None

    def _find_changed(self, statement: Statement, quotes: tuple[str, ...]) -> Fact | None:
        """The memory under another key that the statement changes."""
        if statement.subject is None or self._holds_only_value(statement):
            return None
        partner = self._find_partner(statement)
        if partner is not None and ends_relationship(quotes):
            return partner
        facts = self._load_facts_about(statement)
        said = SaidChange(quotes, statement.content, statement.subject, statement.predicate)
        if facts and said.mentions_change:
            said = replace(said, similarities=self._compare(statement, facts))
        return find_changed(said, facts)

    def _holds_only_value(self, statement: Statement) -> bool:
        """True if the statement replaces the value of its own attribute anyway."""
        several = can_have_several(statement.predicate or "")
        return not several and self._find_slot(statement) is not None

    def _load_facts_about(self, statement: Statement) -> list[Fact]:
        """The active facts about the subject that were known before this batch."""
        is_user = statement.subject == USER_SUBJECT
        is_named = not is_user and statement.subject != (statement.subject or "").lower()
        about = self._filter_here(statement, statement.subject if is_named else None)
        return [
            one
            for one in self.writer.find(about, MAX_COMPARED_FACTS)
            if isinstance(one, Fact)
            and _is_about(one, statement.subject)
            and one.id not in self.kept
            and not one.has_program_key
        ]

    def _filter_here(self, statement: Statement, subject: str | None) -> Filter:
        return Filter(
            now=self.call.now(),
            kinds=(Kind.FACT,),
            visible=Visibility(scopes=(self.call.resolve_write_scope(statement.scope),)),
            subject=subject,
            statuses=(Status.ACTIVE,),
        )

    def _compare(self, statement: Statement, facts: Sequence[Fact]) -> dict[str, float]:
        """The cosine of the statement and of each fact."""
        new = build_record(self.call, statement, self.call.now())
        query = self.vectors.get(new.search_text)
        hits = self.writer.compute_similarities(query, [one.id for one in facts])
        return {one.id: one.score for one in hits}

    def _find_partner(self, statement: Statement) -> Fact | None:
        """The memory that the subject of a statement is the user's partner."""
        scope = self.call.resolve_write_scope(statement.scope)
        known = self.writer.active_fact(scope, USER_SUBJECT, PARTNER)
        named = known is not None and statement.subject in known.content.split()
        return known if known and named and known.status is Status.ACTIVE else None

    def _is_outdated(self, statement: Statement, old: Record) -> bool:
        """True if the memory was said later than the statement that would update it."""
        said_at = last_said_at(self.writer, old, self.call.now())
        return bool(statement.said_at and said_at and statement.said_at < said_at)

    def _free_slot(self, statement: Statement, quotes: Sequence[str]) -> Statement:
        """Store a value without its attribute if it stands beside the one that is known."""
        held = self._find_slot(statement) if statement.predicate else None
        if held is None:
            return statement
        beside = (
            can_have_several(statement.predicate or "")
            or stands_beside(quotes)
            or is_past(statement.content) > is_past(held.content)
        )
        return replace(statement, predicate=None) if beside else statement

    def _keep_slot_unique(self, statement: Statement, old: Record) -> Statement:
        """Leave the new version under the old key if another fact has its own."""
        held = self._find_slot(statement)
        if held is None or held.id == old.id:
            return statement
        return replace(statement, subject=None, predicate=None)

    def _find_slot(self, statement: Statement) -> Fact | None:
        new = build_record(self.call, statement, self.call.now())
        found = find_holder(self.writer, new.key) if isinstance(new, Fact) and new.key else None
        return found if found is not None and found.status is Status.ACTIVE else None

    def _renew(self, memory: Record) -> None:
        if memory.status is not Status.ACTIVE or memory.id in (*self.kept, *self.confirmed):
            return
        now = self.call.now()
        patch = Patch(memory.id, renewal_values(memory, now))
        self.writer.apply(self.call.new_event(Action.CONFIRMED, now), [patch])
        self.confirmed.append(memory.id)


def _is_about(fact: Fact, subject: str | None) -> bool:
    """True if a fact is about a subject; without one, if it begins with "wife" or "my wife"."""
    if fact.subject is not None or subject == USER_SUBJECT:
        return canonical_subject(fact.subject or USER_SUBJECT) == subject
    return subject in list_frame(fact.content)[:1]


def _can_be_about(statement: Statement, fact: ExtractedFact, old: Record) -> bool:
    """False if only one of the statement and the memory is about the user.

    They fit nevertheless if one names whom the other is about: "Kim and I broke up".
    """
    if statement.subject is None or not isinstance(old, Fact):
        return True
    mine = fold_name(canonical_subject(statement.subject))
    theirs = fold_name(canonical_subject(old.subject or USER_SUBJECT))
    if mine == theirs or USER_SUBJECT not in (mine, theirs):
        return True
    told = fold_name(f"{statement.content} {fact.quote}").split("_")
    known = fold_name(old.content).split("_")
    return mine in known or theirs in told
