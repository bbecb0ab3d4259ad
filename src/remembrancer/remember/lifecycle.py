"""Confirms, forgets, deletes, restores and links stored memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.remember.conflicts import list_conflicts, plan_conflict_links
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.pipeline import (
    find_rival,
    plan_displacement,
    retirement_values,
    share_key,
    supersede,
)
from remembrancer.remember.purge import purge
from remembrancer.remember.refused_rules import refuse_revival
from remembrancer.remember.rule_trust import extend_expiry
from remembrancer.remember.slots import refuse_second_holder
from remembrancer.remember.statement import Statement
from remembrancer.store.contract import (
    VALID_STATUSES,
    AddLink,
    DropLink,
    Filter,
    Patch,
    Reader,
    Visibility,
    Write,
    Writer,
)
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    Action,
    Batch,
    Event,
    Link,
    Record,
    Relation,
    Status,
    Written,
)

FieldValues = Mapping[str, object]
"""New values of the columns of a memory."""

RESTORABLE = (
    Status.FORGOTTEN,
    Status.TRASHED,
    Status.EXPIRED,
    Status.DISABLED,
    Status.QUARANTINED,
)
CONFIRMABLE = (Status.ACTIVE, Status.EXPIRED, Status.UNCONFIRMED)
FORGETTABLE = (Status.ACTIVE, Status.UNCONFIRMED)
DELETABLE = (*CONFIRMABLE, Status.FORGOTTEN, Status.DISABLED, Status.QUARANTINED)
"""The statuses of what moves to the trash with everything else; past versions follow."""

PURGEABLE = (*DELETABLE, Status.TRASHED, Status.RETRACTED)
UNRETIRED_STATUSES = (Status.ACTIVE, Status.QUARANTINED, Status.UNCONFIRMED)
RESTORE_TARGETS = (*VALID_STATUSES, Status.QUARANTINED, Status.UNCONFIRMED)
"""The statuses that a restored memory can return to."""


def confirm(call: Call, record: Record) -> Written:
    """Confirm that a memory is still true; its confidence and TTL start over.

    An unconfirmed memory becomes active and supersedes the one that it contradicts.
    """
    if record.status not in CONFIRMABLE:
        raise Conflict(f"The memory is {record.status}. Restore it first.")
    if record.status is not Status.UNCONFIRMED:
        return _renew(call, record)
    with call.store.open_reader(call.owner) as reader:
        is_key_free = share_key(reader, record) is record
    return _activate(call, record) if is_key_free else _activate_beside(call, record)


def _renew(call: Call, record: Record) -> Written:
    return _patch_if_unchanged(call, Action.CONFIRMED, record, renewal_values(record, call.now()))


def _plan_revival(call: Call, reader: Reader, record: Record, values: FieldValues) -> list[Write]:
    """The writes that patch a memory, and flag what it contradicts if that makes it active.

    Raises Conflict if another fact has taken its slot, or if it is a rule that would not be stored
    again.
    """
    patch = Patch(record.id, values)
    if values.get("status") != Status.ACTIVE:
        return [patch]
    refuse_second_holder(reader, [patch])
    refuse_revival(call, reader, [patch])
    revived = replace(record, status=Status.ACTIVE)
    return [patch, *plan_conflict_links(call, reader, revived, old=record)]


def _activate(call: Call, seen: Record) -> Written:
    """Make an unconfirmed memory active; retire its rival in the same event."""
    now = call.now()
    with call.open_writer() as writer:
        _require_unchanged(writer, seen)
        rival = find_rival(call, writer, seen)
        writes = plan_activation(call, seen, rival, now)
        event = writer.apply(call.new_event(Action.CONFIRMED, now), writes)
        changed = writer.load([seen.id, *([rival.id] if rival else [])])
    return Written(changed[seen.id], event, replaced=changed[rival.id] if rival else None)


def _activate_beside(call: Call, seen: Record) -> Written:
    """Make an unconfirmed memory active as a version that leaves its key to another value."""
    said = Statement(
        content=seen.content, source=seen.source, evidence=seen.evidence, confidence=1.0
    )

    def write(writer: Writer, vectors: TextVectors) -> Written:
        _require_unchanged(writer, seen)
        return supersede(call, writer, seen, said, vectors)

    return write_with_vectors(call, TextVectors(call), write)


def plan_activation(call: Call, record: Record, rival: Record | None, now: datetime) -> list[Write]:
    """The writes that make an unconfirmed memory active and supersede its rival by it."""
    retired, linked = plan_displacement(call, record, rival, now)
    return [*retired, Patch(record.id, renewal_values(record, now)), *linked]


def renewal_values(record: Record, now: datetime) -> dict[str, object]:
    """The columns of a memory whose confidence and TTL start over."""
    values: dict[str, object] = {"confirmed_at": now}
    if record.expires_at is not None and record.ttl_days is not None:
        values["expires_at"] = extend_expiry(record, now)
    if record.status is Status.EXPIRED:
        values |= {"status": Status.ACTIVE, "retired_at": None}
    if record.status is Status.UNCONFIRMED:
        values |= {"status": Status.ACTIVE, "confidence": 1.0}
    return values


def forget(call: Call, record: Record) -> Written:
    """Retire a memory; it stays in the history and can be restored."""
    if record.status not in FORGETTABLE:
        raise Conflict(f"The memory is {record.status} already. See its history.")
    call = call.at(call.now())
    values = retirement_values(record, Status.FORGOTTEN, call.now())
    return _patch_if_unchanged(call, Action.FORGOTTEN, record, values)


def delete(call: Call, record: Record, *, for_good: bool = False) -> Written:
    """Move a memory to the trash, or purge it if the caller or the profile deletes for good.

    Its past versions cannot be read while it is in the trash.
    """
    if deletes_for_good(call, for_good):
        with call.open_writer() as writer:
            _require_unchanged(writer, record)
            event = purge(call, writer, [record.id], Action.DELETED)
        return Written(record, event)
    if record.status is Status.TRASHED:
        raise Conflict("The memory is in the trash already.")
    call = call.at(call.now())
    values = retirement_values(record, Status.TRASHED, call.now())
    return _patch_if_unchanged(call, Action.TRASHED, record, values)


def deletes_for_good(call: Call, for_good: bool) -> bool:
    """True if the caller asks for it, or if the profile has no trash."""
    return for_good or call.profile.deletion.mode == "hard"


def retire_all(
    call: Call, record_filter: Filter, status: Status, *, for_good: bool = False
) -> Batch:
    """Forget or delete everything that matches, as one event."""
    with call.open_writer() as writer:
        records = list(iter_records(writer, record_filter))
        return _retire(call, writer, records, status, for_good=for_good)


def delete_many(call: Call, records: Sequence[Record], *, for_good: bool = False) -> Batch:
    """Delete several memories as one event; none, if one is in the trash already."""
    with call.open_writer() as writer:
        found = writer.load(dict.fromkeys(one.id for one in records))
        for one in records:
            if one.id not in found:
                raise NotFound(f"There is no memory {one.id}.")
            is_trashed = found[one.id].status is Status.TRASHED
            if is_trashed and not deletes_for_good(call, for_good):
                raise Conflict(f"{one.id} is in the trash already.")
        return _retire(call, writer, list(found.values()), Status.TRASHED, for_good=for_good)


def _retire(
    call: Call, writer: Writer, records: Sequence[Record], status: Status, *, for_good: bool
) -> Batch:
    if not records:
        return Batch((), None)
    now, ids = call.now(), [one.id for one in records]
    if status is Status.TRASHED and deletes_for_good(call, for_good):
        return Batch(tuple(ids), purge(call, writer, ids, Action.DELETED))
    action = Action.FORGOTTEN if status is Status.FORGOTTEN else Action.TRASHED
    writes: list[Write] = [Patch(one.id, retirement_values(one, status, now)) for one in records]
    return Batch(tuple(ids), writer.apply(call.new_event(action, now), writes))


def restore(call: Call, record: Record) -> Written:
    """Restore a memory that was forgotten, deleted, disabled, expired or quarantined."""
    if record.status not in RESTORABLE:
        raise Conflict(f"The memory is {record.status}. There is nothing to restore.")
    if record.status is Status.EXPIRED:
        return _patch_if_unchanged(
            call, Action.RESTORED, record, renewal_values(record, call.now())
        )
    with call.store.open_reader(call.owner) as reader:
        values = restoration_values(reader, record)
    return _patch_if_unchanged(call, Action.RESTORED, record, values)


def restore_all(call: Call, record_filter: Filter) -> Batch:
    """Restore everything that matches, as one event."""
    with call.open_writer() as writer:
        records = list(iter_records(writer, record_filter))
        if not records:
            return Batch((), None)
        writes = [
            write
            for one in records
            for write in _plan_revival(call, writer, one, restoration_values(writer, one))
        ]
        event = writer.apply(call.new_event(Action.RESTORED, call.now()), writes)
    return Batch(tuple(one.id for one in records), event)


def restoration_values(reader: Reader, record: Record) -> dict[str, object]:
    """The columns of a memory as it was before it was retired.

    A memory that was quarantined or unconfirmed before is so again; one that is in quarantine now
    becomes active.
    """
    lives = [past for past in reader.list_states(record.id) if past.status in RESTORE_TARGETS]
    status = lives[-1].status if lives else Status.ACTIVE
    return {
        "status": status,
        "retired_at": None if status in UNRETIRED_STATUSES else lives[-1].since,
        "valid_until": lives[-1].valid_until if lives else record.valid_until,
    }


def link(call: Call, source: Record, target: Record, relation: Relation) -> Written:
    """Link two memories; an existing link is left as it is."""
    if source.id == target.id:
        raise InvalidInput("A memory cannot be linked to itself.")
    if relation is Relation.SUPERSEDES:
        raise InvalidInput("Links cannot supersede a memory. Update the old one instead.")
    now = call.now()
    new = Link(source.id, target.id, relation, now)
    with call.open_writer() as writer:
        for old in writer.list_links(source.id):
            if replace(old, created_at=now) == new:
                return Written(source, None)
        event = writer.apply(call.new_event(Action.LINKED, now), [AddLink(new)])
    return Written(source, event)


def unlink(call: Call, source: Record, target: Record, relation: Relation) -> Written:
    """Remove a link between two memories."""
    now = call.now()
    with call.open_writer() as writer:
        for old in writer.list_links(source.id):
            if (old.source, old.target, old.relation) == (source.id, target.id, relation):
                event = writer.apply(call.new_event(Action.UNLINKED, now), [DropLink(old)])
                return Written(source, event)
    raise NotFound(f"There is no link {relation} from {source.id} to {target.id}.")


def _patch_if_unchanged(call: Call, action: Action, seen: Record, values: FieldValues) -> Written:
    """Patch a memory if its status is still the one that the caller saw."""
    with call.open_writer() as writer:
        _require_unchanged(writer, seen)
        writes = _plan_revival(call, writer, seen, values)
        event = writer.apply(call.new_event(action, call.now()), writes)
        changed = writer.get(seen.id)
        assert changed is not None
        conflicts = list_conflicts(call, writer, changed) if len(writes) > 1 else ()
    return Written(changed, event, conflicts=conflicts)


def _require_unchanged(reader: Reader, seen: Record) -> None:
    current = reader.get(seen.id)
    if current is None:
        raise NotFound(f"There is no memory {seen.id}.")
    if current.status is not seen.status:
        raise Conflict(f"The memory has become {current.status}. See its history.")


def can_see_event(call: Call, reader: Reader, event: Event) -> bool:
    """True if the caller can see all memories of an event."""
    return bool(filter_visible_events(call, reader, [event]))


def filter_visible_events(call: Call, reader: Reader, events: Sequence[Event]) -> list[Event]:
    """The events of which the caller can see all memories."""
    touched = {one.id: {change.memory_id for change in one.changes} for one in events}
    known = reader.load(set().union(*touched.values()))
    seen = {record.id for record in known.values() if call.can_see(record)}

    def is_own(event: Event) -> bool:
        ids = touched[event.id]
        if not ids & known.keys() <= seen:
            return False
        return (bool(ids) and ids <= known.keys()) or _is_by_visible_agent(call, event)

    return [event for event in events if is_own(event)]


def _is_by_visible_agent(call: Call, event: Event) -> bool:
    """For memories that are gone and have no scope: true for their agent, and for who sees all."""
    everything = call.resolve_visibility() == Visibility()
    return everything or (event.agent is not None and call.can_read_scope(event.agent))
