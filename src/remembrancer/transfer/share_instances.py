"""Copies the memories that a person has of an instance into the memory that its users share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from remembrancer.ids import new_id
from remembrancer.remember.embedding import embed_missing
from remembrancer.store.contract import Filter, Insert, Reader, SessionFilter, Visibility, Writer
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    GLOBAL_SCOPE,
    Action,
    Fact,
    Kind,
    Owner,
    Principal,
    Record,
    Session,
    Status,
)

if TYPE_CHECKING:
    from remembrancer.call import Call, Services

MAX_SESSIONS = 1_000_000
SHARED_STATUSES = (Status.ACTIVE, Status.UNCONFIRMED)


@dataclass(slots=True)
class _Copies:
    """The records to insert, under ids of sessions that the instance does not have yet."""

    call: Call
    writer: Writer
    sessions: dict[str, str] = field(default_factory=dict)

    def add_sessions(self, sessions: Iterable[Session]) -> None:
        for one in sessions:
            known = self.writer.get_session(one.id) is not None
            self.sessions[one.id] = new_id("session", self.call.now()) if known else one.id
            self.writer.save_session(replace(one, id=self.sessions[one.id], leased_until=None))

    def build(self, record: Record) -> Record:
        session = self.sessions.get(record.session_id or "", record.session_id)
        evidence = tuple(
            replace(one, session_id=self.sessions.get(one.session_id, one.session_id))
            for one in record.evidence
        )
        copied = replace(
            record,
            session_id=session,
            evidence=evidence,
            supersedes=None,
            lineage=record.id,
            author=self.call.author,
        )
        return self._free_key(copied) if isinstance(copied, Fact) else copied

    def _free_key(self, fact: Fact) -> Fact:
        """Without the key if the instance has another value of it."""
        is_held = fact.key is not None and self.writer.active_fact(*fact.key) is not None
        return replace(fact, subject=None, predicate=None) if is_held else fact


def share_instances(services: Services, person: Owner) -> int:
    """Copy what is in force, and all conversations; returns the number of records.

    What was copied before is left out, and nothing is removed.
    """
    with services.store.open_reader(person) as reader:
        scopes = {one.scope for one in reader.tally(services.clock.now())}
    return sum(_share(services, person, one) for one in sorted(scopes) if _is_shared(services, one))


def _is_shared(services: Services, scope: str) -> bool:
    return scope != GLOBAL_SCOPE and services.profile_of(scope).scopes.owner == "instance"


def _share(services: Services, person: Owner, scope: str) -> int:
    call = services.build_call(Principal(person, scope, "cli"), scope)
    with services.store.open_reader(person) as reader:
        sessions, records = _load_sessions(reader, scope), [*_load_records(call, reader, scope)]
    with call.open_writer(alone=True) as writer:
        known = writer.load(one.id for one in records)
        missing = [one for one in records if one.id not in known]
        copies = _Copies(call, writer)
        used = {one.session_id for one in missing if one.kind is Kind.TURN}
        copies.add_sessions(one for one in sessions if one.id in used)
        event = call.new_event(Action.IMPORTED, call.now())
        if missing:
            writer.apply(event, [Insert(copies.build(one), None) for one in missing])
    embed_missing(call)
    return len(missing)


def _load_sessions(reader: Reader, scope: str) -> list[Session]:
    return reader.list_sessions(SessionFilter(visible=Visibility(scopes=(scope,))), MAX_SESSIONS)


def _load_records(call: Call, reader: Reader, scope: str) -> Iterator[Record]:
    """Messages first, because memories cite them."""
    matching = Filter(now=call.now(), visible=Visibility(scopes=(scope,)), statuses=SHARED_STATUSES)
    for kind in (Kind.TURN, Kind.EPISODE, Kind.FACT, Kind.RULE):
        yield from reversed([*iter_records(reader, replace(matching, kinds=(kind,)))])
