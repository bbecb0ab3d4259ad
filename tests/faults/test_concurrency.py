"""Many writers at once: one active row, every version kept, nothing lost, no error."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import remembrancer
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.types import Status
from tests.support.processes import forked

LONG = bool(os.environ.get("REM_LONG"))
THREADS, SUPERSESSIONS = 32, 10 if LONG else 5
PROCESSES, WRITES = (8, 200) if LONG else (4, 25)
WRITERS = 8


@pytest.mark.parametrize("verb", ["remember", "update"])
def test_threads_that_correct_one_fact_leave_one_active_and_all_in_its_history(
    store: Remembrancer, verb: str
) -> None:
    me = store.for_user("ada")
    first = me.remember("version 0", subject="user", predicate="counter").memory
    start = threading.Barrier(THREADS)

    def correct(thread: int) -> None:
        start.wait()
        for turn in range(SUPERSESSIONS):
            words = f"thread {thread}, version {turn}"
            if verb == "remember":
                me.remember(words, subject="user", predicate="counter")
            else:
                me.update(first.id, words)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(correct, range(THREADS)))

    active = me.list(status=Status.ACTIVE).items
    assert len(active) == 1
    versions = me.history(active[0].id).versions
    assert len(versions) == 1 + THREADS * SUPERSESSIONS
    assert {one.content for one in versions} == {"version 0"} | {
        f"thread {thread}, version {turn}"
        for thread in range(THREADS)
        for turn in range(SUPERSESSIONS)
    }
    assert [one.status for one in versions[:-1]] == [Status.SUPERSEDED] * (len(versions) - 1)
    assert all(a.valid_until is not None for a in versions[:-1])


def test_whoever_reads_while_others_write_finds_each_memory_once(store: Remembrancer) -> None:
    me = store.for_user("ada")
    writing = threading.Event()
    writing.set()

    def write(thread: int) -> list[str]:
        said = [f"kettle {turn} of thread {thread}" for turn in range(SUPERSESSIONS)]
        ids = []
        for turn, words in enumerate(said):
            topic = {"subject": f"thread {thread}", "predicate": f"{turn}"}
            ids.append(me.remember(words, **topic).memory.id)
        me.append([{"role": "user", "content": words} for words in said], f"chat {thread}")
        gone = me.remember("kettle to be undone", subject=f"thread {thread}", predicate="gone")
        assert gone.event is not None
        me.undo(gone.event.id)
        return ids

    def read(_: int) -> int:
        reads = 0
        while writing.is_set():
            found = [one.memory.id for one in me.recall("kettle", limit=1000)]
            assert len(found) == len(set(found))
            reads += 1
        return reads

    with ThreadPoolExecutor(2 + WRITERS) as pool:
        readers = [pool.submit(read, n) for n in range(2)]
        written = [one for ids in pool.map(write, range(WRITERS)) for one in ids]
        writing.clear()
        assert all(one.result() for one in readers)

    found = [one.memory for one in me.recall("kettle", limit=1000)]
    assert {one.id for one in found if one.kind == "fact"} == set(written)
    assert sum(one.kind == "turn" for one in found) == WRITERS * SUPERSESSIONS


def test_processes_that_write_into_one_memory_lose_nothing(place: str, tenant: str) -> None:
    with forked.Pool(PROCESSES) as pool:
        written = pool.starmap(write_many, [(place, tenant, n) for n in range(PROCESSES)])
    with remembrancer.open(place, settings=Settings(tenant=tenant, user="ada")) as store:
        me = store.for_user("ada")
        page = me.list(limit=400, status=Status.ACTIVE)
        found = list(page.items)
        while page.cursor is not None:
            page = me.list(limit=400, status="active", cursor=page.cursor)
            found += page.items
        assert sorted(one.id for one in found) == sorted(i for ids in written for i in ids)
        assert len(found) == PROCESSES * WRITES
        assert me.recall("reading 7 of process 3", limit=1)[0].memory.content in {
            one.content for one in found
        }


def write_many(place: str, tenant: str, number: int) -> list[str]:
    """What one process does: facts of its own."""
    with remembrancer.open(place, settings=Settings(tenant=tenant, user="ada")) as store:
        me = store.for_user("ada")
        return [
            me.remember(
                f"reading {turn} of process {number}",
                subject=f"process {number}",
                predicate=f"{turn}",
            ).memory.id
            for turn in range(WRITES)
        ]
