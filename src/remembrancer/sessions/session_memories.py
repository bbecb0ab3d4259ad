"""The memories that a session led to: saved in it, learned from it, concluded from its episodes."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.call import Call
from remembrancer.store.contract import Filter, Reader
from remembrancer.types import Kind, Record, Relation, Status, validate_name

MAX_MEMORIES = 1000

SHOWN_STATUSES = (Status.ACTIVE, Status.UNCONFIRMED)
EPISODE_STATUSES = (Status.ACTIVE, Status.EXPIRED)
"""An episode is short-lived: it still says what happened in a session after it has expired."""


def load_session_memories(call: Call, session_id: str) -> tuple[Record, ...]:
    """The memories of a session, newest first, whether its turns are stored or not."""
    name = validate_name(session_id, "session")
    current = replace(call.visible_filter(kinds=(Kind.FACT, Kind.RULE)), statuses=SHOWN_STATUSES)
    happened = replace(
        call.visible_filter(kinds=(Kind.EPISODE,)), statuses=EPISODE_STATUSES, session_id=name
    )
    with call.store.open_reader(call.owner) as reader:
        episodes = reader.find(happened, MAX_MEMORIES)
        saved = reader.find(replace(current, session_id=name), MAX_MEMORIES)
        concluded = _load_concluded(reader, episodes, current)
    found = {one.id: one for one in (*episodes, *saved, *concluded)}
    return tuple(sorted(found.values(), key=lambda one: (one.recorded_at, one.id), reverse=True))


def _load_concluded(reader: Reader, episodes: list[Record], current: Filter) -> list[Record]:
    """What was concluded from the episodes; a new version has taken over the links of the old."""
    ids = {
        link.source
        for episode in episodes
        for link in reader.list_links(episode.id)
        if link.relation is Relation.DERIVED_FROM and link.target == episode.id
    }
    return list(reader.matching(sorted(ids), current).values())
