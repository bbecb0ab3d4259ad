"""The memories that a session led to: saved in it, learned from it, concluded from its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.decay import is_over
from remembrancer.recall.as_of import load_links, select_known
from remembrancer.store.contract import Filter, Reader
from remembrancer.types import AsOf, Episode, Kind, Record, Relation, Status, validate_name

MAX_MEMORIES = 1000

SHOWN_STATUSES = (Status.ACTIVE, Status.UNCONFIRMED)
EPISODE_STATUSES = (Status.ACTIVE, Status.EXPIRED)
"""An episode is short-lived: it still says what happened in a session after it has expired."""

UNDELETED = tuple(one for one in Status if one is not Status.TRASHED)


def load_session_memories(
    call: Call, session_id: str, as_of: AsOf | None = None
) -> tuple[Record, ...]:
    """The memories of a session, newest first, whether its turns are stored or not.

    As of a moment of truth, only facts and rules that were in force.
    """
    name, then = validate_name(session_id, "session"), as_of or AsOf()
    stored = UNDELETED if then.known is not None else None
    lasting = call.visible_filter(kinds=(Kind.FACT, Kind.RULE), as_of=then)
    if then.true is None:
        lasting = replace(lasting, statuses=stored or SHOWN_STATUSES)
    happened = call.visible_filter(kinds=(Kind.EPISODE,))
    happened = replace(happened, statuses=stored or EPISODE_STATUSES, session_id=name)
    with call.store.open_reader(call.owner) as reader:
        episodes = _select_shown(call, reader, reader.find(happened, MAX_MEMORIES), then)
        saved = reader.find(replace(lasting, session_id=name), MAX_MEMORIES)
        concluded = _load_concluded(call, reader, episodes, lasting)
        shown = _select_shown(call, reader, [*saved, *concluded], then)
    found = {one.id: one for one in (*episodes, *shown)}
    return tuple(sorted(found.values(), key=lambda one: (one.recorded_at, one.id), reverse=True))


def _select_shown(
    call: Call, reader: Reader, records: Sequence[Record], then: AsOf
) -> list[Record]:
    """Those that a session showed then, in the state that they had."""
    at = then.known or call.now()
    known = select_known(reader, records, then.known)
    return [one for one in known if _was_shown(one, then.true, at)]


def _was_shown(record: Record, true: datetime | None, at: datetime) -> bool:
    if isinstance(record, Episode):
        has_begun = true is None or record.valid_from <= true
        return has_begun and record.status in EPISODE_STATUSES
    if true is not None:
        return True
    return record.status is Status.UNCONFIRMED or (
        record.status is Status.ACTIVE and not is_over(record, at)
    )


def _load_concluded(
    call: Call, reader: Reader, episodes: Sequence[Record], lasting: Filter
) -> list[Record]:
    """What was concluded from the episodes, in the words that were concluded from them."""
    ids = {
        link.source
        for episode in episodes
        for link in load_links(call, reader, episode, AsOf(known=lasting.known_at))
        if link.relation is Relation.DERIVED_FROM and link.target == episode.id
    }
    return list(reader.matching(sorted(ids), lasting).values())
