"""Applies a consolidation plan in one transaction, as one event that undo reverts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from remembrancer.audit.link_transfer import link_key, transfer_links
from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.guard.redaction import redact_text
from remembrancer.learn.consolidation.plan import (
    AddStep,
    AffirmStep,
    ConsolidationPlan,
    MergeStep,
    PlanStep,
    RelateStep,
    ReviseStep,
)
from remembrancer.learn.consolidation.validate import doubt_revision
from remembrancer.learn.profile_mapping import map_category, map_importance
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.lifecycle import renewal_values
from remembrancer.remember.pipeline import (
    Duplicate,
    Refuse,
    Reject,
    Supersede,
    build_version,
    have_same_subject,
    plan_supersede,
    plan_write,
    retirement_values,
)
from remembrancer.remember.provenance import EPISODES_KEY
from remembrancer.remember.refused_rules import find_objection
from remembrancer.remember.slots import find_holder, get_slot
from remembrancer.remember.statement import (
    FactFields,
    Statement,
    build_record,
    redact_statement,
    validate_statement,
)
from remembrancer.remember.trust import PERSONAL, is_less_trusted, trust_tier
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import (
    AddLink,
    Filter,
    Insert,
    Patch,
    Reader,
    Visibility,
    Write,
    Writer,
)
from remembrancer.text_format import pluralize
from remembrancer.types import (
    GLOBAL_SCOPE,
    Action,
    Backlog,
    Batch,
    Episode,
    Fact,
    Kind,
    Link,
    Origin,
    Record,
    Relation,
    Rule,
    Source,
    Status,
    looks_like_id,
)

MAX_TWINS = 20
REFUSED_RULE = "a rule that is disabled or has become a warning"
CHANGED_TWICE = "changed by another step already"
NOT_ACTIVE = "no longer active"
DEAD_LINK = "a link to a memory that is not active"
NO_EPISODES = "its episodes are gone"


@dataclass(slots=True)
class PlanExecution:
    """Collects the writes of a plan.

    `touched` holds memory ids, slots and link keys, so that no two steps change the same thing.
    `successors` holds the ids of new memories by the name of their step, and by the id of the
    memory that they replace. `dropped` holds the reasons why steps were left out.
    """

    call: Call
    reader: Reader
    vectors: TextVectors
    scope: str
    writes: list[Write] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    unconfirmed: int = 0
    touched: set[object] = field(default_factory=set)
    successors: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)

    def apply_step(self, step: PlanStep) -> None:
        """Add the writes of a step, unless the memories have changed since it was planned."""
        match step:
            case AddStep():
                self._add(step)
            case ReviseStep():
                self._revise(step)
            case AffirmStep():
                self._renew(step.target, self._load_sources(step.episodes))
            case RelateStep():
                self._relate(step)
            case MergeStep():
                self._merge(step)

    def _renew(self, memory_id: str, sources: Sequence[Record]) -> None:
        if (one := self._take(memory_id)) is not None:
            renewed = Patch(one.id, renewal_values(one, self.call.now()))
            self._write(one, [renewed, *self._link_new_sources(one, sources)])

    def _link_new_sources(self, memory: Record, sources: Sequence[Record]) -> list[AddLink]:
        """The links to episodes that say the same again; the person's own word comes from none."""
        if trust_tier(memory) == PERSONAL:
            return []
        known = self.touched | {link_key(one) for one in self.reader.list_links(memory.id)}
        trusted = [one for one in sources if memory.tainted or not one.tainted]
        links = self._build_source_links(memory, trusted)
        return [one for one in links if link_key(one.link) not in known]

    def _add(self, step: AddStep) -> None:
        sources = self._load_sources(step.episodes)
        if not sources:
            self.dropped.append(NO_EPISODES)
            return
        statement = self._build_statement(step, sources)
        new = build_record(self.call, statement, self.call.now())
        key = get_slot(new.key) if isinstance(new, Fact) and new.key else new.content.casefold()
        if key in self.touched:
            self.dropped.append(CHANGED_TWICE)
            return
        contradicts = step.contradicts or self._find_trusted_elsewhere(new, sources)
        if step.unconfirmed or contradicts:
            self._add_unconfirmed(new, sources, contradicts)
            return
        if isinstance(new, Fact) and (keyless := self._find_keyless(new)) is not None:
            self._give_key(keyless, new, sources, step)
            return
        intent = plan_write(self.call, self.reader, new, statement, self.vectors)
        match intent.decision:
            case Refuse():
                self.dropped.append(REFUSED_RULE)
            case Duplicate(old):
                self._renew(old.id, sources)
                self._name(step.name, old)
            case Reject(old) | Supersede(old) if is_less_trusted(new, old, keep_explicit=True):
                self._add_unconfirmed(new, sources, old.id)
            case Reject(old):
                self._supersede(old, statement, sources, step.name)
            case _ if self._changes_touched(intent.writes):
                self.dropped.append(CHANGED_TWICE)
            case _:
                self.touched.add(key)
                self._write_new(intent.memory, intent.writes, sources, step.name)

    def _find_trusted_elsewhere(self, new: Record, sources: Sequence[Record]) -> str | None:
        """A more trusted fact under the same subject and predicate in another visible scope."""
        if not isinstance(new, Fact) or new.key is None:
            return None
        for scope in {GLOBAL_SCOPE, *(one.scope for one in sources)} - {new.scope}:
            old = find_holder(self.reader, (scope, *new.key[1:]))
            visible = old is not None and old.status is Status.ACTIVE and self.call.can_see(old)
            if old is not None and visible and is_less_trusted(new, old, keep_explicit=True):
                return old.id
        return None

    def _find_keyless(self, new: Fact) -> Fact | None:
        """The fact that says the same and has no key, if the key of the new one is free."""
        if new.key is None or new.status is not Status.ACTIVE or not self._is_free(new.key):
            return None
        twins = self.reader.find(_filter_twins(new, Status.ACTIVE), MAX_TWINS)
        return next(
            (
                one
                for one in twins
                if isinstance(one, Fact)
                and one.predicate is None
                and one.id not in self.touched
                and have_same_subject(new, one)
                and (one.tainted or not new.tainted)
            ),
            None,
        )

    def _give_key(self, old: Fact, keyed: Fact, sources: Sequence[Record], step: AddStep) -> None:
        """Supersede a fact by a version on the same word, with the key of a new fact."""
        version = replace(
            old,
            **renewal_values(old, keyed.recorded_at),  # type: ignore[arg-type]
            id=keyed.id,
            recorded_at=keyed.recorded_at,
            subject=keyed.subject,
            predicate=keyed.predicate,
            permanence=step.permanence or old.permanence,
            supersedes=old.id,
        )
        vector = self.vectors.get(version.search_text)
        writes = plan_supersede(self.call, self.reader, old, version, vector)
        is_said = trust_tier(old) == PERSONAL
        self._write_new(version, writes, () if is_said else sources, step.name)

    def _changes_touched(self, writes: Sequence[Write]) -> bool:
        return any(isinstance(one, Patch) and one.id in self.touched for one in writes)

    def _supersede(
        self, old: Record, statement: Statement, sources: Sequence[Record], name: str | None
    ) -> None:
        if old.id in self.touched:
            self.dropped.append(CHANGED_TWICE)
            return
        new = build_version(self.call, old, statement)
        vector = self.vectors.get(new.search_text)
        if isinstance(new, Rule) and find_objection(self.call, self.reader, new, vector):
            self.dropped.append(REFUSED_RULE)
            return
        writes = plan_supersede(self.call, self.reader, old, new, vector)
        self._write_new(new, writes, sources, name)

    def _write_new(
        self, new: Record, writes: Sequence[Write], sources: Sequence[Record], name: str | None
    ) -> None:
        """Add the writes of a new memory or version, and the links to its episodes."""
        every = [*writes, *self._build_source_links(new, sources)]
        self.touched |= {one.id for one in every if isinstance(one, Patch)}
        self.touched |= {link_key(one.link) for one in every if isinstance(one, AddLink)}
        self.touched |= {get_slot(new.key)} if isinstance(new, Fact) and new.key else set()
        if new.supersedes is not None:
            self.successors[new.supersedes] = new.id
        self._name(name, new)
        self._write(new, [*every, *self._retire_doubts(new)])

    def _add_unconfirmed(
        self, new: Record, sources: Sequence[Record], contradicts: str | None
    ) -> None:
        """Store a fact for review; it supersedes nothing and is never put into a prompt."""
        if new.status is Status.ACTIVE:
            new = replace(new, status=Status.UNCONFIRMED)
        if new.kind is not Kind.FACT or self._is_in_review(new):
            return
        writes: list[Write] = [Insert(new, self.vectors.get(new.search_text))]
        writes += self._build_source_links(new, sources)
        if (old := self._find_active(contradicts or "")) is not None:
            link = Link(new.id, old.id, Relation.CONTRADICTS, self.call.now())
            writes.append(AddLink(link))
        self.unconfirmed += 1
        self.touched.add(new.content.casefold())
        self._write(new, writes)

    def _is_in_review(self, new: Record) -> bool:
        waiting = _filter_twins(new, Status.UNCONFIRMED, Status.QUARANTINED)
        return new.content.casefold() in self.touched or bool(self.reader.find_ids(waiting, 1))

    def _retire_doubts(self, new: Record) -> list[Write]:
        """The writes that end unconfirmed facts with the words of a new memory."""
        twins = self.reader.find(_filter_twins(new, Status.UNCONFIRMED), MAX_TWINS)
        now = self.call.now()
        return [Patch(one.id, retirement_values(one, Status.SUPERSEDED, now)) for one in twins]

    def _build_statement(self, step: AddStep, sources: Sequence[Record]) -> Statement:
        profile = self.call.profile
        details = _describe_sources(sources)
        details |= {"kind": step.kind, "scope": self._resolve_scope(step.scope, sources)}
        if step.kind == "fact":
            details["category"] = map_category(profile, step.category)
        statement = replace(
            validate_statement(step.content, details, profile),
            subject=step.subject,
            predicate=step.predicate,
            permanence=step.permanence,
            importance=map_importance(profile, step.importance),
            agent=_find_common(one.agent for one in sources),
        )
        return redact_statement(statement)[0]

    def _resolve_scope(self, proposed: str | None, sources: Sequence[Record]) -> str:
        """The proposed scope if it is global or the episodes' own, else that of the profile."""
        scopes = self.call.profile.scopes
        own = _find_common(one.scope for one in sources) or self.scope
        if scopes.visibility != "shared":
            return own
        if proposed in (GLOBAL_SCOPE, own):
            return proposed or own
        return GLOBAL_SCOPE if scopes.write == "global" else own

    def _revise(self, step: ReviseStep) -> None:
        sources = self._load_sources(step.episodes)
        if not sources:
            self.dropped.append(NO_EPISODES)
            return
        old = self._take(step.target)
        if old is None:
            return
        statement = self._build_revision(step, old, sources)
        new = build_version(self.call, old, statement)
        if new.status is Status.QUARANTINED:
            self.dropped.append("text from outside that instructs")
        elif not is_less_trusted(new, old, keep_explicit=True):
            self._supersede(old, statement, sources, step.name)
        elif (doubted := doubt_revision(step, old)) is not None:
            self._add(doubted)

    def _build_revision(
        self, step: ReviseStep, old: Record, sources: Sequence[Record]
    ) -> Statement:
        profile = self.call.profile
        details = _describe_sources(sources)
        details |= {"kind": old.kind, "scope": self._resolve_revised_scope(step, old, sources)}
        details["metadata"] = {**old.metadata, **details["metadata"]}
        if step.category is not None and old.kind is Kind.FACT:
            details["category"] = map_category(profile, step.category)
        statement = replace(
            validate_statement(step.content, details, profile),
            permanence=step.permanence,
            importance=map_importance(profile, step.importance),
            agent=_find_common(one.agent for one in sources),
        )
        if isinstance(old, Fact) and old.subject is None and step.subject and step.predicate:
            key = (details["scope"], step.subject, step.predicate)
            if self._is_free(key):
                statement = replace(statement, subject=step.subject, predicate=step.predicate)
        return redact_statement(statement)[0]

    def _resolve_revised_scope(
        self, step: ReviseStep, old: Record, sources: Sequence[Record]
    ) -> str:
        """The memory's own scope; a revision can make it global, never hide it from agents."""
        if step.scope != GLOBAL_SCOPE or self._resolve_scope(step.scope, sources) != GLOBAL_SCOPE:
            return old.scope
        key = old.key if isinstance(old, Fact) else None
        return GLOBAL_SCOPE if key is None or self._is_free((GLOBAL_SCOPE, *key[1:])) else old.scope

    def _is_free(self, key: tuple[str, str, str]) -> bool:
        return get_slot(key) not in self.touched and find_holder(self.reader, key) is None

    def _relate(self, step: RelateStep) -> None:
        source, target = (self._find_end(one) for one in (step.source, step.target))
        if source is None or target is None:
            self.dropped.append(DEAD_LINK)
            return
        if source == target:
            return
        link = Link(source, target, step.relation, self.call.now())
        known = {link_key(one) for one in self.reader.list_links(source)}
        if link_key(link) not in known | self.touched:
            self.touched.add(link_key(link))
            self.writes.append(AddLink(link))

    def _find_end(self, reference: str) -> str | None:
        """The id of the memory in force for an id or the name of a step."""
        if reference in self.successors:
            return self.successors[reference]
        current = self._find_active(reference)
        return current.id if current is not None else None

    def _merge(self, step: MergeStep) -> None:
        if step.kept in self.successors:
            self.dropped.append(CHANGED_TWICE)
            return
        kept = self._find_active(step.kept)
        if kept is None:
            self.dropped.append(NOT_ACTIVE)
            return
        dropped = [one for one in map(self._take, step.dropped) if one is not None]
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
        expiry = _latest_expiry([kept, *dropped])
        if expiry != kept.expires_at:
            self.writes.append(Patch(kept.id, {"expires_at": expiry}))

    def _name(self, name: str | None, memory: Record) -> None:
        if name is not None:
            self.successors[name] = memory.id

    def _build_source_links(self, memory: Record, sources: Sequence[Record]) -> list[AddLink]:
        now = self.call.now()
        return [AddLink(Link(memory.id, one.id, Relation.DERIVED_FROM, now)) for one in sources]

    def _load_sources(self, ids: Sequence[str]) -> list[Record]:
        found = self.reader.load(filter(looks_like_id, ids))
        return [one for one in found.values() if self.call.can_see(one)]

    def _take(self, memory_id: str) -> Record | None:
        """The memory that a step changes; None, with the reason, if the step is left out."""
        one = self._find_active(memory_id)
        if one is None:
            self.dropped.append(NOT_ACTIVE)
        elif one.id in self.touched:
            self.dropped.append(CHANGED_TWICE)
            return None
        return one

    def _find_active(self, memory_id: str) -> Record | None:
        """The memory, if it is active and visible."""
        one = self.reader.get(memory_id) if looks_like_id(memory_id) else None
        gone = one is None or one.status is not Status.ACTIVE or not self.call.can_see(one)
        return None if gone else one

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
    call = call.at(call.now())
    execution = PlanExecution(call, writer, vectors, plan.scope)
    for step in plan.steps:
        try:
            execution.apply_step(step)
        except InvalidInput:
            execution.dropped.append("not valid")
    event, now = None, call.now()
    if execution.writes:
        note = pluralize(len(execution.ids), "memory", "memories")
        if plan.episodes:
            note += f" from {pluralize(len(plan.episodes), 'episode')}"
        if execution.unconfirmed:
            note += f", {execution.unconfirmed} unconfirmed"
        note += "" if plan.episodes else _count_reasons(execution.dropped, "left out")
        event = writer.apply(call.new_event(Action.CONSOLIDATED, now, note=note), execution.writes)
    if plan.episodes:
        # An event of its own: undoing the memories must not put the episodes back in the queue.
        action = Action.CONSOLIDATED if event is None else Action.LEARNED
        done: list[Write] = [Patch(one, {"backlog": Backlog.DONE}) for one in plan.episodes]
        note = f"{pluralize(len(done), 'episode')} consolidated"
        note += _count_reasons(plan.reasons, "refused") + _count_reasons(
            execution.dropped, "left out"
        )
        writer.apply(call.new_event(action, now, note=note), done)
    return Batch(tuple(execution.ids), event)


