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
from remembrancer.learn.wording.change import ends_relationship, find_changed, leaves_job
from remembrancer.remember.attributes import (
    JOB_ATTRIBUTES,
    PARTNER,
    USER_SUBJECT,
    can_have_several,
    canonical_attribute,
)
from remembrancer.remember.embedding import TextVectors
from remembrancer.remember.lifecycle import renewal_values
from remembrancer.remember.pipeline import (
    Duplicate,
    Reject,
    build_version,
    commit,
    find_same_slot,
    last_said_at,
    supersede,
)
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
        if statement.doubt is not None:
            return self._add(statement)
        target = fact.target or self._find_changed(fact, statement)
        return self._add(statement) if target is None else self._update(target, statement)

    def confirm(self, confirmation: Confirmation, transcript: Transcript) -> None:
        """Renew a memory that the person said again in their own words."""
        memory = self.writer.get(confirmation.target)
        traced = check_provenance(confirmation.fact, transcript)
        if memory is not None and isinstance(traced, ExtractedFact):
            self._renew(memory)

    def _add(self, statement: Statement) -> RejectionReason | None:
        statement = self._free_slot(statement)
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

    def _update(self, target: str, statement: Statement) -> RejectionReason | None:
        old = self.writer.get(target)
        if old is None or old.status is not Status.ACTIVE:
            return self._add(statement)
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

    def _find_changed(self, fact: ExtractedFact, statement: Statement) -> str | None:
        """The id of a memory under another key that the statement changes."""
        if statement.subject is None:
            return None
        quotes = [one.words for one in fact.quotes]
        job = self._find_left_job(statement, quotes)
        if job is not None or self._find_slot(statement):
            return job.id if job else None
        partner = self._find_partner(statement)
        if partner is not None and ends_relationship(quotes):
            return partner.id
        same_subject = Filter(
            now=self.call.now(),
            kinds=(Kind.FACT,),
            visible=Visibility(scopes=(self.call.resolve_write_scope(statement.scope),)),
            subject=statement.subject,
            statuses=(Status.ACTIVE,),
        )
        facts = [
            one
            for one in self.writer.find(same_subject, MAX_COMPARED_FACTS)
            if isinstance(one, Fact) and one.id not in self.kept and not one.has_program_key
        ]
        changed = find_changed(quotes, statement.content, facts)
        return changed.id if changed else None

    def _find_partner(self, statement: Statement) -> Fact | None:
        """The memory that the subject of a statement is the user's partner."""
        scope = self.call.resolve_write_scope(statement.scope)
        known = self.writer.active_fact(scope, USER_SUBJECT, PARTNER)
        named = known is not None and statement.subject in known.content.split()
        return known if known and named and known.status is Status.ACTIVE else None

    def _find_left_job(self, statement: Statement, quotes: Sequence[str]) -> Fact | None:
        """The job that is left for the one stated, whether stored as employer or occupation."""
        key = canonical_attribute(statement.predicate or "")
        if key not in JOB_ATTRIBUTES:
            return None
        slots = (replace(statement, predicate=one) for one in (key, *JOB_ATTRIBUTES))
        jobs = (one for slot in slots if (one := self._find_slot(slot)))
        return next((one for one in jobs if leaves_job(quotes, statement.content, one)), None)

    def _is_outdated(self, statement: Statement, old: Record) -> bool:
        """True if the memory was said later than the statement that would update it."""
        said_at = last_said_at(self.writer, old)
        return bool(statement.said_at and said_at and statement.said_at < said_at)

    def _free_slot(self, statement: Statement) -> Statement:
        """Of an attribute with several values, only the first is stored under its name."""
        if statement.predicate is None or not can_have_several(statement.predicate):
            return statement
        return replace(statement, predicate=None) if self._find_slot(statement) else statement

    def _keep_slot_unique(self, statement: Statement, old: Record) -> Statement:
        """Leave the new version under the old key if another fact has its own."""
        held = self._find_slot(statement)
        if held is None or held.id == old.id:
            return statement
        return replace(statement, subject=None, predicate=None)

    def _find_slot(self, statement: Statement) -> Fact | None:
        new = build_record(self.call, statement, self.call.now())
        found = find_same_slot(self.writer, new) if isinstance(new, Fact) else None
        return found if found is not None and found.status is Status.ACTIVE else None

    def _renew(self, memory: Record) -> None:
        if memory.status is not Status.ACTIVE or memory.id in (*self.kept, *self.confirmed):
            return
        now = self.call.now()
        patch = Patch(memory.id, renewal_values(memory, now))
        self.writer.apply(self.call.new_event(Action.CONFIRMED, now), [patch])
        self.confirmed.append(memory.id)
