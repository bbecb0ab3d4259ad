"""Applies a consolidation plan in one transaction, as one event that undo reverts."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from remembrancer.audit.findings import EPISODES_KEY
from remembrancer.audit.link_transfer import link_key, transfer_links
from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.learn.consolidation.plan import (
    AddStep,
    AffirmStep,
    ConsolidationPlan,
    MergeStep,
    PlanStep,
    RelateStep,
    ReviseStep,
)
from remembrancer.learn.profile_mapping import map_category, map_importance
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.lifecycle import renewal_values
from remembrancer.remember.pipeline import (
    Reject,
    build_version,
    plan_supersede,
    plan_write,
    retirement_values,
)
from remembrancer.remember.statement import (
    FactFields,
    Statement,
    build_record,
    redact_statement,
    validate_statement,
)
from remembrancer.store.contract import AddLink, Patch, Reader, Write, Writer
from remembrancer.types import (
    GLOBAL_SCOPE,
    Action,
    Backlog,
    Batch,
    Episode,
    Fact,
    Link,
    Origin,
    Record,
    Relation,
    Source,
    Status,
    looks_like_id,
)


@dataclass(slots=True)
class PlanExecution:
    """Collects the writes of a plan.

    `touched` holds memory ids, fact keys and link keys, so that no two steps change the same thing.
    """

    call: Call
    reader: Reader
    vectors: TextVectors
    scope: str
    writes: list[Write] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    touched: set[object] = field(default_factory=set)

    def apply_step(self, step: PlanStep) -> None:
        """Add the writes of a step, unless the memories have changed since it was planned."""
        match step:
            case AddStep():
                self._add(step)
            case ReviseStep():
                self._revise(step)
            case AffirmStep():
                for one in self._load_current(step.target):
                    self._write(one, [Patch(one.id, renewal_values(one, self.call.now()))])
            case RelateStep():
                self._relate(step)
            case MergeStep():
                self._merge(step)

    def _add(self, step: AddStep) -> None:
        sources = self._load_sources(step.episodes)
        statement = self._build_statement(step, sources)
        new = build_record(self.call, statement, self.call.now())
        key = (new.key if isinstance(new, Fact) and new.key else None) or new.content.casefold()
        if key in self.touched or not sources:
            return
        intent = plan_write(self.call, self.reader, new, statement, self.vectors)
        if intent.action is None:
            if not isinstance(intent.decision, Reject):
                for one in self._load_current(intent.memory.id):
                    self._write(one, [Patch(one.id, renewal_values(one, self.call.now()))])
            return
        changed = {one.id for one in intent.writes if isinstance(one, Patch)}
        if changed & self.touched:
            return
        self.touched |= changed | {key}
        self._write(
            intent.memory, [*intent.writes, *self._build_source_links(intent.memory, sources)]
        )

    def _build_statement(self, step: AddStep, sources: Sequence[Record]) -> Statement:
        profile = self.call.profile
        tainted = any(one.tainted for one in sources)
        details: FactFields = {
            "kind": step.kind,
            "source": Source.CONSOLIDATED,
            "origin": Origin.DOCUMENT if tainted else Origin.USER,
            "scope": self.scope,
            "metadata": {EPISODES_KEY: [one.id for one in sources]},
        }
        if step.kind == "fact":
            details["category"] = map_category(profile, step.category)
        statement = replace(
            validate_statement(step.content, details, profile),
            subject=step.subject,
            predicate=step.predicate,
            permanence=step.permanence,
            importance=map_importance(profile, step.importance),
        )
        return redact_statement(statement)[0]

    def _revise(self, step: ReviseStep) -> None:
        sources = self._load_sources(step.episodes)
        for old in self._load_current(step.target):
            tainted = any(one.tainted for one in sources)
            details: FactFields = {
                "kind": old.kind,
                "source": Source.CONSOLIDATED,
                "origin": Origin.DOCUMENT if tainted else Origin.USER,
                "scope": old.scope,
                "metadata": {**old.metadata, EPISODES_KEY: [one.id for one in sources]},
            }
            statement, _ = redact_statement(
                validate_statement(step.content, details, self.call.profile)
            )
            new = build_version(self.call, old, replace(statement, permanence=step.permanence))
            distrusted = old.source is Source.EXPLICIT or (new.tainted and not old.tainted)
            if distrusted or new.status is Status.QUARANTINED or not sources:
                continue
            writes = plan_supersede(self.reader, old, new, self.vectors.get(new.search_text))
            self.touched.add(old.id)
            self._write(new, [*writes, *self._build_source_links(new, sources)])

    def _relate(self, step: RelateStep) -> None:
        ends = [
            *self._load_current(step.source, allow_touched=True),
            *self._load_current(step.target, allow_touched=True),
        ]
        if len(ends) < 2:
            return
        link = Link(step.source, step.target, step.relation, self.call.now())
        known = {
            (one.source, one.target, one.relation) for one in self.reader.list_links(step.source)
        }
        if (link.source, link.target, link.relation) not in known | self.touched:
            self.touched.add((link.source, link.target, link.relation))
            self.writes.append(AddLink(link))

    def _merge(self, step: MergeStep) -> None:
        if not self._load_current(step.kept, allow_touched=True):
            return
        dropped = [one for memory_id in step.dropped for one in self._load_current(memory_id)]
        links = transfer_links(
            self.reader,
            {one.id: step.kept for one in dropped},
            changed=self.touched,
            added=self.touched,
        )
        self.touched |= {link_key(one.link) for one in links if isinstance(one, AddLink)}
        for one in dropped:
            values = retirement_values(one, Status.FORGOTTEN, self.call.now())
            self._write(one, [Patch(one.id, values)])
        self.writes += links
        self.touched.add(step.kept)

    def _build_source_links(self, memory: Record, sources: Sequence[Record]) -> list[Write]:
        now = self.call.now()
        return [AddLink(Link(memory.id, one.id, Relation.DERIVED_FROM, now)) for one in sources]

    def _load_sources(self, ids: Sequence[str]) -> list[Record]:
        found = self.reader.load(filter(looks_like_id, ids))
        return [one for one in found.values() if self.call.can_see(one)]

    def _load_current(self, memory_id: str, *, allow_touched: bool = False) -> list[Record]:
        """The memory, or an empty list if it is inactive, not visible or already touched."""
        one = self.reader.get(memory_id) if looks_like_id(memory_id) else None
        gone = one is None or one.status is not Status.ACTIVE or not self.call.can_see(one)
        return (
            [] if one is None or gone or (not allow_touched and one.id in self.touched) else [one]
        )

    def _write(self, memory: Record, writes: Sequence[Write]) -> None:
        self.touched.add(memory.id)
        self.ids.append(memory.id)
        self.writes += writes


def apply_plan(call: Call, plan: ConsolidationPlan) -> Batch:
    """Apply a plan; raises Conflict if its episodes were consolidated in the meantime."""
    contents = [step.content for step in plan.steps if isinstance(step, AddStep | ReviseStep)]
    return write_with_vectors(call, TextVectors(call, contents), partial(_apply, call, plan))


def _apply(call: Call, plan: ConsolidationPlan, writer: Writer, vectors: TextVectors) -> Batch:
    _check_pending(call, plan, writer)
    execution = PlanExecution(call, writer, vectors, _target_scope(call, plan.scope))
    for step in plan.steps:
        with contextlib.suppress(InvalidInput):  # A step that cannot be stored is left out.
            execution.apply_step(step)
    now = call.now()
    event = None
    if execution.writes:
        note = f"{len(execution.ids)} memories from {len(plan.episodes)} episodes"
        event = writer.apply(call.new_event(Action.CONSOLIDATED, now, note=note), execution.writes)
    if plan.episodes:
        # An event of its own: undoing the memories must not put the episodes back in the queue.
        done: list[Write] = [Patch(one, {"backlog": Backlog.DONE}) for one in plan.episodes]
        note = f"{len(done)} episodes consolidated, {len(plan.refused)} proposals refused"
        writer.apply(call.new_event(Action.LEARNED, now, note=note), done)
    return Batch(tuple(execution.ids), event)


def _check_pending(call: Call, plan: ConsolidationPlan, reader: Reader) -> None:
    episodes = reader.load(filter(looks_like_id, plan.episodes))
    for memory_id in plan.episodes:
        known = episodes.get(memory_id)
        waits = isinstance(known, Episode) and known.backlog is Backlog.PENDING
        if known is None or not waits or not call.can_see(known):
            raise Conflict("Some of these episodes were consolidated since. Plan again.")


def _target_scope(call: Call, agent: str) -> str:
    """The scope to which the agent of the episodes would write."""
    scopes = call.profile.scopes
    return GLOBAL_SCOPE if (scopes.visibility, scopes.write) == ("shared", "global") else agent
