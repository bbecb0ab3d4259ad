"""Writers that say what was acknowledged, and a check that all of it is there, and nothing half.

A promise is a name and a number that never gets smaller: how far a memory, a conversation, a key or
a setting has come. What was promised before a crash must have come at least as far after it.
"""

from __future__ import annotations

import json
import os
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
from sqlalchemy import Connection, create_engine, select, text
from sqlalchemy.pool import NullPool

from remembrancer.clock import SystemClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import StoreUnavailable
from remembrancer.remember.embedding import split_record
from remembrancer.search.terms import encode_terms, extract_terms
from remembrancer.store import tables
from remembrancer.store.rows import record_from_row
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Owner, Record
from tests.support.opening import open_at_place

TURNS = 3
"""A call appends so many turns."""

Promises = dict[str, int]
Acknowledge = Callable[[Promises], None]


def open_for_promises(place: str, tenant: str, **values: Any) -> Remembrancer:
    embedder = FakeEmbedder("fake", dimensions=32)
    return open_at_place(place, SystemClock(), embedder, tenant=tenant, **values)


@dataclass
class Worker:
    """One thread's writes to one person's memory, one after the other."""

    store: Remembrancer
    user: str
    name: str
    acknowledge: Acknowledge
    done: int = 0
    active: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.me = self.store.for_user(self.user)
        self.chance = random.Random(self.name)
        self.turns = 0

    def word(self) -> str:
        """A word that no other memory has, to find this one by."""
        return "".join(self.chance.choices(ascii_lowercase, k=10))

    def step(self) -> None:
        steps = (self.remember, self.correct, self.forget, self.append, self.add_key, self.set)
        one = self.chance.choices(steps, (8, 4, 2, 3, 1, 1))[0]
        self.done += 1
        self.acknowledge(one())

    def remember(self) -> Promises:
        words, key = f"The crate {self.word()} is full", f"content {self.done}"
        memory = self.me.remember(words, subject=f"shelf {self.name}", predicate=key).memory
        self.active.append(memory.id)
        return {memory.id: 1}

    def correct(self) -> Promises:
        if not self.active:
            return self.remember()
        old = self.active.pop(self.chance.randrange(len(self.active)))
        new = self.me.update(old, f"The crate {self.word()} is empty").memory.id
        self.active.append(new)
        return {old: 2, new: 1}

    def forget(self) -> Promises:
        if not self.active:
            return self.remember()
        memory = self.active.pop(self.chance.randrange(len(self.active)))
        self.me.forget(memory)
        return {memory: 2}

    def append(self) -> Promises:
        said = [f"I looked into the crate {self.word()}" for _ in range(TURNS)]
        session = f"chat {self.name}"
        self.me.append([{"role": "user", "content": one} for one in said], session)
        self.turns += TURNS
        return {f"{self.user}/{session}": self.turns}

    def add_key(self) -> Promises:
        if self.keys and self.chance.random() < 0.5:
            key = self.keys.pop()
            self.store.revoke_key(key)
            return {key: 2}
        key = self.store.create_key(self.user).key.id
        self.keys.append(key)
        return {key: 1}

    def set(self) -> Promises:
        name = f"counter {self.name}"
        self.store.change_setting(name, lambda old: (old or 0) + 1)  # type: ignore[operator]
        found = self.store.setting(name)
        assert isinstance(found, int)
        return {name: found}


def write_until(
    store: Remembrancer,
    users: Iterable[str],
    name: str,
    acknowledge: Acknowledge,
    stop: threading.Event,
) -> None:
    """Write with one thread for each user, until told to stop or until the store is gone."""

    def work(user: str) -> None:
        worker = Worker(store, user, f"{name}-{user}-{threading.get_ident()}", acknowledge)
        while not stop.is_set():
            try:
                worker.step()
            except StoreUnavailable:
                return

    threads = [threading.Thread(target=work, args=(user,)) for user in users]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


