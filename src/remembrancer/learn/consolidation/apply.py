"""Carrying out a plan of consolidation: one transaction, one event, one undo."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.learn.consolidation.plan import Add, Affirm, Merge, Plan, Relate, Revise, Step
from remembrancer.learn.profile_mapping import category_in, importance_in
from remembrancer.remember.lifecycle import renewal
from remembrancer.remember.pipeline import Stands, intended, retirement, superseding, version_of
from remembrancer.remember.statement import Details, Statement, checked, cleaned, record_of
from remembrancer.store.contract import AddLink, DropLink, Patch, Reader, Write
from remembrancer.types import (
    GLOBAL,
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

EPISODES = "episodes"
"""The key in a memory's metadata for what it was concluded from, which may be gone by now."""


@dataclass(slots=True)
class Application:
    """A plan being turned into writes; no memory is touched twice, no place is taken twice."""

    call: Call
    reader: Reader
    scope: str
    writes: list[Write] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    touched: set[object] = field(default_factory=set)

    def take(self, step: Step) -> None:
        """Add what a step comes to, unless something stands against it by now."""
        match step:
            case Add():
                self._add(step)
            case Revise():
                self._revise(step)
            case Affirm():
                for one in self._current(step.target):
                    self._write(one, [Patch(one.id, renewal(one, self.call.now()))])
            case Relate():
                self._relate(step)
            case Merge():
                self._merge(step)

    def _add(self, step: Add) -> None:
        sources = self._sources(step.episodes)
        statement = self._statement(step, sources)
        new = record_of(self.call, statement, self.call.now())
        place = (new.key if isinstance(new, Fact) and new.key else None) or new.content.casefold()
        if place in self.touched or not sources:
            return
        intent = intended(self.call, self.reader, new, self.call.embed(new.searchable), statement)
        if intent.action is None:
            if not isinstance(intent.decision, Stands):
                for one in self._current(intent.memory.id):
                    self._write(one, [Patch(one.id, renewal(one, self.call.now()))])
            return
        changed = {one.id for one in intent.writes if isinstance(one, Patch)}
        if changed & self.touched:
            return
        self.touched |= changed | {place}
        self._write(intent.memory, [*intent.writes, *self._derived(intent.memory, sources)])

    def _statement(self, step: Add, sources: Sequence[Record]) -> Statement:
        profile = self.call.profile
        tainted = any(one.tainted for one in sources)
        details: Details = {
            "kind": step.kind,
            "source": Source.CONSOLIDATED,
            "origin": Origin.DOCUMENT if tainted else Origin.USER,
            "scope": self.scope,
            "metadata": {EPISODES: [one.id for one in sources]},
        }
        if step.kind == "fact":
            details["category"] = category_in(profile, step.category)
        statement = replace(
            checked(step.content, details, profile),
            subject=step.subject,
            predicate=step.predicate,
            permanence=step.permanence,
            importance=importance_in(profile, step.importance),
        )
        return cleaned(statement)[0]

    def _revise(self, step: Revise) -> None:
        sources = self._sources(step.episodes)
        for old in self._current(step.target):
            tainted = any(one.tainted for one in sources)
            details: Details = {
                "kind": old.kind,
                "source": Source.CONSOLIDATED,
                "origin": Origin.DOCUMENT if tainted else Origin.USER,
                "scope": old.scope,
                "metadata": {**old.metadata, EPISODES: [one.id for one in sources]},
            }
            statement, _ = cleaned(checked(step.content, details, self.call.profile))
            new = version_of(self.call, old, replace(statement, permanence=step.permanence))
            distrusted = old.source is Source.EXPLICIT or (new.tainted and not old.tainted)
            if distrusted or new.status is Status.QUARANTINED or not sources:
                continue
            writes = superseding(self.reader, old, new, self.call.embed(new.searchable))
            self.touched.add(old.id)
            self._write(new, [*writes, *self._derived(new, sources)])

    def _relate(self, step: Relate) -> None:
        ends = [*self._current(step.source, anew=True), *self._current(step.target, anew=True)]
        if len(ends) < 2:
            return
        link = Link(step.source, step.target, step.relation, self.call.now())
        known = {(one.source, one.target, one.relation) for one in self.reader.links(step.source)}
        if (link.source, link.target, link.relation) not in known | self.touched:
            self.touched.add((link.source, link.target, link.relation))
            self.writes.append(AddLink(link))

    def _merge(self, step: Merge) -> None:
        if not self._current(step.kept, anew=True):
            return
        for memory_id in step.dropped:
            for one in self._current(memory_id):
                values = retirement(one, Status.FORGOTTEN, self.call.now())
                self._write(one, [Patch(one.id, values), *self._handed_on(one.id, step.kept)])
        self.touched.add(step.kept)

    def _handed_on(self, gone: str, heir: str) -> list[Write]:
        """The links of a memory that is merged, for the one that stands."""
        writes: list[Write] = []
        for link in self.reader.links(gone):
            ends = {link.source, link.target}
            if link.relation is Relation.SUPERSEDES or heir in ends or ends & self.touched:
                continue
            source = heir if link.source == gone else link.source
            target = heir if link.target == gone else link.target
            writes += [DropLink(link), AddLink(replace(link, source=source, target=target))]
        return writes

    def _derived(self, memory: Record, sources: Sequence[Record]) -> list[Write]:
        now = self.call.now()
        return [AddLink(Link(memory.id, one.id, Relation.DERIVED_FROM, now)) for one in sources]

    def _sources(self, ids: Sequence[str]) -> list[Record]:
        found = self.reader.load(filter(looks_like_id, ids))
        return [one for one in found.values() if self.call.sees(one)]

    def _current(self, memory_id: str, *, anew: bool = False) -> list[Record]:
        """The memory if it is still in force and, unless it may be met again, not yet touched."""
        one = self.reader.get(memory_id) if looks_like_id(memory_id) else None
        gone = one is None or one.status is not Status.ACTIVE or not self.call.sees(one)
        return [] if one is None or gone or (not anew and one.id in self.touched) else [one]

    def _write(self, memory: Record, writes: Sequence[Write]) -> None:
        self.touched.add(memory.id)
        self.ids.append(memory.id)
        self.writes += writes


