"""Reads facts, versions, links, histories and turns as they were known, or were true, at a moment.

What is in the trash is hidden from the past too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.decay import effective_confidence
from remembrancer.errors import NotFound
from remembrancer.paging import decode_cursor, encode_cursor
from remembrancer.recall.filters import matches_state, without_state
from remembrancer.remember.lifecycle import filter_visible_events
from remembrancer.remember.resolve import is_in_trash, load_versions, was_deleted
from remembrancer.remember.slots import get_slot, is_in_slot
from remembrancer.remember.undo import parse_link
from remembrancer.store.contract import Filter, Position, Reader
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    AsOf,
    Change,
    Event,
    Fact,
    History,
    Json,
    Kind,
    Link,
    Page,
    Record,
    Status,
    Turn,
)

MAX_EVENTS = 1000
ALL_KINDS = tuple(Kind)


def load_version(call: Call, record: Record, as_of: AsOf) -> Record:
    """The memory as it was known then; of its versions, the one that was true then."""
    if is_in_trash(call, record):
        raise NotFound(f"{record.id} is in the trash. Restore it first.")
    with call.store.open_reader(call.owner) as reader:
        if as_of.true is None:
            found = select_known(reader, [record], as_of.known)
        else:
            criteria = call.visible_filter(kinds=(record.kind,), as_of=as_of)
            versions = reader.find(replace(criteria, lineage=record.lineage), 1)
            found = select_known(reader, versions, as_of.known)
    if not found:
        raise NotFound(f"{record.id} was not {'known' if as_of.true is None else 'true'} then.")
    return found[0]


def find_fact(
    call: Call, subject: str, predicate: str, scope: str | None, as_of: AsOf
) -> Fact | None:
    """The fact in force then with that subject and predicate, or else in their slot."""
    slot = get_slot((call.resolve_write_scope(scope), subject, predicate))
    in_force = call.visible_filter(scope=scope, kinds=(Kind.FACT,), as_of=as_of)
    exact = replace(in_force, subject=subject, predicate=predicate)
    with call.store.open_reader(call.owner) as reader:
        for criteria in (exact, in_force):
            stored = iter_records(reader, criteria)
            named = [one for one in stored if isinstance(one, Fact) and is_in_slot(one, slot)]
            known = select_known(reader, named, as_of.known)
            for one in select_believed(call, known, as_of):
                if isinstance(one, Fact) and _was_holder(one, as_of):
                    return one
    return None


def _was_holder(fact: Fact, as_of: AsOf) -> bool:
    """False for a fact that was replaced from a later moment on, unless one of truth is given."""
    return as_of.true is not None or fact.status is Status.ACTIVE


def select_believed(call: Call, records: Iterable[Record], as_of: AsOf) -> list[Record]:
    """The memories whose confidence had not yet decayed to nothing."""
    decay, at = call.profile.decay, as_of.known or call.now()
    return [one for one in records if effective_confidence(one, decay, at) >= decay.expire_below]


def load_links(
    call: Call, reader: Reader, record: Record, as_of: AsOf | None = None
) -> tuple[Link, ...]:
    """The links of a memory of which the caller can see both ends; of then, none to the trash."""
    then = as_of or AsOf()
    links = reader.list_links(record.id)
    if then.known is not None:
        links = _undo_link_changes(record.id, links, reader.list_changes_after(then.known))
    ends = reader.load({end for one in links for end in (one.source, one.target)})
    visible = [one for one in ends.values() if call.can_see(one)]
    if as_of is not None:
        visible = [one for one in visible if not was_deleted(reader, one, call.now())]
    known = _filter_known(visible, then.known)
    seen = {one.id for one in known}
    if then.true is not None:
        seen &= _find_in_force(call, reader, known, then)
    return tuple(one for one in links if {one.source, one.target} <= seen)


def load_history(call: Call, record: Record, as_of: AsOf | None = None) -> History:
    """All versions of a memory with their events, links and uses."""
    then = as_of or AsOf()
    if as_of is not None and is_in_trash(call, record):
        return History((), (), ())
    with call.store.open_reader(call.owner) as reader:
        seen = [one for one in load_versions(reader, record) if call.can_see(one)]
        versions = select_known(reader, seen, then.known)
        if then.true is not None:
            in_force = _find_in_force(call, reader, versions, then)
            versions = [one for one in versions if one.id in in_force]
        ids = [one.id for one in versions]
        events = reader.list_events(memory_ids=ids, limit=MAX_EVENTS) if ids else []
        rules = [one.id for one in versions if one.kind is Kind.RULE]
        return History(
            tuple(versions),
            tuple(reversed(_select_events(call, reader, events, then.known))),
            load_links(call, reader, record, as_of),
            tuple(reader.list_applications(rules, then.known)),
        )


def list_known(call: Call, criteria: Filter, limit: int, cursor: str | None) -> Page[Record]:
    """A page of the memories in force at `known_at`, which match in the state that they had."""
    decay, known = call.profile.decay, criteria.known_at or call.now()
    stored, after = without_state(criteria), decode_cursor(cursor)
    kept: list[Record] = []
    with call.store.open_reader(call.owner) as reader:
        while len(kept) <= limit and (found := reader.find(stored, limit + 1, after)):
            then = select_believed(call, reader.as_of(found, known), AsOf(known=known))
            kept += [one for one in then if matches_state(one, criteria, decay)]
            after = Position(found[-1].recorded_at, found[-1].id)
    last = kept[limit - 1] if len(kept) > limit else None
    return Page(tuple(kept[:limit]), encode_cursor(last.recorded_at, last.id) if last else None)


def restore_known(call: Call, records: Iterable[Record], known: datetime) -> list[Record]:
    """Those that were stored by then and are not in the trash, in the state that they had."""
    kept = [one for one in records if not is_in_trash(call, one)]
    with call.store.open_reader(call.owner) as reader:
        return select_known(reader, kept, known)


def select_turns(reader: Reader, turns: Sequence[Turn], as_of: AsOf) -> list[Turn]:
    """The turns that `select_stored` selects and that are not in the trash, in their state then."""
    kept = [one for one in select_stored(turns, as_of) if one.status is not Status.TRASHED]
    return [one for one in select_known(reader, kept, as_of.known) if isinstance(one, Turn)]


def select_stored(turns: Iterable[Turn], as_of: AsOf) -> list[Turn]:
    """The turns that were stored then and, with a moment of truth, had been said by then."""
    return [
        one
        for one in turns
        if (as_of.known is None or one.recorded_at <= as_of.known)
        and (as_of.true is None or one.said_at <= as_of.true)
    ]


def _filter_known(records: Iterable[Record], known: datetime | None) -> list[Record]:
    return [one for one in records if known is None or one.recorded_at <= known]


def select_known(reader: Reader, records: Sequence[Record], known: datetime | None) -> list[Record]:
    """Those that were stored by then, in the state that they had."""
    stored = _filter_known(records, known)
    return stored if known is None else reader.as_of(stored, known)


def _find_in_force(call: Call, reader: Reader, records: Sequence[Record], as_of: AsOf) -> set[str]:
    criteria = call.visible_filter(kinds=ALL_KINDS, as_of=as_of)
    return set(reader.matching([one.id for one in records], criteria))


def _select_events(
    call: Call, reader: Reader, events: Sequence[Event], known: datetime | None
) -> list[Event]:
    """The events until then that the caller can see; what was undone later stood then."""
    seen = filter_visible_events(call, reader, list(events))
    if known is None:
        return seen
    happened = [one for one in seen if one.at <= known]
    undone = _replay_undoing(happened)
    return [replace(one, undone_by=undone.get(one.id)) for one in happened]


def _replay_undoing(events: Sequence[Event]) -> dict[str, str]:
    """The event that each event was undone by; the events come newest first."""
    undoes = {one.id: one.undoes for one in events}
    undone: dict[str, str] = {}
    for one in reversed(events):
        if one.undoes is not None:
            undone[one.undoes] = one.id
            undone.pop(undoes.get(one.undoes) or "", None)
    return undone


def _undo_link_changes(
    memory_id: str, links: Iterable[Link], later: Iterable[Change]
) -> list[Link]:
    """The links before the later changes, which come newest first."""
    found = {(one.source, one.target, one.relation): one for one in links}
    for change in later:
        if (added := _read_link(change.after)) is not None:
            found.pop((added.source, added.target, added.relation), None)
        dropped = _read_link(change.before)
        if dropped is not None and memory_id in (dropped.source, dropped.target):
            found[dropped.source, dropped.target, dropped.relation] = dropped
    return sorted(
        found.values(), key=lambda one: (one.created_at, one.source, one.target, one.relation)
    )


def _read_link(state: Mapping[str, Json] | None) -> Link | None:
    link = state.get("link") if state else None
    return parse_link(link) if link else None