class Notes:
    """Acknowledgements in a file, to which several processes can append."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def __call__(self, promises: Promises) -> None:
        os.write(self._descriptor, f"{json.dumps(promises)}\n".encode())


def read_notes(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def combine(notes: Iterable[str]) -> Promises:
    """All that was promised; in the order of the notes, no number gets smaller."""
    found: Promises = {}
    for note in notes:
        for name, number in json.loads(note).items():
            found[name] = max(number, found.get(name, 0))
    return found


# What is there afterwards.


def assert_kept(place: str, tenant: str, users: Iterable[str], promises: Promises) -> None:
    """Everything that was promised to these users is there, and nothing that is there is half."""
    reached = _read_system(place, tenant)
    for user in users:
        owner = Owner(tenant, user)
        with _connect(place, f"people/{owner.id}.db") as connection:
            if connection is not None:
                rows = _read_rows(connection, owner)
                reached |= _find_reached(user, rows)
                _assert_whole(rows)
    lost = {name for name, number in promises.items() if reached.get(name, 0) < number}
    assert not lost, f"{len(lost)} of {len(promises)} are lost, such as {sorted(lost)[:3]}"


def assert_usable(place: str, tenant: str, users: Iterable[str]) -> None:
    """Through the library: the audit is clean, memories are found, and new ones can be stored."""
    with open_for_promises(place, tenant) as store:
        for user in users:
            me = store.for_user(user)
            findings = me.audit().findings
            assert not findings, findings[:3]
            for memory in me.list(limit=5, status="active").items:
                found = {one.memory.id for one in me.recall(memory.search_text, limit=5)}
                assert memory.id in found, memory.search_text
            added = me.remember(f"The shelf of {user} is old", subject=user, predicate="end")
            assert me.get(added.memory.id).content == added.memory.content


def _connect(place: str, file: str) -> AbstractContextManager[Connection | None]:
    """A connection to a file of the store, or to the one database; none if there is no file."""
    if place.startswith("postgresql"):
        address = place.replace("postgresql://", "postgresql+psycopg://")
        return create_engine(
            address, poolclass=NullPool, isolation_level="REPEATABLE READ"
        ).connect()
    path = Path(place) / file
    if not path.exists():
        return nullcontext()
    connection = create_engine(f"sqlite:///{path}", poolclass=NullPool).connect()
    assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
    assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    return connection


def _read_system(place: str, tenant: str) -> Promises:
    with _connect(place, "system.db") as connection:
        if connection is None:
            return {}
        keys = connection.execute(select(tables.keys).where(tables.keys.c.tenant == tenant)).all()
        own = select(tables.settings).where(tables.settings.c.tenant == tenant)
        settings = {one.key: one.value for one in connection.execute(own)}
    reached = {one.id: 1 if one.revoked_at is None else 2 for one in keys}
    return reached | {key: value for key, value in settings.items() if isinstance(value, int)}


Rows = Mapping[str, list[Any]]


def _read_rows(connection: Connection, owner: Owner) -> Rows:
    return {
        table.name: list(connection.execute(select(table).where(table.c.owner_id == owner.id)))
        for table in tables.personal.sorted_tables
    }


def _find_reached(user: str, rows: Rows) -> Promises:
    reached = {one.id: 1 if one.status == "active" else 2 for one in rows["facts"]}
    sessions = Counter(one.session_id for one in rows["turns"])
    return reached | {f"{user}/{name}": count for name, count in sessions.items()}


def _assert_whole(rows: Rows) -> None:
    """Terms, vectors, counters, events and states agree with the memories."""
    records = _load_records(rows)
    documents = {one.id: one.codes for one in rows["documents"]}
    assert documents == {
        one.id: encode_terms(extract_terms(one.search_text)) for one in records.values()
    }
    _assert_vectors_agree(rows, records)
    _assert_history_agrees(rows, records)
    positions = defaultdict(list)
    for turn in rows["turns"]:
        positions[turn.session_id].append(turn.position)
    assert all(sorted(some) == list(range(len(some))) for some in positions.values())
    assert all(len(some) % TURNS == 0 for some in positions.values()), "half a call"
    assert {one.id for one in rows["sessions"]} == positions.keys()


def _load_records(rows: Rows) -> dict[str, Record]:
    return {
        row.id: record_from_row(kind, row)
        for kind, table in tables.MEMORY_TABLES.items()
        for row in rows[table.name]
    }


def _assert_vectors_agree(rows: Rows, records: Mapping[str, Record]) -> None:
    expected = {
        (one.id, unit.part): unit.text for one in records.values() for unit in split_record(one)
    }
    found = {(one.memory_id, one.part): one.vector for one in rows["embeddings"]}
    assert found.keys() == expected.keys()
    if expected:
        embedded = FakeEmbedder("fake", dimensions=32).embed(list(expected.values()))
        assert np.allclose([found[one] for one in expected], embedded, atol=1e-6)
    (owner,) = rows["owners"] or [None]
    numbers = sorted(one.number for one in rows["documents"])
    assert numbers == list(range(1, (owner.documents_added if owner else 0) + 1))
    vectors = sorted(one.number for one in rows["embeddings"])
    assert vectors == list(range(1, (owner.vectors_added if owner else 0) + 1))


def _assert_history_agrees(rows: Rows, records: Mapping[str, Record]) -> None:
    """Every event has changes, every memory was added by one, and ended by one if it ended."""
    events = {one.id for one in rows["events"]}
    assert {one.event_id for one in rows["changes"]} == events
    added = Counter(one.memory_id for one in rows["changes"] if one.before is None)
    assert added == dict.fromkeys(records, 1)
    ended = {one.id for one in records.values() if one.status != "active"}
    assert {one.memory_id for one in rows["states"]} == ended
    changed = {one.memory_id for one in rows["changes"] if one.before is not None}
    assert ended <= changed
