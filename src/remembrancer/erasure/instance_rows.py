"""Finds and removes what a person wrote into the instances of their tenant.

That is what they said or entered there, and what was learned from it; the rest stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from remembrancer.errors import UnknownPerson
from remembrancer.remember.provenance import EPISODES_KEY
from remembrancer.remember.session_texts import clear_texts
from remembrancer.store.contract import Filter, Purge, Reader, Writer
from remembrancer.store.nearest import iter_records
from remembrancer.types import Action, Kind, Owner, Principal, Record, Status

if TYPE_CHECKING:
    from remembrancer.call import Call, Services


def count_authored(services: Services, owner: Owner) -> int:
    """The number of messages and memories that erasing a person removes from instances."""
    mark, count = services.instances.author_mark(owner), 0
    for instance in _list_instances(services, owner):
        with services.store.open_reader(instance) as reader:
            count += len(_find_authored(services, reader, mark))
    return count


def remove_authored(services: Services, owner: Owner) -> tuple[Owner, ...]:
    """Delete what a person wrote into instances; returns the instances of the tenant."""
    mark = services.instances.author_mark(owner)
    instances = tuple(_list_instances(services, owner))
    for instance in instances:
        call = services.build_call(Principal.for_jobs(instance), instance.instance)
        with contextlib.suppress(UnknownPerson), call.open_writer() as writer:
            _remove(call, writer, _find_authored(services, writer, mark))
    return instances


def _list_instances(services: Services, owner: Owner) -> Iterator[Owner]:
    owners = services.store.system.list_owners()
    return (one for one in owners if one.tenant == owner.tenant and one.instance is not None)


def _find_authored(services: Services, reader: Reader, mark: str) -> list[Record]:
    everything = Filter(now=services.clock.now(), kinds=tuple(Kind), statuses=tuple(Status))
    own = {one.id for one in iter_records(reader, everything) if one.author == mark}
    if not own:
        return []
    return [one for one in iter_records(reader, everything) if one.id in own or _cites(one, own)]


def _cites(record: Record, ids: set[str]) -> bool:
    episodes = record.metadata.get(EPISODES_KEY)
    sources = {one.turn_id for one in record.evidence}
    return not ids.isdisjoint(
        sources.union(map(str, episodes if isinstance(episodes, list) else ()))
    )


def _remove(call: Call, writer: Writer, records: list[Record]) -> None:
    if not records:
        return
    writer.apply(call.new_event(Action.PURGED, call.now()), [Purge(one.id) for one in records])
    for session_id in {one.session_id for one in records if one.session_id is not None}:
        session = writer.get_session(session_id)
        if session is not None:  # It has messages of others, but its title can quote this person.
            writer.save_session(clear_texts(session))
