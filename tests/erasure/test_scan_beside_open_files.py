"""The scan after an erasure leaves alone what other people have open, and is never half done."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing import spawn
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import StoreDamaged, StoreUnavailable
from remembrancer.store.sqlite import SqliteStore
from tests.faults.test_disk_faults import open_at
from tests.support.locks import INDEX_IN_USE, is_locked
from tests.support.opening import open_files
from tests.support.processes import forked

pytestmark = [
    pytest.mark.feature("X4"),
    pytest.mark.skipif(os.name != "posix", reason="only POSIX locks end when a handle is closed"),
]

BROKEN = {
    "is killed at once": "kill -9 $$",
    "is killed in mid-answer": "echo '[[\"people\", 1,'; kill -9 $$",
    "says nothing": "exit 0",
    "fails": "exit 3",
    "is not the interpreter": "echo usage",
    "answers with something else": "echo 7",
}


def contents(place: Path) -> set[str]:
    with open_at(place) as store:
        return {one.content for one in store.for_user("ada").list().items}


def write_and_close(place: Path, words: str) -> None:
    with open_at(place) as store:
        store.for_user("ada").remember(words)


def in_a_process(place: Path, words: str) -> None:
    child = forked.Process(target=write_and_close, args=(place, words))
    child.start()
    child.join(60)
    assert child.exitcode == 0


def erase_bob(store: Remembrancer) -> bool:
    store.for_user("bob").remember("Bob likes zeppelins.")
    return store.erase("bob").clean


def test_others_can_close_a_file_beside_a_process_that_has_erased_someone(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with open_at(place) as store:
        ada = store.for_user("ada")
        ada.remember("The kettle is red.")
        (log,) = place.glob("people/*.db-wal")
        logs = {path: path.stat().st_ino for path in (log, place / "system.db-wal")}
        assert erase_bob(store)
        in_a_process(place, "The lamp is yellow.")
        assert {path: path.stat().st_ino for path in logs if path.exists()} == logs
        ada.remember("The door is green.")
        assert log.stat().st_size > 0
        in_a_process(place, "The roof is blue.")
        stored = {one.content for one in ada.list().items}
    everything = {
        "The kettle is red.",
        "The lamp is yellow.",
        "The door is green.",
        "The roof is blue.",
    }
    assert stored == contents(place) == everything


def erase_then_write_and_die(place: Path, begun: Connection, ended: Connection) -> None:
    store = open_at(place)
    ada = store.for_user("ada")
    ada.remember("The kettle is red.")
    erase_bob(store)
    ended.send("erased")
    begun.recv()
    ada.remember("The door is green.")
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_is_acknowledged_after_an_erasure_survives_a_kill(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    begun, begin = forked.Pipe(duplex=False)
    end, ended = forked.Pipe(duplex=False)
    child = forked.Process(target=erase_then_write_and_die, args=(place, begun, ended))
    child.start()
    assert end.recv() == "erased"
    in_a_process(place, "The lamp is yellow.")
    begin.send("write")
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    expected = {"The kettle is red.", "The lamp is yellow.", "The door is green."}
    assert contents(place) == expected


def test_looking_for_a_lost_log_keeps_the_locks(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with open_at(place) as store:
        store.for_user("ada").remember("The kettle is red.")
        (log,) = place.glob("people/*.db-wal")
        index = log.with_name(log.name.replace("-wal", "-shm"))
        assert is_locked(index, INDEX_IN_USE)
        aside = log.rename(log.with_name("aside"))
        with open_at(place) as second, pytest.raises(StoreDamaged, match=log.name):
            second.for_user("ada").list()
        aside.rename(log)
        assert is_locked(index, INDEX_IN_USE)
        in_a_process(place, "The lamp is yellow.")
    assert contents(place) == {"The kettle is red.", "The lamp is yellow."}
    with open_at(place) as store:
        assert store.for_user("ada").list().items
    assert not [path for path in open_files() if "people" in str(path)]


@pytest.fixture
def interpreter() -> Iterator[None]:
    before = spawn.get_executable()
    yield
    multiprocessing.set_executable(before)


@pytest.mark.usefixtures("interpreter")
@pytest.mark.parametrize("way", BROKEN)
def test_a_scan_that_does_not_end_well_is_an_error(tmp_path: Path, way: str) -> None:
    place, python = tmp_path / "memory", spawn.get_executable()
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\n{BROKEN[way]}\n", encoding="utf-8")
    script.chmod(0o700)
    with open_at(place) as store:
        store.for_user("ada").remember("The kettle is red.")
        multiprocessing.set_executable(str(script))
        with pytest.raises(StoreUnavailable, match=r"Erase again to finish it"):
            erase_bob(store)
        with contextlib.closing(SqliteStore(place)) as files:
            assert [one.finished_at for one in files.system.list_erasures()] == [None]
        multiprocessing.set_executable(python)
        assert store.erase("bob").clean
        assert store.for_user("ada").list().items


@pytest.mark.usefixtures("interpreter")
def test_an_interpreter_that_is_missing_is_named(tmp_path: Path) -> None:
    with open_at(tmp_path / "memory") as store:
        multiprocessing.set_executable(str(tmp_path / "missing"))
        with pytest.raises(StoreUnavailable, match="missing"):
            erase_bob(store)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with open_at(place) as store:
        store.for_user("ada").remember("The kettle is red.")
        loop = place / "loop"
        loop.symlink_to(loop)
        with pytest.raises(StoreUnavailable, match=str(loop)):
            erase_bob(store)
        loop.unlink()
        assert store.erase("bob").clean


@pytest.mark.usefixtures("interpreter")
def test_a_frozen_program_is_told_to_name_an_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = spawn.get_executable()
    with open_at(tmp_path / "memory") as store:
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        with pytest.raises(StoreUnavailable, match=r"multiprocessing\.set_executable"):
            erase_bob(store)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "program"))
        multiprocessing.set_executable(python)
        assert store.erase("bob").clean
