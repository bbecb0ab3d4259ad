"""Whatever was acknowledged survives kill -9 and a power cut; nothing is stored by half.

`REM_LONG=1` writes more than ten thousand times, with a hundred kills and 250 power cuts.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import threading
import time
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from sqlalchemy import text

from remembrancer.engine import Remembrancer
from remembrancer.types import Owner
from tests.support.disk_log import Disk, Loss, read_log
from tests.support.fault_vfs import FaultVfs, is_available
from tests.support.postgres import start_postgres, stop_at_once
from tests.support.processes import forked
from tests.support.promises import (
    Notes,
    Promises,
    assert_kept,
    assert_usable,
    combine,
    open_for_promises,
    read_notes,
    write_until,
)

LONG = bool(os.environ.get("REM_LONG"))
PROCESSES, USERS = 2, 2
ROUNDS, WRITES, CUTS = (25, 220, 10) if LONG else (2, 40, 5)
"""Kills, acknowledged writes before each, and power cuts in the time before it."""

CRASHES = 10 if LONG else 1
"""Of the PostgreSQL server, each after as many writes."""

PATIENCE_SECONDS = 300
TENANT = "crashes"


@dataclass(frozen=True)
class Scene:
    """Where several processes write, where they note what was acknowledged, and who watches."""

    place: str
    notes: Path
    users: tuple[str, ...]
    disk: Path | None = None
    log: Path | None = None


def test_kill_9_loses_nothing_that_was_acknowledged(
    tmp_path: Path, running: list[BaseProcess]
) -> None:
    place, promised, everyone = str(tmp_path / "memory"), Promises(), set[str]()
    writes = 0
    for number in range(ROUNDS):
        scene = Scene(place, tmp_path / f"notes-{number}", users_of(number))
        notes = kill_amid_writes(scene, running)
        writes += len(notes)
        promised |= combine(notes)
        everyone |= set(scene.users)
        assert_kept(place, TENANT, scene.users, combine(notes))
        assert_usable(place, TENANT, scene.users)
    assert_kept(place, TENANT, everyone, promised)
    print(f"{ROUNDS * PROCESSES} kills, {writes} acknowledged writes, none lost")


@pytest.mark.skipif(not is_available(), reason="sqlite3 has no library of its own here")
def test_a_power_cut_loses_nothing_that_was_acknowledged(
    tmp_path: Path, running: list[BaseProcess]
) -> None:
    """Each round goes on with what the last power cut of the one before has left."""
    chance = random.Random()
    disk, promised, everyone, writes, cuts = tmp_path / "disk", Promises(), set[str](), 0, 0
    disk.mkdir()
    for number in range(ROUNDS):
        log, users = tmp_path / f"log-{number}", users_of(number)
        state, place = Disk(disk), str(disk / "memory")
        kill_amid_writes(Scene(place, tmp_path / f"notes-{number}", users, disk, log), running)
        events = list(read_log(log))
        moments = [*sorted(chance.choices(range(len(events)), k=CUTS - 1)), len(events)]
        begin = 0
        for cut, moment in enumerate(moments):
            for event in events[begin:moment]:
                state.apply(event)
            begin = moment
            shutil.rmtree(disk)
            loss = Loss.EVERYTHING if cut % 3 == 0 else Loss.SOME
            disk = tmp_path / f"disk-{number}-{cut}"
            state.cut_power(disk, loss, chance)
            kept = str(disk / "memory")
            assert_kept(kept, TENANT, users, combine(state.acknowledged))
            cuts += 1
        assert_usable(kept, TENANT, users)
        writes += len(state.acknowledged)
        promised |= combine(state.acknowledged)
        everyone |= set(users)
        log.unlink()
    assert_kept(kept, TENANT, everyone, promised)
    print(f"{cuts} power cuts, {writes} acknowledged writes, none lost")


def test_a_crash_of_postgresql_loses_nothing_that_was_acknowledged(
    tmp_path: Path, running: list[BaseProcess]
) -> None:
    server = start_postgres(tempfile.mkdtemp(prefix="rem-crashes-"), durable=True)
    promised, everyone, writes = Promises(), set[str](), 0
    try:
        place = server.get_uri()
        with open_for_promises(place, TENANT) as store:
            assert shown_to_writers(store) == {"fsync": "on", "synchronous_commit": "on"}
        for number in range(CRASHES):
            scene = Scene(place, tmp_path / f"notes-{number}", users_of(number))
            processes = begin_writing(scene, running)
            stop_at_once(server)
            for one in processes:
                one.join(PATIENCE_SECONDS)
            server.ensure_postgres_running()
            notes = read_notes(scene.notes)
            writes += len(notes)
            promised |= combine(notes)
            everyone |= set(scene.users)
            assert_kept(place, TENANT, scene.users, combine(notes))
            assert_usable(place, TENANT, scene.users)
        assert_kept(place, TENANT, everyone, promised)
    finally:
        server.cleanup()
    print(f"{CRASHES} crashes of the server, {writes} acknowledged writes, none lost")


@pytest.mark.skipif(not is_available(), reason="sqlite3 has no library of its own here")
def test_the_simulated_power_cut_finds_what_is_not_synced(tmp_path: Path) -> None:
    """Without durability the same writes are lost, so the test above could fail."""
    disk, log = tmp_path / "disk", tmp_path / "log"
    disk.mkdir()
    state = Disk(disk)
    with FaultVfs(disk, log=log) as vfs:
        place = {"path": str(disk / "memory"), "durability": "normal"}
        with open_for_promises(str(disk / "memory"), TENANT, store=place) as store:
            memory = store.for_user("ada").remember("Ada keeps bees").memory
            vfs.note(f'{{"{memory.id}": 1}}')
            for event in read_log(log):
                state.apply(event)
    state.cut_power(tmp_path / "left", Loss.EVERYTHING, random.Random())
    promised, left = combine(state.acknowledged), str(tmp_path / "left" / "memory")
    with pytest.raises(AssertionError, match="1 of 1 are lost"):
        assert_kept(left, TENANT, ["ada"], promised)


def users_of(number: int) -> tuple[str, ...]:
    return tuple(f"user-{number}-{one}" for one in range(USERS))


def shown_to_writers(store: Remembrancer) -> dict[str, str]:
    with store._store.open_writer(Owner(TENANT, "ada")) as writer:
        connection = writer._connection  # type: ignore[attr-defined]
        names = ("fsync", "synchronous_commit")
        return {one: connection.execute(text(f"SHOW {one}")).scalar_one() for one in names}


def kill_amid_writes(scene: Scene, running: list[BaseProcess]) -> list[str]:
    """Let processes write until enough is acknowledged, kill them; returns what was noted."""
    for one in begin_writing(scene, running):
        time.sleep(random.uniform(0, 0.05))
        os.kill(one.pid or 0, signal.SIGKILL)
        one.join()
    return read_notes(scene.notes)


def begin_writing(scene: Scene, running: list[BaseProcess]) -> list[BaseProcess]:
    """Let processes write; returns them when enough is acknowledged."""
    processes: list[BaseProcess] = [
        forked.Process(target=write, args=(scene, f"{number}-{time.time_ns()}"))
        for number in range(PROCESSES)
    ]
    running += processes
    for one in processes:
        one.start()
    until = time.monotonic() + PATIENCE_SECONDS
    while len(read_notes(scene.notes)) < WRITES:
        assert time.monotonic() < until, "the processes write too slowly"
        assert all(one.is_alive() for one in processes), "a process ended by itself"
        time.sleep(0.05)
    return processes


def write(scene: Scene, name: str) -> None:
    """What each process does."""
    never, note = threading.Event(), Notes(scene.notes)
    users = [*scene.users, scene.users[0]]
    if scene.disk is None:
        with open_for_promises(scene.place, TENANT) as store:
            write_until(store, users, name, note, never)
        return

    def acknowledge(promises: Promises) -> None:
        vfs.acknowledge(promises)
        note(promises)

    with FaultVfs(scene.disk, log=scene.log) as vfs:
        with open_for_promises(scene.place, TENANT) as store:
            write_until(store, users, name, acknowledge, never)
