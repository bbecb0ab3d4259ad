"""An erasure that is killed at random, again and again: whoever asks next finishes it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from remembrancer.clock import SystemClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import UnknownPerson
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from tests.support.files import bytes_of
from tests.support.processes import forked

KILLS = 10 if os.environ.get("REM_LONG") else 5
CANARY = "quetzalcoatlus"


def opened(place: str, tenant: str) -> Remembrancer:
    where = {"url" if place.startswith("postgresql") else "path": place}
    settings = Settings.model_validate(
        {"profile": "assistant", "tenant": tenant, "user": "ada", "store": where}
    )
    clock = SystemClock()
    return Remembrancer(settings, open_store(settings, clock), FakeEmbedder(dimensions=64), clock)


def fill(store: Remembrancer, user: str) -> None:
    me = store.for_user(user)
    for number in range(40):
        me.remember(f"On day {number} the {CANARY} number {number} was seen at the lake.")
        me.append([{"role": "user", "content": f"The {CANARY} number {number} is back."}], "chat")
    store.flush()


def erase_in_a_process(place: str, tenant: str, ready: Connection) -> None:
    store = opened(place, tenant)
    ready.send("ready")
    with contextlib.suppress(UnknownPerson):
        store.erase("ada")
    ready.send("done")
    os._exit(0)  # at once, as if it were killed a moment later


def test_X4_an_erasure_killed_again_and_again_leaves_nothing(place: str, tenant: str) -> None:
    chance = random.Random(20260302)
    with opened(place, tenant) as store:
        fill(store, "bob")
        started = time.monotonic()
        store.erase("bob")
        takes = time.monotonic() - started
        fill(store, "ada")
    kills = 0
    while kills < KILLS:
        ours, theirs = forked.Pipe()
        child = forked.Process(target=erase_in_a_process, args=(place, tenant, theirs))
        child.start()
        assert ours.recv() == "ready"
        if ours.poll(chance.uniform(0, takes)):
            child.join()
            with opened(place, tenant) as store:
                fill(store, "ada")
            continue
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        kills += 1

    with opened(place, tenant) as store:
        owner = store.for_user("ada").principal.owner
        with contextlib.suppress(UnknownPerson):  # The last one was killed after all was done.
            assert store.erase("ada").clean
        assert owner not in store.owners()
        assert not store.for_user("ada").list().items
        after = bytes_of(place)
    assert CANARY.encode() not in after
    assert owner.id.encode() not in after
    if not place.startswith("postgresql"):
        assert not list(Path(place).rglob("*.erasing"))
