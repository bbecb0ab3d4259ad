"""The write path: validate, redact, embed, find neighbours, decide, store with an event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, assert_never

from remembrancer.call import Call
from remembrancer.decay import build_belief
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.guard.secrets.bare_secrets import is_bare_secret
from remembrancer.profiles import DedupPolicy
from remembrancer.remember.attributes import (
    USER_SUBJECT,
    can_have_several,
    canonical_subject,
    fold_name,
)
from remembrancer.remember.conflicts import is_settled, list_conflicts, plan_conflict_links
from remembrancer.remember.doubt import UPDATES_KEY, drop_doubt
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.likeness import adds_nothing, can_be_the_same
from remembrancer.remember.provenance import drop_request, is_own_word
from remembrancer.remember.refused_rules import check_rule, find_objection
from remembrancer.remember.rule_trust import COUNTS
from remembrancer.remember.slots import FactKey, find_holder, get_slot, refuse_second_holder
from remembrancer.remember.statement import (
    FactFields,
    Statement,
    build_record,
    redact_statement,
    validate_statement,
)
from remembrancer.remember.trust import is_less_trusted
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import (
    AddLink,
    DropLink,
    Embedding,
    Filter,
    Insert,
    Patch,
    Reader,
    Visibility,
    Write,
    Writer,
)
from remembrancer.store.moments import begin_after, has_begun
from remembrancer.store.nearest import find_nearest
from remembrancer.types import (
    Action,
    Fact,
    Kind,
    Link,
    Record,
    Relation,
    Rule,
    Source,
    Status,
    Turn,
    Written,
    looks_like_id,
)

MAX_SAME_WORDS = 200
"""Memories with the same words that are compared with a new one."""

MAX_DOUBTS = 200
"""Unconfirmed memories that are compared with a new one."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same memory exists already."""

    old: Record


@dataclass(frozen=True, slots=True)
class Supersede:
    """It is a new version of an existing memory."""

    old: Record


@dataclass(frozen=True, slots=True)
class Reject:
    """It contradicts a memory that is more trusted, which stays."""

    old: Record


@dataclass(frozen=True, slots=True)
class Refuse:
    """It is a rule that was disabled, or that did harm and has become a warning."""

    old: Rule


@dataclass(frozen=True, slots=True)
class Add:
    """It is a new memory."""


Decision = Duplicate | Supersede | Reject | Refuse | Add


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Existing memories that a new one may repeat or replace.

    `said_at` is when the one that would be replaced was last said. `objection` is the disabled rule
    or the warning that keeps a rule from being stored.
    """

    identical: Record | None = None
    objection: Rule | None = None
    same_key: Fact | None = None
    nearest: Fact | None = None
    similarity: float = 0.0
    said_at: datetime | None = None


def decide(
    new: Record,
    near: Neighbours,
    dedup: DedupPolicy,
    *,
    said_at: datetime | None = None,
    keep_explicit: bool = False,
) -> Decision:
    """Decide whether a new memory is added, ignored, rejected or supersedes another."""
    if near.identical is not None and not (
        _is_better_sourced(new, near.identical) or _adds_key(new, near.identical)
    ):
        return Duplicate(near.identical)
    if near.objection is not None:
        return Refuse(near.objection)
    old = near.identical or near.same_key
    if old is None and near.nearest is not None and dedup.is_met_by(near.similarity):
        old = near.nearest if _can_be_same_fact(new, near.nearest) else None
    if old is None:
        return Add()
    outdated = said_at is not None and near.said_at is not None and said_at < near.said_at
    if outdated or is_less_trusted(new, old, keep_explicit=keep_explicit):
        return Reject(old)
    return Supersede(old)


def _is_better_sourced(new: Record, old: Record) -> bool:
    """True if a person now states what software had inferred or a document claimed."""
    said = new.source is Source.EXPLICIT and old.source is not Source.EXPLICIT
    return said or (old.tainted and not new.tainted)


def _adds_key(new: Record, old: Record) -> bool:
    """True if a fact has a key that the same words had not, and its source is no worse."""
    if not isinstance(new, Fact) or not isinstance(old, Fact):
        return False
    is_worse = (old.source is Source.EXPLICIT and new.source is not Source.EXPLICIT) or (
        new.tainted and not old.tainted
    )
    return new.key is not None and old.key is None and not is_worse


def remember(call: Call, content: str, details: FactFields) -> Written:
    """Store one memory; it supersedes what it restates, and a duplicate returns the original."""
    statement, secrets = redact_statement(validate_statement(content, details, call.profile))
    refuse_bare_secret(statement)
    new = build_record(call, statement, call.now())

    def write(writer: Writer, vectors: TextVectors) -> Written:
        return commit(call, writer, new, statement, vectors)[1]

    written = write_with_vectors(call, TextVectors(call, [new.search_text]), write)
    return replace(written, secrets=secrets)


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The decision, the memory that is in force afterwards, and the writes."""

    decision: Decision
    memory: Record
    action: Action | None = None
    writes: tuple[Write, ...] = ()


