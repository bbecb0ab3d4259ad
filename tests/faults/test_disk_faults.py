"""A disk that is full, fails or cannot be written: a plain error, and nothing is half stored.

What is acknowledged is stored, and what is refused is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable
from remembrancer.sessions.turns import TurnInput
from remembrancer.store import sqlite_file
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from tests.support import fault_vfs
from tests.support.fault_vfs import FaultVfs, Operation
from tests.support.http_server import served
from tests.support.limits import apart, full_disk, read_only

pytestmark = pytest.mark.feature("X11")

needs_vfs = pytest.mark.skipif(not fault_vfs.is_available(), reason="SQLite is built into Python")
FAULTS = {
    "full": (Operation.WRITE, fault_vfs.SQLITE_FULL, StoreFull),
    "write": (Operation.WRITE, fault_vfs.SQLITE_IOERR_WRITE, StoreUnavailable),
    "sync": (Operation.SYNC, fault_vfs.SQLITE_IOERR_FSYNC, StoreUnavailable),
}


def open_at(place: Path, **store: object) -> Remembrancer:
    settings = Settings.model_validate({"user": "ada", "store": {"path": str(place), **store}})
    return Remembrancer(settings, open_store(settings, None), FakeEmbedder())


@pytest.fixture
def vfs(tmp_path: Path) -> Iterator[FaultVfs]:
    with FaultVfs(tmp_path) as watcher:
        yield watcher


def everything(store: Remembrancer) -> list[bytes]:
    """What is stored of Ada, and the keys."""
    keys = [one.id.encode() for one in store.list_keys()]
    return sorted(store.export("ada")) + keys + [str(store.owners()).encode()]


Verb = Callable[[Remembrancer, Path], Any]
VERBS: dict[str, Verb] = {
    "remember": lambda store, _: store.for_user("ada").remember("The gate opens at nine."),
    "update": lambda store, _: store.for_user("ada").update("kettle", "The kettle is green."),
    "forget": lambda store, _: store.for_user("ada").forget("kettle"),
    "delete": lambda store, _: store.for_user("ada").delete("kettle"),
    "append": lambda store, _: store.for_user("ada").append([said("Hello there.")], "chat"),
    "a new person": lambda store, _: store.for_user("bob").remember("Bob likes trains."),
    "key": lambda store, _: store.create_key("ada"),
    "time zone": lambda store, _: store.for_user("ada").set_time_zone("Europe/Vienna"),
    "setting": lambda store, _: store.change_setting("position", lambda _: 7),
    "team settings": lambda store, _: store.review("ada").change_settings(limit=7),
    "job": lambda store, _: store.run_job("tidy"),
    "import": lambda store, place: store.for_user("ada").import_from(place / "notes.md"),
    "restore": lambda store, place: store.restore_backup(place / "backup.zip", replace=True),
}


def said(words: str) -> TurnInput:
    return {"role": "user", "content": words}


@needs_vfs
@pytest.mark.parametrize("fault", FAULTS)
def test_a_refused_write_is_not_stored_and_the_next_one_is(
    tmp_path: Path, vfs: FaultVfs, fault: str
) -> None:
    operation, code, kind = FAULTS[fault]
    (tmp_path / "notes.md").write_text("# Notes\n\n- The bus stops at the bakery.\n")
    with open_at(tmp_path / "memory") as store:
        store.for_user("ada").remember("The kettle is red.")
        store.backup(tmp_path / "backup.zip")
        store.for_user("ada").remember("The lamp is yellow.")
        before = everything(store)
        for name, verb in VERBS.items():
            if operation is Operation.SYNC and not does_sync(vfs, store):
                break
            vfs.fail(operation, code)
            with pytest.raises(kind) as caught:
                verb(store, tmp_path)
            assert "sql" not in str(caught.value).lower().replace("sqlite_ioerr", ""), name
            assert len(store.for_user("ada").list().items) == 2, "reading goes on"
            vfs.heal()
            assert everything(store) == before, name
    with open_at(tmp_path / "memory") as store:
        assert everything(store) == before
        for name, verb in VERBS.items():
            if name not in ("forget", "delete"):
                verb(store, tmp_path)


def does_sync(vfs: FaultVfs, store: Remembrancer) -> bool:
    """True if a write waits for the disk, which a faster setting does not ask for."""
    syncs = vfs.syncs
    store.change_setting("position", lambda _: None)
    return vfs.syncs > syncs


@needs_vfs
def test_a_checkpoint_that_fails_does_not_refuse_what_is_stored(
    tmp_path: Path, vfs: FaultVfs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "CHECKPOINT_BYTES", 0)
    with open_at(tmp_path / "memory") as store:
        me = store.for_user("ada")
        me.remember("The kettle is red.")
        vfs.fail(Operation.WRITE, fault_vfs.SQLITE_FULL, "*.db")
        stored = me.remember("The lamp is yellow.").memory
        vfs.heal()
        assert stored.id in {one.id for one in me.list().items}


@needs_vfs
def test_recalls_are_counted_when_the_disk_has_space_again(tmp_path: Path, vfs: FaultVfs) -> None:
    with open_at(tmp_path / "memory") as store:
        me = store.for_user("ada")
        kept = me.remember("The kettle is red.").memory
        me.recall("kettle")
        vfs.fail(Operation.WRITE, fault_vfs.SQLITE_FULL)
        assert list(store.export("ada")), "an export only reads"
        vfs.heal()
        store.flush()
        assert me.get(kept.id).recall_count == 1


@needs_vfs
def test_over_rest_a_full_disk_is_507_and_reading_goes_on(tmp_path: Path, vfs: FaultVfs) -> None:
    with open_at(tmp_path / "memory") as store, served(store) as site:
        ada = site.of("ada")
        assert ada.post("/api/remember", json={"content": "The kettle is red."}).is_success
        vfs.fail(Operation.WRITE, fault_vfs.SQLITE_FULL)
        body, key = {"content": "The lamp is yellow."}, {"Idempotency-Key": "once"}
        for headers in ({}, key):
            refused = ada.post("/api/remember", json=body, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (507, "store_full")
            assert "retry-after" not in refused.headers
        assert ada.post("/api/recall", json={"query": "kettle"}).json()["items"]
        vfs.heal()
        for _ in range(2):
            assert ada.post("/api/remember", json=body, headers=key).is_success
        contents = [one["content"] for one in ada.get("/api/memory/facts").json()["items"]]
        assert sorted(contents) == ["The kettle is red.", "The lamp is yellow."]


@needs_vfs
def test_a_response_that_cannot_be_kept_does_not_refuse_what_is_stored(
    tmp_path: Path, vfs: FaultVfs
) -> None:
    with open_at(tmp_path / "memory") as store, served(store) as site:
        ada = site.of("ada")
        ada.post("/api/remember", json={"content": "The kettle is red."})
        outcomes = set()
        for after in range(10, 190, 20):
            vfs.heal()
            vfs.fail(Operation.WRITE, fault_vfs.SQLITE_FULL, "*/people/*-wal", after=after)
            body, key = {"content": f"Lamp {after}"}, {"Idempotency-Key": f"{after}"}
            answer = ada.post("/api/remember", json=body, headers=key)
            vfs.heal()
            contents = {one["content"] for one in ada.get("/api/memory/facts").json()["items"]}
            assert answer.is_success == (f"Lamp {after}" in contents)
            outcomes.add(answer.status_code)
        assert len(outcomes) == 2
        assert 507 in outcomes


def test_on_the_command_line_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    apart(fill_the_disk, tmp_path / "memory")


def fill_the_disk(place: Path) -> None:
    with open_at(place) as store:
        for number in range(3):
            store.for_user("ada").remember(f"Kettle {number} is red.")
    rem = CliRunner()

    def run(*args: str) -> Any:
        return rem.invoke(app, ["--store", str(place), "--user", "ada", *args])

    with open_at(place) as store, served(store) as site, full_disk():
        probes = site.client()
        assert probes.get("/healthz").status_code == 200
        refused = probes.get("/readyz")
        assert (refused.status_code, refused.json()["code"]) == (507, "store_full")
        done = run("remember", "The lamp is yellow.", "--json")
        assert done.exit_code == 5
        assert json.loads(done.stdout)["error"]["code"] == "store_full"
        assert "No space is left" in done.stderr
        assert "Traceback" not in done.stderr
        assert "No space is left" in run("doctor").stdout
        assert run("list").exit_code == 0
    assert run("remember", "The lamp is yellow.").exit_code == 0


def test_a_read_only_directory_can_be_read(tmp_path: Path) -> None:
    apart(read_without_writing, tmp_path / "memory")


def read_without_writing(place: Path) -> None:
    with open_at(place) as store:
        store.for_user("ada").remember("The kettle is red.")
    with read_only(place):
        with open_at(place) as store, served(store) as site:
            me = store.for_user("ada")
            assert [one.memory.content for one in me.recall("kettle")] == ["The kettle is red."]
            assert list(store.export("ada"))
            for user in ("ada", "bob"):
                with pytest.raises(StoreReadOnly, match="cannot be used") as caught:
                    store.for_user(user).remember("The lamp is yellow.")
                assert "backup" not in str(caught.value)
            assert site.client().get("/readyz").json()["code"] == "store_read_only"
        done = CliRunner().invoke(app, ["--store", str(place), "--user", "ada", "list"])
        assert (done.exit_code, "kettle" in done.stdout) == (0, True)
        writes = CliRunner().invoke(app, ["--store", str(place), "remember", "The lamp is yellow."])
        assert (writes.exit_code, writes.stdout) == (5, "")
    with open_at(place) as store:
        store.for_user("ada").remember("The lamp is yellow.")
        assert len(store.for_user("ada").list().items) == 2


def test_a_lone_file_that_changes_while_it_is_read_is_not_trusted(tmp_path: Path) -> None:
    apart(change_while_reading, tmp_path / "memory")


def change_while_reading(place: Path) -> None:
    with open_at(place) as store:
        store.for_user("ada").remember("The kettle is red.")
        owner = store.owners()[0]
    with read_only(place), open_at(place) as store:
        with pytest.raises(StoreBusy, match="Another process"), store._store.open_reader(owner):
            touch(place)


def touch(place: Path) -> None:
    (path,) = place.glob("people/*.db")
    path.chmod(0o600)
    path.write_bytes(path.read_bytes())


def test_a_lock_that_others_hold_too_long_is_said(tmp_path: Path) -> None:
    with (
        open_at(tmp_path, lock_timeout_seconds=0.1) as one,
        open_at(tmp_path, lock_timeout_seconds=0.1) as other,
    ):
        one.for_user("ada").remember("The kettle is red.")
        with one._store.open_writer(one.owners()[0]):
            with pytest.raises(StoreBusy, match="Try again"):
                other.for_user("ada").remember("The lamp is yellow.")
        other.for_user("ada").remember("The lamp is yellow.")
