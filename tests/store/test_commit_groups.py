"""Threads that write to one person's file share a sync, and are answered or refused together."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.ids import new_id
from remembrancer.memory import Memory
from remembrancer.store.contract import Insert, Writer
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Action, Event, Fact, Owner, Permanence, Status
from tests.support.fault_vfs import (
    SQLITE_FULL,
    SQLITE_IOERR_FSYNC,
    FaultVfs,
    Operation,
    is_available,
)
from tests.support.opening import NOON, open_at_place

pytestmark = pytest.mark.skipif(not is_available(), reason="sqlite3 has no library of its own here")

THREADS, WRITES = 8, 6
ADA = Owner(Settings().tenant, "ada")
REFUSED = (DBAPIError, RemembrancerError)
"""What a writer gets whose write was not stored."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FaultVfs]:
    with FaultVfs(tmp_path) as vfs:
        yield vfs


@pytest.fixture
def store(disk: FaultVfs) -> Iterator[Remembrancer]:
    with open_store_at(disk.directory / "memory") as store:
        store.for_user("ada").remember("Ada keeps bees")
        yield store


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def test_threads_share_syncs_and_lose_nothing(disk: FaultVfs, me: Memory) -> None:
    disk.sync_seconds = 0.01
    before = disk.syncs
    start = threading.Barrier(THREADS)

    def write(thread: int) -> list[str]:
        start.wait()
        said = (f"Shelf {turn} of cupboard {thread} is full" for turn in range(WRITES))
        return [me.remember(one, subject=one, predicate="state").memory.id for one in said]

    with ThreadPoolExecutor(THREADS) as pool:
        written = {one for ids in pool.map(write, range(THREADS)) for one in ids}

    assert len(written) == THREADS * WRITES
    assert written <= {one.id for one in me.list(limit=200).items}
    assert disk.syncs - before < THREADS * WRITES


def test_a_writer_who_fails_takes_back_only_their_own_write(store: Remembrancer) -> None:
    def fail(writer: Writer) -> None:
        add(writer, "second")
        raise KeyError("second")

    first, second, third = together(store, with_fact("first"), fail, with_fact("third"))
    assert (first, third) == (None, None)
    assert isinstance(second, KeyError)
    assert stored(store) == {"Ada keeps bees", "first", "third"}


@pytest.mark.parametrize("code", [SQLITE_IOERR_FSYNC, SQLITE_FULL])
def test_if_the_commit_fails_all_are_refused_and_none_is_stored(
    disk: FaultVfs, store: Remembrancer, code: int
) -> None:
    operation = Operation.SYNC if code == SQLITE_IOERR_FSYNC else Operation.WRITE
    disk.fail(operation, code, "memory/people/*.db-wal")
    errors = together(store, with_fact("first"), with_fact("second"), with_fact("third"))
    assert all(isinstance(one, REFUSED) for one in errors), errors
    assert len({id(one) for one in errors}) == len(errors)
    assert stored(store) == {"Ada keeps bees"}

    disk.heal()
    assert together(store, with_fact("fourth"), with_fact("fifth")) == [None, None]
    assert stored(store) == {"Ada keeps bees", "fourth", "fifth"}


def test_what_was_refused_is_not_searched_for(disk: FaultVfs, store: Remembrancer) -> None:
    """A writer that joins reads what was written before it, which then may not be committed."""

    def read(writer: Writer) -> None:
        assert len(writer.load_index("fake")) > 0
        add(writer, "second")

    disk.fail(Operation.SYNC, SQLITE_IOERR_FSYNC, "memory/people/*.db-wal")
    together(store, with_fact("first"), read)
    disk.heal()
    me = store.for_user("ada")
    added = me.remember("The hives are in the orchard", subject="hives", predicate="place").memory
    found = me.recall("Where is the orchard?")
    assert found[0].memory.content == added.content


def test_what_was_refused_is_not_stored_after_a_crash(
    disk: FaultVfs, store: Remembrancer, tmp_path: Path
) -> None:
    disk.fail(Operation.SYNC, SQLITE_IOERR_FSYNC, "memory/people/*.db-wal")
    with pytest.raises(REFUSED):
        write(store, with_fact("first"))
    shutil.copytree(disk.directory / "memory", tmp_path / "left")
    disk.heal()
    with open_store_at(tmp_path / "left") as left:
        assert stored(left) == {"Ada keeps bees"}
        left.for_user("ada").remember("Ada sells honey", subject="honey", predicate="sale")
        assert stored(left) == {"Ada keeps bees", "Ada sells honey"}