def commit(
    call: Call, writer: Writer, new: Record, statement: Statement, vectors: TextVectors
) -> tuple[Decision, Written]:
    """Store a new memory as decided, in the caller's transaction."""
    plan = plan_write(call, writer, new, statement, vectors)
    if isinstance(plan.decision, Refuse):
        refused = Written(plan.memory, None, refusal=plan.decision.old.explain_refusal())
        return plan.decision, refused
    if plan.action is None:
        return plan.decision, Written(plan.memory, None)
    event = writer.apply(call.new_event(plan.action, new.recorded_at), plan.writes)
    replaced = writer.get(plan.decision.old.id) if isinstance(plan.decision, Supersede) else None
    stored = replace(plan.memory, recorded_at=event.at)
    conflicts = list_conflicts(call, writer, stored)
    return plan.decision, Written(stored, event, replaced, conflicts=conflicts)


def plan_write(
    call: Call, reader: Reader, new: Record, statement: Statement, vectors: TextVectors
) -> WritePlan:
    """Decide what to write for a new memory, without writing."""
    embedding = vectors.get(new.search_text)
    if new.status is Status.QUARANTINED:
        return _plan_quarantine(reader, new, embedding)
    if new.status is Status.UNCONFIRMED:
        return _plan_unconfirmed(reader, new, embedding)
    near = _find_neighbours(call, reader, new, embedding)
    decision = decide(
        new,
        near,
        call.profile.dedup,
        said_at=statement.said_at,
        keep_explicit=call.profile.learning.keep_explicit,
    )
    match decision:
        case Duplicate(old) | Reject(old) | Refuse(old):
            return WritePlan(decision, old)
        case Supersede(old):
            version = begin_after(reader, old, build_version(call, old, statement))
            writes = plan_supersede(call, reader, old, version, vectors.get(version.search_text))
            settled = settle_doubts(reader, version)
            return WritePlan(decision, version, Action.REPLACED, (*writes, *settled))
        case Add():
            settled = settle_doubts(reader, new)
            flagged = plan_conflict_links(call, reader, new)
            writes = [Insert(new, embedding), *settled, *flagged]
            return WritePlan(decision, new, Action.REMEMBERED, tuple(writes))
        case never:
            assert_never(never)


def _plan_quarantine(reader: Reader, new: Record, embedding: Embedding) -> WritePlan:
    """A quarantined memory supersedes nothing, and is stored once under each key."""
    here = Filter(
        now=new.recorded_at,
        kinds=(new.kind,),
        visible=Visibility(scopes=(new.scope,)),
        statuses=(Status.QUARANTINED,),
        fingerprint=fingerprint(new.content),
    )
    for old in reader.find(here, MAX_SAME_WORDS):
        if _get_key(old) == _get_key(new):
            return WritePlan(Duplicate(old), old)
    return WritePlan(Add(), new, Action.QUARANTINED, (Insert(new, embedding),))


def _get_key(record: Record) -> FactKey | None:
    return record.key if isinstance(record, Fact) else None


def _plan_unconfirmed(reader: Reader, new: Record, embedding: Embedding) -> WritePlan:
    """A memory in doubt supersedes nothing, and is not stored twice."""
    here = Filter(
        now=new.recorded_at,
        kinds=(new.kind,),
        visible=Visibility(scopes=(new.scope,)),
        statuses=(Status.ACTIVE, Status.UNCONFIRMED),
        fingerprint=fingerprint(new.content),
    )
    for old in reader.find(here, 20):
        if have_same_subject(new, old):
            return WritePlan(Duplicate(old), old)
    return WritePlan(Add(), new, Action.DOUBTED, (Insert(new, embedding),))


def settle_doubts(reader: Reader, new: Record) -> list[Write]:
    """The writes that drop what was in doubt and is now known for certain."""
    in_doubt = Filter(
        now=new.recorded_at,
        kinds=(new.kind,),
        visible=Visibility(scopes=(new.scope,)),
        statuses=(Status.UNCONFIRMED,),
    )
    return [
        Patch(old.id, retirement_values(old, Status.FORGOTTEN, new.recorded_at))
        for old in reader.find(in_doubt, MAX_DOUBTS)
        if have_same_subject(new, old)
        and adds_nothing(old.content, new.content)
        and can_be_the_same(new.content, old.content)
    ]


