"""Maintenance tasks for one person: note what fades, expire, evict, purge, close sessions.

Each works in small transactions, finds what is left to do, and can be killed and started again at
any moment. Its changes are in the person's activity log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from remembrancer.call import Call
from remembrancer.decay import build_belief, effective_confidence, is_over
from remembrancer.errors import Conflict
from remembrancer.remember.purge import REMOVED_STATUSES, purge
from remembrancer.remember.slots import refuse_second_holder
from remembrancer.sessions.lifecycle import mark_idle, was_unarchived_since
from remembrancer.store.contract import (
    Filter,
    Patch,
    Reader,
    SessionFilter,
    Visibility,
    Writer,
)
from remembrancer.store.nearest import iter_records
from remembrancer.text_format import pluralize
from remembrancer.types import Action, Backlog, Kind, Record, SessionStatus, Status

BATCH_SIZE = 2000

RESPONSE_RETENTION = timedelta(days=1)
"""How long a retried request gets the same response."""

FINISHED_BACKLOGS = (Backlog.DONE, Backlog.DEAD)


def expire(call: Call, visible: Visibility) -> int:
    """Expire memories whose time is over or whose confidence has decayed."""
    decay = call.profile.decay
    over = Filter(
        now=call.now(),
        kinds=(Kind.FACT, Kind.RULE),
        visible=visible,
        overdue=True,
        decayed=build_belief(decay, below=decay.expire_below),
    )
    return sum(
        _end_records(call, writer, found, Action.EXPIRED)
        for writer, found in _iter_batches(call, over)
    )


def revive(call: Call, visible: Visibility) -> int:
    """Make memories active again that expired at a time which is still to come, if they are not
    over by what the clock says now: it was ahead when they expired.
    """
    now, decay = call.now(), call.profile.decay
    late = Filter(
        now=now,
        kinds=(Kind.FACT, Kind.RULE, Kind.EPISODE),
        visible=visible,
        statuses=(Status.EXPIRED,),
        retired_after=now,
    )
    with call.store.open_reader(call.owner) as reader:
        if not reader.find_ids(late, 1):
            return 0
    with call.open_writer() as writer:
        found = [
            one
            for one in iter_records(writer, late)
            if not is_over(one, now)
            and effective_confidence(one, decay, now) >= decay.expire_below
            and _has_expired(writer, one)
        ]
        for ids in _group_by_scope(found):
            patches = [Patch(one, {"status": Status.ACTIVE, "retired_at": None}) for one in ids]
            free = [one for one in patches if _is_slot_free(writer, one)]
            writer.apply(call.new_event(Action.RESTORED, now), free)
    return len(found)


def _has_expired(reader: Reader, record: Record) -> bool:
    """True if the last change of a memory was that it expired."""
    last = reader.list_events(memory_ids=[record.id], limit=1)
    return bool(last) and last[0].action is Action.EXPIRED


def _is_slot_free(reader: Reader, patch: Patch) -> bool:
    """False if another fact has taken the place of an expired one."""
    try:
        refuse_second_holder(reader, [patch])
    except Conflict:
        return False
    return True


def note_fading(call: Call, scopes: Iterable[tuple[Call, Visibility]]) -> int:
    """Log the memories that have faded since this was last logged, as events that change nothing.

    Returns their number.

    The log itself tells what is in it already, so a memory is listed once each time it fades.
    """
    fading = [(one.profile.decay, _build_fading_filter(one, visible)) for one, visible in scopes]
    with call.store.open_reader(call.owner) as reader:
        if not any(reader.find_ids(criteria, 1) for _, criteria in fading):
            return 0
    now = call.now()
    with call.open_writer() as writer:
        last = writer.list_events(actions=(Action.FADED,), limit=1)
        since = last[0].at if last else datetime.min.replace(tzinfo=UTC)
        faded = [
            one
            for decay, criteria in fading
            for one in iter_records(writer, criteria)
            if effective_confidence(one, decay, since) >= decay.recall_at
        ]
        for ids in _group_by_scope(faded):
            for start in range(0, len(ids), BATCH_SIZE):
                mentioned = [Patch(one, {}) for one in ids[start : start + BATCH_SIZE]]
                writer.apply(call.new_event(Action.FADED, now), mentioned)
    return len(faded)


def _build_fading_filter(call: Call, visible: Visibility) -> Filter:
    decay = call.profile.decay
    band = build_belief(decay, at_least=decay.expire_below, below=decay.recall_at)
    return Filter(
        now=call.now(),
        kinds=(Kind.FACT, Kind.RULE),
        visible=visible,
        statuses=(Status.ACTIVE,),
        confidence=band,
    )


def clean_episodes(call: Call) -> int:
    """Expire episodes whose time is over, then evict the oldest consolidated ones beyond the cap.

    An episode that is waiting for consolidation is never evicted.
    """
    decay = call.profile.decay
    over = Filter(
        now=call.now(),
        kinds=(Kind.EPISODE,),
        overdue=True,
        decayed=build_belief(decay, below=decay.expire_below),
    )
    changed = sum(
        _end_records(call, writer, found, Action.EXPIRED)
        for writer, found in _iter_batches(call, over)
    )
    alive = Filter(now=call.now(), kinds=(Kind.EPISODE,), statuses=(Status.ACTIVE,))
    used = replace(alive, backlogs=FINISHED_BACKLOGS)
    with call.open_writer() as writer:
        spare = writer.count(alive) - call.profile.episodes.cap
        found = writer.find(used, spare, oldest_first=True) if spare > 0 else []
        return changed + _end_records(call, writer, [one.id for one in found], Action.EVICTED)


def purge_trash(call: Call) -> int:
    """Purge what was forgotten, deleted or undone long enough ago, with its history, and episodes
    that expired as long ago.

    Old rejections and stored responses are deleted too.
    """
    now = call.now()
    before = now - timedelta(days=call.profile.deletion.trash_days)
    removed = Filter(now=now, kinds=tuple(Kind), statuses=REMOVED_STATUSES, retired_before=before)
    ended = replace(removed, kinds=(Kind.EPISODE,), statuses=(Status.EXPIRED,))
    changed = 0
    for criteria in (removed, ended):
        for writer, found in _iter_batches(call, criteria):
            purge(call, writer, found, Action.PURGED, is_asked=False)
            changed += len(found)
    with call.open_writer() as writer:
        writer.drop_rejections(before)
        writer.drop_responses(now - RESPONSE_RETENTION)
    return changed


def close_sessions(call: Call, *, archives: bool = True) -> int:
    """Close sessions that were quiet for long, and archive those that were idle for longer.

    A new turn opens both again.
    """
    policy = call.profile.sessions
    changed = _close_quiet(call, timedelta(minutes=policy.idle_minutes))
    if policy.archive_days is None or not archives:
        return changed
    return changed + _archive_idle(call, timedelta(days=policy.archive_days))


def _close_quiet(call: Call, age: timedelta) -> int:
    now = call.now()
    quiet = SessionFilter(statuses=(SessionStatus.ACTIVE,), quiet_since=now - age)
    with call.open_writer() as writer:
        idle = writer.list_sessions(quiet, BATCH_SIZE)
        for session in idle:
            mark_idle(call, writer, session)
        if idle:
            writer.apply(call.new_event(Action.CLOSED, now, note=f"{len(idle)} conversations"), [])
    return len(idle)


def _archive_idle(call: Call, age: timedelta) -> int:
    now = call.now()
    old = SessionFilter(statuses=(SessionStatus.IDLE,), quiet_since=now - age)
    with call.open_writer() as writer:
        found = writer.list_sessions(old, BATCH_SIZE)
        idle = [one for one in found if not was_unarchived_since(one, now - age)]
        for session in idle:
            writer.save_session(replace(session, status=SessionStatus.ARCHIVED))
        if idle:
            note = f"{pluralize(len(idle), 'conversation')} archived"
            writer.apply(call.new_event(Action.CLOSED, now, note=note), [])
    return len(idle)


def _iter_batches(call: Call, criteria: Filter) -> Iterator[tuple[Writer, list[str]]]:
    """Matching ids, each batch in a transaction of its own; the caller must make them stop
    matching.
    """
    with call.store.open_reader(call.owner) as reader:
        if not reader.find_ids(criteria, 1):
            return
    more = True
    while more:
        with call.open_writer() as writer:
            found = writer.find_ids(criteria, BATCH_SIZE)
            if found:
                yield writer, found
            more = len(found) == BATCH_SIZE


def _end_records(call: Call, writer: Writer, found: list[str], action: Action) -> int:
    now = call.now()
    values = {"status": Status.EXPIRED, "retired_at": now}
    for ids in _group_by_scope(writer.load(found).values()):
        writer.apply(call.new_event(action, now), [Patch(one, values) for one in ids])
    return len(found)


def _group_by_scope(records: Iterable[Record]) -> list[list[str]]:
    """The ids of each scope: agents see an event only if they see all its memories."""
    groups: dict[str, list[str]] = {}
    for one in records:
        groups.setdefault(one.scope, []).append(one.id)
    return list(groups.values())