def test_a_reader_sees_nothing_before_all_of_it_is_committed(
    disk: FaultVfs, store: Remembrancer
) -> None:
    seen: list[set[str]] = []

    def look(writer: Writer) -> None:
        add(writer, "second")
        seen.append(stored(store))

    before = disk.syncs
    assert together(store, with_fact("first"), look) == [None, None]
    if disk.syncs - before == 1:  # they shared a transaction
        assert seen == [{"Ada keeps bees"}]
    assert stored(store) == {"Ada keeps bees", "first", "second"}


def test_what_takes_long_is_waited_for_by_no_one_before_it(store: Remembrancer) -> None:
    """A writer that works alone, such as an import, does not join the transaction of another."""
    first_is_stored = threading.Event()

    def finish_first(writer: Writer) -> None:
        assert first_is_stored.wait(30), "the first writer waits for the second"
        add(writer, "second")

    def write_first() -> None:
        write(store, hold_until_waiting("first"))
        first_is_stored.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(write_first)
        time.sleep(0.02)
        second = pool.submit(write, store, finish_first, alone=True)
        first.result(), second.result()
    assert stored(store) == {"Ada keeps bees", "first", "second"}


def test_recall_does_not_sync(disk: FaultVfs, store: Remembrancer, me: Memory) -> None:
    before = disk.syncs
    found = me.recall("Does Ada keep bees?")
    assert me.context("bees").text
    assert me.list().items
    assert me.history(found[0].memory.id).versions
    store._services.usage.flush()  # counts of recalls are written, but not synced
    assert me.get(found[0].memory.id).recall_count > 0
    assert disk.syncs == before


def test_without_durability_writes_are_not_synced(disk: FaultVfs) -> None:
    place = disk.directory / "memory"
    with open_store_at(place, store={"path": str(place), "durability": "normal"}) as store:
        me = store.for_user("ada")
        me.remember("Ada keeps bees")
        before = disk.syncs
        me.remember("Ada sells honey", subject="honey", predicate="sale")
        assert disk.syncs == before


def open_store_at(place: Path, **settings: Any) -> Remembrancer:
    embedder = FakeEmbedder("fake", dimensions=64)
    return open_at_place(str(place), ManualClock(NOON), embedder, **settings)


Step = Callable[[Writer], None]


def together(store: Remembrancer, *steps: Step) -> list[BaseException | None]:
    """Let writers queue, each in its thread, and return the error of each.

    The first one holds its transaction until the others wait for their turn.
    """

    def first(writer: Writer) -> None:
        steps[0](writer)
        time.sleep(0.04)

    with ThreadPoolExecutor(len(steps)) as pool:
        begun = [pool.submit(write, store, first)]
        time.sleep(0.01)
        for step in steps[1:]:
            begun.append(pool.submit(write, store, step))
            time.sleep(0.005)
        return [one.exception() for one in begun]


def hold_until_waiting(content: str) -> Step:
    def step(writer: Writer) -> None:
        add(writer, content)
        time.sleep(0.04)

    return step


def with_fact(content: str) -> Step:
    return lambda writer: add(writer, content)


def write(store: Remembrancer, step: Step, *, alone: bool = False) -> None:
    with store._store.open_writer(ADA, alone=alone) as writer:
        step(writer)


def add(writer: Writer, content: str) -> None:
    id = new_id("fact", NOON)
    fact = Fact(
        id=id,
        content=content,
        category="fact",
        importance=5.0,
        permanence=Permanence.PERMANENT,
        valid_from=NOON,
        recorded_at=NOON,
        confirmed_at=NOON,
    )
    writer.apply(
        Event(id=new_id("event", NOON), at=NOON, action=Action.REMEMBERED), [Insert(fact, None)]
    )


def stored(store: Remembrancer) -> set[str]:
    page = store.for_user("ada").list(status=Status.ACTIVE, limit=200)
    return {one.content for one in page.items}
