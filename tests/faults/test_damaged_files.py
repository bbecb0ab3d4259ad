"""Damaged, foreign and missing files: our own error that names the file, and others go on.

`REM_LONG=1` damages two hundred files in each way instead of a few.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.doctor import Level, run_checks
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, StoreDamaged
from tests.faults.test_disk_faults import open_at, said
from tests.support.http_server import served
from tests.support.processes import forked

pytestmark = pytest.mark.feature("X11")

ROUNDS = 200 if os.environ.get("REM_LONG") else 8
FLIPS = (1, 20, 300)
"""The numbers of bits that are flipped in a file of one person."""


def fill(store: Remembrancer, facts: int = 30) -> None:
    me = store.for_user("ada")
    for number in range(facts):
        colour = ("red", "green", "blue")[number % 3]
        words = f"The {colour} kettle of room {number} boils at {number * 7} degrees."
        me.remember(words, subject="ada", predicate=f"kettle {number}", tags=["kitchen"])
    me.append([said(f"The weather in town {number} is fine.") for number in range(20)], "chat")
    store.for_user("bob").remember("Bob likes trains.")


def file_of(place: Path, words: bytes) -> Path:
    """The file of the person who has said something."""
    (path,) = (one for one in place.glob("people/*.db") if words in one.read_bytes())
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was closed properly; tests damage copies of it."""
    place = tmp_path_factory.mktemp("sound") / "memory"
    with open_at(place) as store:
        fill(store)
    return place


@pytest.fixture
def place(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "memory"))


def other_product(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE facts (id TEXT, owner_id TEXT, content TEXT)")
    other.close()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "not a database": lambda path: path.write_bytes(b"garbage" * 1000),
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "one page": lambda path: os.truncate(path, 4096),
    "of another product": other_product,
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named_and_others_go_on(place: Path, damage: str) -> None:
    path = file_of(place, b"kettle")
    DAMAGE[damage](path)
    damaged = path.read_bytes()
    with open_at(place) as store, served(store) as site:
        me = store.for_user("ada")
        for verb in verbs(me, store).values():
            with pytest.raises(StoreDamaged) as caught:
                verb()
            assert str(path) in str(caught.value)
            assert "rem doctor" in str(caught.value)
        for read in ("/api/memory/facts", "/api/export"):
            answer = site.of("ada").get(read)
            assert (answer.status_code, answer.json()["code"]) == (503, "store_damaged")
            assert "retry-after" not in answer.headers
        assert site.client().get("/readyz").status_code == 200, "others can be served"
        bob = store.for_user("bob")
        assert bob.remember("Bob likes ships.").memory.id in {one.id for one in bob.list().items}
    assert path.read_bytes() == damaged, "nothing has changed it further"
    done = CliRunner().invoke(app, ["--store", str(place), "--user", "ada", "list"])
    assert (done.exit_code, done.stdout, "Traceback" in done.stderr) == (5, "", False)


def test_doctor_names_every_damaged_file(place: Path) -> None:
    for path in place.glob("people/*.db"):
        os.truncate(path, path.stat().st_size // 2)
    with open_at(place) as store:
        settings = store.settings
    found = [one.message for one in run_checks(lambda: settings) if one.level is Level.PROBLEM]
    for path in place.glob("people/*.db"):
        assert any(str(path) in one for one in found)


def test_a_file_that_is_put_back_works_at_once(place: Path) -> None:
    path = file_of(place, b"kettle")
    good = path.read_bytes()
    with open_at(place) as store:
        path.write_bytes(b"garbage" * 1000)
        with pytest.raises(StoreDamaged):
            store.for_user("ada").list()
        path.write_bytes(good)
        assert store.for_user("ada").list().items


def verbs(me: Any, store: Remembrancer) -> dict[str, Callable[[], object]]:
    return {
        "list": lambda: [(one.id, one.content, one.tags) for one in me.list(limit=100).items],
        "recall": lambda: sorted(one.memory.content for one in me.recall("red kettle", limit=200)),
        "context": lambda: me.context("which kettle?"),
        "export": lambda: [one for one in store.export("ada") if b"recall_count" not in one],
        "remember": lambda: (
            me.remember("A new thing.", subject="ada", predicate="x").memory.content
        ),
    }


@pytest.mark.parametrize("flips", FLIPS)
def test_flipped_bits_are_our_error_or_do_not_matter(
    sound: Path, tmp_path: Path, flips: int
) -> None:
    outcomes = Counter(
        flip_and_look(sound, tmp_path / str(number), flips, random.Random(f"{flips} {number}"))
        for number in range(ROUNDS)
    )
    print(f"{flips} flips in each of {ROUNDS} files: {dict(outcomes)}")
    if flips == max(FLIPS):
        assert outcomes["our error"] >= 0.9 * ROUNDS


def flip_and_look(sound: Path, place: Path, flips: int, chance: random.Random) -> str:
    """What the verbs say of a copy with some flipped bits; any other error than ours fails."""
    shutil.copytree(sound, place)
    with open_at(place) as store:
        expected = {name: verb() for name, verb in verbs(store.for_user("ada"), store).items()}
    shutil.rmtree(place)
    shutil.copytree(sound, place)
    path = file_of(place, b"kettle")
    content = bytearray(path.read_bytes())
    for _ in range(flips):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    outcome = "unaffected"
    with open_at(place) as store:
        for name, verb in verbs(store.for_user("ada"), store).items():
            try:
                if verb() != expected[name] and outcome == "unaffected":
                    outcome = "another value"
            except (StoreDamaged, Conflict):  # a damaged index can know a key twice
                outcome = "our error"
        assert store.for_user("bob").list().items
    shutil.rmtree(place)
    return outcome


def test_a_log_that_was_deleted_after_a_crash_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    child = forked.Process(target=write_and_die, args=(place,))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    (log,) = place.glob("people/*.db-wal")
    changes = log.read_bytes()
    log.unlink()
    with open_at(place) as store:
        with pytest.raises(StoreDamaged, match=f"{log.name}, which was deleted"):
            store.for_user("ada").list()
        with pytest.raises(StoreDamaged):
            store.for_user("ada").remember("The lamp is yellow.")
        log.write_bytes(changes)
        assert [one.content for one in store.for_user("ada").list().items] == ["The kettle is red."]


def test_whoever_wants_to_go_on_without_the_log_can(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    child = forked.Process(target=write_and_die, args=(place,))
    child.start()
    child.join(60)
    for path in (*place.glob("people/*-wal"), *place.glob("people/*-shm")):
        path.unlink()
    with open_at(place) as store:
        assert store.for_user("ada").list().items == ()
        store.for_user("ada").remember("The lamp is yellow.")


def write_and_die(place: Path) -> None:
    open_at(place).for_user("ada").remember("The kettle is red.")
    os.kill(os.getpid(), signal.SIGKILL)
