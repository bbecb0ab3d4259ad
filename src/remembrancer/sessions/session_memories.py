"""The memories that a session led to: saved in it, learned from it, concluded from its episodes."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.call import Call
from remembrancer.recall.as_of import load_links, select_known
from remembrancer.store.contract import Filter, Reader
from remembrancer.types import AsOf, Kind, Record, Relation, Status, validate_name

MAX_MEMORIES = 1000

SHOWN_STATUSES = (Status.ACTIVE, Status.UNCONFIRMED)
EPISODE_STATUSES = (Status.ACTIVE, Status.EXPIRED)
"""An episode is short-lived: it still says what happened in a session after it has expired."""


def load_session_memories(
    call: Call, session_id: str, as_of: AsOf | None = None
) -> tuple[Record, ...]:
    """The memories of a session, newest first, whether its turns are stored or not."""
    name = validate_name(session_id, "session")
    lasting = call.visible_filter(kinds=(Kind.FACT, Kind.RULE), as_of=as_of)
    happened = replace(call.visible_filter(kinds=(Kind.EPISODE,), as_of=as_of), session_id=name)
    if as_of is None:
        lasting = replace(lasting, statuses=SHOWN_STATUSES)
        happened = replace(happened, statuses=EPISODE_STATUSES)
    with call.store.open_reader(call.owner) as reader:
        episodes = reader.find(happened, MAX_MEMORIES)
        saved = reader.find(replace(lasting, session_id=name), MAX_MEMORIES)
        concluded = _load_concluded(call, reader, episodes, lasting)
        found = {one.id: one for one in (*episodes, *saved, *concluded)}
        records = sorted(found.values(), key=lambda one: (one.recorded_at, one.id), reverse=True)
        return tuple(select_known(reader, records, lasting.known_at))


def _load_concluded(
    call: Call, reader: Reader, episodes: list[Record], lasting: Filter
) -> list[Record]:
    """What was concluded from the episodes, in the words that were concluded from them."""
    ids = {
        link.source
        for episode in episodes
        for link in load_links(call, reader, episode, AsOf(known=lasting.known_at))
        if link.relation is Relation.DERIVED_FROM and link.target == episode.id
    }
    return list(reader.matching(sorted(ids), lasting).values())