def update(call: Call, old: Record, content: str, details: FactFields) -> Written:
    """Supersede a memory by a new version."""
    if details.get("kind", old.kind) != old.kind:
        raise InvalidInput(
            f"The kind of a memory cannot change: leave it out, or pass {old.kind!r}."
        )
    topic = (old.subject, old.predicate) if isinstance(old, Fact) else ()
    said = validate_statement(content, {"kind": old.kind, **details}, call.profile)
    statement, secrets = redact_statement(said, topic)
    refuse_bare_secret(statement)

    def write(writer: Writer, vectors: TextVectors) -> Written:
        current = _load_current_version(call, writer, old)
        if statement.content == current.content and not details and not _is_unconfirmed(current):
            return Written(current, None, secrets=secrets)
        if statement.origin.is_untrusted and not current.tainted:
            raise Conflict("Text from a tool or document cannot replace what a person said.")
        version = build_version(call, current, statement)
        if version.status is Status.QUARANTINED:
            raise Conflict("The text comes from outside and looks like an instruction.")
        if isinstance(current, Rule) and current.is_warning:
            _refuse_end(statement)
        else:
            check_rule(call, writer, version, vectors.get(version.search_text))
        return replace(supersede(call, writer, current, statement, vectors), secrets=secrets)

    vectors = TextVectors(call, [build_version(call, old, statement).search_text])
    return write_with_vectors(call, vectors, write)


def _refuse_end(warning: Statement) -> None:
    if warning.ttl_days is not None or warning.valid_until is not None:
        raise InvalidInput(
            "A warning does not expire: leave out ttl_days and valid_until, or forget the warning."
        )


def build_version(call: Call, old: Record, statement: Statement) -> Record:
    """A new version of a memory; fields that are not given are inherited."""
    inherited: dict[str, Any] = {
        "scope": old.scope,
        "importance": old.importance,
        "permanence": old.permanence,
        "tags": old.tags,
        "metadata": drop_request(drop_doubt(old.metadata)),
    }
    if _is_unconfirmed(old):  # It was never in force: the correction takes over its dates.
        inherited |= {"valid_from": old.valid_from, "valid_until": old.valid_until}
    if isinstance(old, Fact):
        inherited |= {
            "category": old.category,
            "subject": old.subject,
            "predicate": old.predicate,
        }
    unsaid = {name: value for name, value in inherited.items() if not getattr(statement, name)}
    new = build_record(call, replace(statement, **unsaid), call.now())
    if isinstance(old, Rule) and isinstance(new, Rule):
        new = _inherit_trust(old, new, statement)
    # Only the person themselves can clear the taint of text from outside.
    tainted = new.tainted or (old.tainted and not is_own_word(new))
    return replace(new, supersedes=old.id, lineage=old.lineage, tainted=tainted)


def _inherit_trust(old: Rule, new: Rule, statement: Statement) -> Rule:
    """A rule in the same words keeps its record; a warning in any words keeps it, and lasts."""
    earned: dict[str, Any] = {name: getattr(old, name) for name in ("maturity", *COUNTS)}
    if old.is_warning:
        lasting = replace(new, valid_until=None, expires_at=None, ttl_days=None)
        return replace(lasting, permanence=old.permanence, confidence=old.confidence, **earned)
    if fingerprint(new.content) != fingerprint(old.content):
        return new
    given = statement.confidence is not None
    confidence = new.confidence if given else max(old.confidence, new.confidence)
    return replace(new, confidence=confidence, **earned)


def supersede(
    call: Call, writer: Writer, old: Record, statement: Statement, vectors: TextVectors
) -> Written:
    """Supersede a memory in the caller's transaction."""
    new = begin_after(writer, old, build_version(call, old, statement))
    new = share_key(writer, new) if _is_unconfirmed(old) else new
    rival = find_rival(call, writer, new) if _is_unconfirmed(old) else None
    retired, linked = plan_displacement(call, new, rival, new.recorded_at)
    writes = plan_supersede(call, writer, old, new, vectors.get(new.search_text))
    writes = [*retired, *writes, *linked]
    refuse_second_holder(writer, writes)
    event = writer.apply(call.new_event(Action.UPDATED, new.recorded_at), writes)
    replaced = writer.get(rival.id if rival else old.id)
    new = replace(new, recorded_at=event.at)
    return Written(new, event, replaced, conflicts=list_conflicts(call, writer, new))


