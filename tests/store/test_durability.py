"""No write is acknowledged before it is synced to disk, and nothing that only reads syncs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import FakeEmbedder
from tests.support.fault_vfs import FaultVfs, is_available
from tests.support.http_server import served
from tests.support.opening import NOON, open_at_place

pytestmark = pytest.mark.skipif(not is_available(), reason="sqlite3 has no library of its own here")

Call = Callable[[Remembrancer], object]
Request = Callable[[httpx.Client], httpx.Response]
ONCE = {"Idempotency-Key": "once"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FaultVfs]:
    with FaultVfs(tmp_path) as vfs:
        yield vfs


@pytest.fixture
def store(disk: FaultVfs) -> Iterator[Remembrancer]:
    place = str(disk.directory / "new" / "memory")
    with open_at_place(place, ManualClock(NOON), FakeEmbedder("fake", dimensions=32)) as store:
        yield store


BEES = "Ada keeps bees in the orchard"
TURNS: list[TurnInput] = [
    {"role": "user", "content": "I sold the honey"},
    {"role": "assistant", "content": "Good"},
]

WRITES: dict[str, Call] = {
    "remember": lambda store: store.for_user().remember("Ada sells honey"),
    "remember for someone new": lambda store: store.for_user("eve").remember("Eve sings"),
    "update": lambda store: store.for_user().update(bees(store), "Ada kept bees"),
    "forget": lambda store: store.for_user().forget(bees(store)),
    "delete": lambda store: store.for_user().delete(bees(store)),
    "delete_many": lambda store: store.for_user().delete_many([bees(store)]),
    "forget_all": lambda store: store.for_user().forget_all(),
    "confirm": lambda store: store.for_user().confirm(bees(store)),
    "undo": lambda store: store.for_user().undo(),
    "append": lambda store: store.for_user().append(TURNS, "talk"),
    "rename": lambda store: store.for_user().rename("chat", "Honey"),
    "set_time_zone": lambda store: store.for_user().set_time_zone("Europe/Berlin"),
    "create_key": lambda store: store.create_key("ada"),
    "change_setting": lambda store: store.change_setting("colour", lambda _: "blue"),
    "erase": lambda store: store.erase("ada"),
    "run_job": lambda store: store.run_job("decay_sweep"),
}

READS: dict[str, Call] = {
    "recall": lambda store: store.for_user().recall("bees"),
    "context": lambda store: store.for_user().context("bees"),
    "list": lambda store: store.for_user().list(),
    "history": lambda store: store.for_user().history(bees(store)),
    "turns": lambda store: store.for_user().turns("chat"),
    "audit": lambda store: store.for_user().audit(),
    "stats": lambda store: store.for_user().stats(),
    "list_keys": lambda store: store.list_keys(),
    "flush": lambda store: store.flush(),
}

REQUESTS: dict[str, Request] = {
    "remember": lambda ada: ada.post("/api/remember", json={"content": "Ada sells honey"}),
    "remember once": lambda ada: ada.post(
        "/api/remember", json={"content": "Ada sells wax"}, headers=ONCE
    ),
    "append": lambda ada: ada.post("/api/sessions/talk/turns", json={"turns": TURNS}),
    "delete-many": lambda ada: ada.post("/api/delete-many", json={"what": [BEES]}),
}


@pytest.mark.parametrize("verb", WRITES)
def test_what_the_library_acknowledges_is_on_disk(
    disk: FaultVfs, store: Remembrancer, verb: str
) -> None:
    begin(store)
    assert disk.unsynced == set()
    before = disk.syncs
    WRITES[verb](store)
    assert disk.unsynced == set()
    assert disk.syncs > before


@pytest.mark.parametrize("verb", READS)
def test_what_only_reads_does_not_sync(disk: FaultVfs, store: Remembrancer, verb: str) -> None:
    begin(store)
    before = disk.syncs
    READS[verb](store)
    assert disk.syncs == before


def test_what_the_server_acknowledges_is_on_disk(disk: FaultVfs, store: Remembrancer) -> None:
    begin(store)
    with served(store) as server:
        ada = server.of()
        for name, request in REQUESTS.items():
            before = disk.syncs
            response = request(ada)
            assert response.is_success, (name, response.text)
            # Appending wakes the learner, which may be in the middle of a write of its own.
            assert name == "append" or disk.unsynced == set(), name
            assert disk.syncs > before, name
            store.flush()


def test_a_memory_that_was_closed_and_opened_again_is_on_disk(
    disk: FaultVfs, store: Remembrancer
) -> None:
    begin(store)
    store.close()
    assert disk.unsynced == set()
    place = str(disk.directory / "new" / "memory")
    with open_at_place(place, ManualClock(NOON), FakeEmbedder("fake", dimensions=32)) as again:
        again.for_user().remember("Ada sells honey")
        assert disk.unsynced == set()


def test_counts_of_recalls_are_written_without_a_sync(disk: FaultVfs, store: Remembrancer) -> None:
    begin(store)
    before = disk.syncs
    store.for_user().recall("bees")
    store.flush()
    assert disk.syncs == before
    assert store.for_user().get(bees(store)).recall_count == 1
    store.for_user().remember("Ada sells honey")
    assert disk.unsynced == set()


def begin(store: Remembrancer) -> None:
    me = store.for_user()
    me.append(TURNS, "chat")
    me.remember(BEES)


def bees(store: Remembrancer) -> str:
    (memory,) = store.for_user().list(limit=1, kinds=["fact"]).items
    return memory.id