def _latest_expiry(records: Sequence[Record]) -> datetime | None:
    """When the last of the memories expires; None if one of them never does."""
    times = [one.expires_at for one in records]
    return None if None in times else max(filter(None, times))


def _count_reasons(reasons: Sequence[str], what: str) -> str:
    """`, 2 refused: no episode supports it`; nothing if there are no reasons."""
    if not reasons:
        return ""
    distinct = "; ".join(redact_text(one) for one in dict.fromkeys(reasons))
    return f", {len(reasons)} {what}: {distinct}"


def _check_pending(call: Call, plan: ConsolidationPlan, reader: Reader) -> None:
    episodes = reader.load(filter(looks_like_id, plan.episodes))
    for memory_id in plan.episodes:
        known = episodes.get(memory_id)
        waits = isinstance(known, Episode) and known.backlog is Backlog.PENDING
        if known is None or not waits or not call.can_see(known):
            raise Conflict("Some of these episodes were consolidated since. Plan again.")


def _filter_twins(new: Record, *statuses: Status) -> Filter:
    """Memories with the same words in the same scope."""
    return Filter(
        now=new.recorded_at,
        kinds=(new.kind,),
        visible=Visibility(scopes=(new.scope,)),
        statuses=statuses,
        fingerprint=fingerprint(new.content),
    )


def _describe_sources(sources: Sequence[Record]) -> FactFields:
    """The fields that a memory takes over from its episodes."""
    details: FactFields = {
        "source": Source.CONSOLIDATED,
        "origin": Origin.DOCUMENT if any(one.tainted for one in sources) else Origin.USER,
        "metadata": {EPISODES_KEY: [one.id for one in sources]},
        "valid_from": max(one.valid_from for one in sources),
    }
    if session := _find_common(one.session_id for one in sources):
        details["session_id"] = session
    return details


def _find_common(values: Iterable[str | None]) -> str | None:
    """The value if all are the same, else None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None
