"""Tells what an import must not bring back: memories that were purged after a person removed them.

The activity log keeps the ids of purged memories, without their words; an id of an imported memory
is derived from its source, so that it is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.store.contract import Reader
from remembrancer.types import Action, Status

MAX_EVENTS = 10_000
PURGING_ACTIONS = (Action.DELETED, Action.PURGED)


def find_purged(reader: Reader, ids: Iterable[str]) -> set[str]:
    """Those that were purged, but not those of an import that was undone."""
    named = list(ids)
    if not named or not reader.list_events(actions=PURGING_ACTIONS, limit=1):
        return set()
    purged: set[str] = set()
    last: dict[str, object] = {}
    for event in reader.list_events(memory_ids=named, limit=MAX_EVENTS):
        for change in event.changes:
            if change.before is None and change.after is None:
                purged.add(change.memory_id)
            elif "status" in (change.after or {}):
                last.setdefault(change.memory_id, (change.after or {})["status"])
    return {one for one in purged.intersection(named) if last.get(one) != Status.RETRACTED}