def find_rival(call: Call, reader: Reader, record: Record) -> Record | None:
    """The memory that `record` supersedes if it becomes active.

    It is the one that it updates, or one with the same key or the same words.
    """
    target = str(record.metadata.get(UPDATES_KEY, ""))
    updated = reader.get(target) if looks_like_id(target) else None
    if updated is not None and updated.status is Status.ACTIVE:
        return updated
    holder = _find_key_holder(reader, record)
    if holder is not None:
        return holder
    same_words = Filter(
        now=call.now(),
        kinds=(record.kind,),
        visible=Visibility(scopes=(record.scope,)),
        statuses=(Status.ACTIVE,),
        fingerprint=fingerprint(record.content),
    )
    found = reader.find(same_words, 20)
    return next((one for one in found if _can_be_same_fact(record, one)), None)


def _find_key_holder(reader: Reader, record: Record) -> Fact | None:
    """The fact that holds the only value of the same attribute."""
    if not isinstance(record, Fact) or record.key is None or _is_one_of_several(record):
        return None
    return find_holder(reader, record.key)


def _is_one_of_several(fact: Fact) -> bool:
    return fact.predicate is not None and can_have_several(fact.predicate)


def share_key(reader: Reader, record: Record) -> Record:
    """The memory without its predicate if another value of the attribute is stored under it."""
    if not isinstance(record, Fact) or record.key is None or not _is_one_of_several(record):
        return record
    holder = find_holder(reader, record.key)
    is_held = holder is not None and holder.status is Status.ACTIVE and holder.id != record.id
    return replace(record, predicate=None) if is_held else record


def plan_displacement(
    call: Call, new: Record, rival: Record | None, at: datetime
) -> tuple[list[Write], list[Write]]:
    """The writes that supersede a memory by another one: before that is active, and after."""
    if rival is None:
        return [], []
    if new.tainted and not rival.tainted and call.principal.agent is not None:
        raise Conflict("Text from a tool or document cannot replace what a person said.")
    values = retirement_values(rival, Status.SUPERSEDED, at, new.valid_from)
    successor = Link(new.id, rival.id, Relation.SUPERSEDES, at)
    return [Patch(rival.id, values)], [AddLink(successor)]


def _load_current_version(call: Call, reader: Reader, seen: Record) -> Record:
    """The current version of the memory that the caller saw: it may have been updated since."""
    current = reader.get(seen.id)
    if current is not None and current.status is Status.SUPERSEDED:
        either = (Status.ACTIVE, Status.EXPIRED)
        wanted = Filter(
            now=call.now(),
            kinds=(seen.kind,),
            visible=call.resolve_visibility(),
            lineage=seen.lineage,
            statuses=either,
        )
        # By the status of its row: an expired memory can still be updated.
        versions = reader.find(wanted, 1000)
        current = next((one for one in versions if one.status is Status.ACTIVE), None)
    if current is None or current.status not in (Status.ACTIVE, Status.UNCONFIRMED):
        raise Conflict("The memory is no longer active. See its history, or restore it first.")
    return current


def _is_unconfirmed(record: Record) -> bool:
    return record.status is Status.UNCONFIRMED


def plan_supersede(
    call: Call, reader: Reader, old: Record, new: Record, embedding: Embedding
) -> list[Write]:
    """The writes that supersede `old` by `new`, move its links and flag its conflicts."""
    until = old.valid_from if _is_unconfirmed(old) else new.valid_from
    retired: Write = Patch(
        old.id, retirement_values(old, Status.SUPERSEDED, new.recorded_at, until)
    )
    successor = Link(new.id, old.id, Relation.SUPERSEDES, new.recorded_at)
    moved: list[Write] = []
    for link in reader.list_links(old.id):
        if link.relation is Relation.SUPERSEDES or _is_source_of_other_words(link, old, new):
            continue
        moved.append(DropLink(link))
        if not is_settled(reader, link, old, new):
            moved.append(AddLink(_move_link(link, old.id, new.id)))
    flagged = plan_conflict_links(call, reader, new, old=old)
    return [retired, Insert(new, embedding), AddLink(successor), *moved, *flagged]


def _is_source_of_other_words(link: Link, old: Record, new: Record) -> bool:
    """True if a link names what the words of the old version were derived from, not the new."""
    is_source = link.relation is Relation.DERIVED_FROM and link.source == old.id
    return is_source and fingerprint(old.content) != fingerprint(new.content)


def retirement_values(
    record: Record, status: Status, at: datetime, until: datetime | None = None
) -> dict[str, object]:
    """The columns of a retired memory; it was valid until `until` at the latest."""
    # What has not begun yet never will; the rest was valid up to its end.
    end = max(record.valid_from, until or at) if has_begun(record, at) else at
    if record.valid_until is not None:
        end = min(end, record.valid_until)
    return {"status": status, "retired_at": at, "valid_until": end}