def apply(call: Call, plan: Plan) -> Batch:
    """Carry out a plan as one event; nothing of it, if its episodes were consolidated since."""
    for step in plan.steps:
        if isinstance(step, Add | Revise):
            call.embed(step.content)  # before anyone has to wait for us
    with call.writing() as writer:
        episodes = writer.load(filter(looks_like_id, plan.episodes))
        for one in plan.episodes:
            known = episodes.get(one)
            waits = isinstance(known, Episode) and known.backlog is Backlog.PENDING
            if known is None or not waits or not call.sees(known):
                raise Conflict("Some of these episodes were consolidated since; plan anew.")
        application = Application(call, writer, _home(call, plan.scope))
        for step in plan.steps:
            with contextlib.suppress(InvalidInput):  # What cannot be stored is left out.
                application.take(step)
        now = call.now()
        event = None
        if application.writes:
            note = f"{len(application.ids)} memories from {len(plan.episodes)} episodes"
            event = writer.apply(
                call.event(Action.CONSOLIDATED, now, note=note), application.writes
            )
        if plan.episodes:
            # By an event of its own: whoever takes the memories back does not want them again.
            done: list[Write] = [Patch(one, {"backlog": Backlog.DONE}) for one in plan.episodes]
            note = f"{len(done)} episodes consolidated, {len(plan.refused)} proposals refused"
            writer.apply(call.event(Action.LEARNED, now, note=note), done)
    return Batch(tuple(application.ids), event)


def _home(call: Call, agent: str) -> str:
    """The scope of what is concluded from an agent's episodes: where that agent would write."""
    scopes = call.profile.scopes
    return GLOBAL if (scopes.visibility, scopes.write) == ("shared", "global") else agent
