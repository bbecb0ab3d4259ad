"""Reverts events: one, or all events of an import."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.errors import Conflict, NotFound, NotUndoable
from remembrancer.remember.lifecycle import can_see_event, filter_visible_events, renewal_values
from remembrancer.remember.refused_rules import refuse_revival
from remembrancer.remember.slots import refuse_second_holder
from remembrancer.store.contract import (
    UNDOABLE_ACTIONS,
    AddLink,
    DropLink,
    Patch,
    Position,
    Reader,
    WithdrawApplication,
    Write,
    from_json,
    to_json,
)
from remembrancer.types import (
    JOBS_SURFACE,
    Action,
    Change,
    Event,
    Json,
    Link,
    Record,
    Relation,
    Status,
    Turn,
    Written,
)


def undo(call: Call, event_id: str | None = None) -> Written:
    """Undo an event, by default the latest that was not undone; the undo is an event itself."""
    now = call.now()
    with call.open_writer() as writer:
        records: dict[str, Record] = {}
        for event in _list_events_to_undo(call, writer, _choose_event(call, writer, event_id)):
            writes = _invert_event(writer, event, now)
            refuse_second_holder(writer, writes)
            refuse_revival(call, writer, writes)
            undoing = writer.apply(
                call.new_event(Action.UNDONE, now, undoes=event.id, batch_id=event.batch_id), writes
            )
            writer.mark_undone(event.id, undoing.id)
            if event.undoes is not None:
                writer.mark_undone(event.undoes, None)
            records |= writer.load(change.memory_id for change in event.changes)
        if not records:
            raise NotUndoable("All memories of this event were deleted since.")
    return Written(_choose_shown(list(records.values())), undoing)


def _list_events_to_undo(call: Call, reader: Reader, event: Event) -> list[Event]:
    """The event, or all events of its import, newest first; an undone import is redone whole."""
    first = reader.get_event(event.undoes) if event.undoes is not None else event
    if first is None or first.action is not Action.IMPORTED or first.batch_id is None:
        return [event]
    batch = list(_iter_batch(reader, first.batch_id))
    steps = {one.id for one in batch if one.action is Action.IMPORTED}
    if event is first:
        chosen = [one for one in batch if one.id in steps and one.undone_by is None]
    else:
        chosen = [one for one in batch if one.undoes in steps and one.undone_by is None]
    return filter_visible_events(call, reader, chosen)


def _iter_batch(reader: Reader, batch_id: str) -> Iterator[Event]:
    """The events of a batch and those that undo them, newest first."""
    page = reader.list_events(batch_id=batch_id, limit=200)
    while page:
        yield from page
        after = Position(page[-1].at, page[-1].id)
        page = reader.list_events(batch_id=batch_id, limit=200, after=after)


def _choose_event(call: Call, reader: Reader, event_id: str | None) -> Event:
    """The event to undo; raises NotFound if the caller cannot see its memories."""
    if event_id is not None:
        event = reader.get_event(event_id)
        if event is None or not can_see_event(call, reader, event):
            raise NotFound(f"There is no event {event_id}.")
        if event.action not in UNDOABLE_ACTIONS:
            raise NotUndoable("The event destroyed a memory. It cannot be undone.")
        if event.undone_by is not None:
            raise NotUndoable("The event was undone already.")
        return event
    for event in reader.list_events(limit=200):
        if event.action is Action.DELETED and can_see_event(call, reader, event):
            raise NotUndoable(
                "The last change deleted a memory for good. It cannot be undone. "
                "Name the event of an earlier change to undo that one."
            )
        if event.action is Action.UNDONE or event.undone_by or event.action not in UNDOABLE_ACTIONS:
            continue
        if event.surface == JOBS_SURFACE or _is_only_commands(reader, event):
            continue
        if can_see_event(call, reader, event):
            return event
    raise NotFound("There is nothing to undo.")


def _is_only_commands(reader: Reader, event: Event) -> bool:
    """True if the event only stored commands; their effect is an event of its own."""
    if event.action is not Action.HEARD:
        return False
    heard = reader.load({change.memory_id for change in event.changes}).values()
    return all(isinstance(one, Turn) and one.is_command for one in heard)


def _invert_event(reader: Reader, event: Event, at: datetime) -> list[Write]:
    """The writes that revert an event: all of it or nothing.

    An import can be large and old: its memories that were changed since are left alone.
    """
    changes = list(reversed(event.changes))
    if event.action is not Action.IMPORTED:
        _refuse_if_destroyed(reader, event)
        return [_invert_change(reader, event, change, at) for change in changes]
    known = reader.load({one for change in changes for one in _touched_ids(change)})
    changed = {one.memory_id for one in changes if not _is_unchanged(known, one)}
    changed |= {known[one].supersedes or one for one in changed & known.keys()}
    writes: list[Write] = []
    for change in changes:
        if not _touched_ids(change) & changed and _touched_ids(change) <= known.keys():
            with contextlib.suppress(Conflict):  # a link that somebody took away
                writes.append(_invert_change(reader, event, change, at))
    return writes


def _is_unchanged(known: Mapping[str, Record], change: Change) -> bool:
    after, record = change.after or {}, known.get(change.memory_id)
    if record is None or "link" in after:
        return record is not None
    return to_json({name: getattr(record, name) for name in after}) == dict(after)


def _refuse_if_destroyed(reader: Reader, event: Event) -> None:
    """Raise NotUndoable if the event or a later one destroyed a memory."""
    if any(change.after is None for change in event.changes):
        raise NotUndoable("The event destroyed a memory. It cannot be undone.")
    concerned = {one for change in event.changes for one in _touched_ids(change)}
    if len(reader.load(concerned)) < len(concerned):
        raise NotUndoable("A memory of this event was deleted since.")


def _touched_ids(change: Change) -> set[str]:
    after = change.after or {}
    if "link" not in after:
        return {change.memory_id}
    link = parse_link(after["link"] or (change.before or {}).get("link"))
    return {link.source, link.target}


def _invert_change(reader: Reader, event: Event, change: Change, at: datetime) -> Write:
    """The write that reverts a change; raises Conflict if the memory changed since."""
    after, before = change.after or {}, change.before
    if "link" in after:
        return _invert_link(reader, after["link"], (before or {}).get("link"))
    record = reader.get(change.memory_id)
    assert record is not None
    if "application" in after:
        made, gone = after["application"], (before or {}).get("application")
        return WithdrawApplication(change.memory_id, str(made or gone), undo=made is None)
    now = to_json({name: getattr(record, name) for name in after})
    if now != dict(after):
        raise Conflict("The memory has changed since. Undo the later change first.")
    if before is None:
        return Patch(record.id, {"status": Status.RETRACTED, "retired_at": at})
    if event.action is Action.EXPIRED:
        # Without a confirmation it would expire again at once.
        return Patch(record.id, {**from_json(before), **renewal_values(record, at)})
    return Patch(record.id, from_json(before))


def _invert_link(reader: Reader, made: Json, gone: Json) -> Write:
    """The write that removes or restores a link; raises Conflict if the links changed since."""
    link = parse_link(made or gone)
    there = [
        one
        for one in reader.list_links(link.source)
        if replace(one, created_at=link.created_at) == link
    ]
    if there != ([link] if made else []):
        raise Conflict("The links have changed since. Undo the later change first.")
    return DropLink(link) if made else AddLink(link)


def parse_link(value: Json) -> Link:
    assert isinstance(value, dict)
    return Link(
        str(value["source"]),
        str(value["target"]),
        Relation(str(value["relation"])),
        datetime.fromisoformat(str(value["created_at"])),
    )


def _choose_shown(records: list[Record]) -> Record:
    """A memory that is active now, else the first."""
    return next((one for one in records if one.status is Status.ACTIVE), records[0])