def _can_be_same_fact(new: Record, old: Record) -> bool:
    """False for facts about different subjects or attributes, or that differ in what they tell."""
    if not isinstance(new, Fact) or not isinstance(old, Fact):
        return True
    if new.key is not None and old.key is not None and get_slot(new.key) != get_slot(old.key):
        return False
    same_subject = _fold_subject(new) == _fold_subject(old)
    return same_subject and can_be_the_same(new.content, old.content)


def have_same_subject(new: Record, old: Record) -> bool:
    """True if both are about the same subject; one may name it only in its words."""
    if _fold_subject(new) == _fold_subject(old):
        return True
    return _names_subject_of(new, old) or _names_subject_of(old, new)


def _names_subject_of(one: Record, other: Record) -> bool:
    """True if a fact without a subject names that of the other."""
    if not isinstance(one, Fact) or one.subject is not None:
        return False
    return set(_fold_subject(other).split("_")) <= set(fold_name(one.content).split("_"))


def _fold_subject(record: Record) -> str:
    """Whom a fact is about; one without a subject is about the user."""
    subject = record.subject if isinstance(record, Fact) else None
    return fold_name(canonical_subject(subject or USER_SUBJECT))


def _find_neighbours(call: Call, reader: Reader, new: Record, embedding: Embedding) -> Neighbours:
    decay = call.profile.decay
    here = Filter(
        now=new.recorded_at,
        kinds=(new.kind,),
        visible=Visibility(scopes=(new.scope,)),
        statuses=(Status.ACTIVE,),
        decayed=build_belief(decay, below=decay.expire_below),
    )
    if new.kind is Kind.EPISODE:
        return Neighbours()
    same_words = reader.find(replace(here, fingerprint=fingerprint(new.content)), 20)
    identical = next((old for old in same_words if _is_identical(new, old)), None)
    if isinstance(new, Rule) and identical is None:
        return Neighbours(objection=find_objection(call, reader, new, embedding))
    if not isinstance(new, Fact):
        return Neighbours(identical=identical)
    same_key = find_holder(reader, new.key) if new.key is not None else None
    if identical is not None and not _is_held_by_another(same_key, identical):
        return Neighbours(identical=identical)
    if same_key is not None or new.has_program_key:
        return Neighbours(same_key=same_key, said_at=last_said_at(reader, same_key, here.now))
    hit = next(iter(find_nearest(reader, embedding, here, 1)), None)
    near = reader.get(hit.id) if hit else None
    return Neighbours(
        nearest=near if isinstance(near, Fact) else None,
        similarity=hit.score if hit else 0.0,
        said_at=last_said_at(reader, near, here.now),
    )


def last_said_at(reader: Reader, record: Record | None, now: datetime) -> datetime | None:
    """When the person last said a memory, as far as the turns are still there.

    None if a clock that was ahead has dated it later than now.
    """
    if record is None:
        return None
    turns = reader.load(one.turn_id for one in record.evidence if looks_like_id(one.turn_id))
    moments = [one.said_at for one in turns.values() if isinstance(one, Turn)]
    stated_at = record.valid_from if record.source is Source.IMPORTED else record.recorded_at
    last = max(moments, default=stated_at)
    return last if last <= now else None


def _is_identical(new: Record, old: Record) -> bool:
    if not isinstance(new, Fact) or not isinstance(old, Fact):
        return True
    return _can_share_key(new, old) and have_same_subject(new, old)


def _can_share_key(new: Fact, old: Fact) -> bool:
    """True if both tell the same attribute, however it is spelled, or one of them tells none."""
    if new.has_program_key or old.has_program_key:
        return new.key is None or new.key == old.key
    return new.key is None or old.key is None or get_slot(new.key) == get_slot(old.key)


def _is_held_by_another(holder: Fact | None, identical: Record) -> bool:
    """True if another fact is now the value of the attribute that the same words tell."""
    return holder is not None and holder.status is Status.ACTIVE and holder.id != identical.id


def _move_link(link: Link, old_id: str, new_id: str) -> Link:
    return replace(
        link,
        source=new_id if link.source == old_id else link.source,
        target=new_id if link.target == old_id else link.target,
    )


def refuse_bare_secret(statement: Statement) -> None:
    """Refuse a redacted statement that says nothing besides a secret."""
    if is_bare_secret(statement.content):
        raise InvalidInput("The text is nothing but a secret. Secrets are never stored.")
