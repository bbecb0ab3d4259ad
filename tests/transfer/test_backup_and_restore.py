"""M18: backup is one command and so is restoring; a backup is whole, checked and private."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import BadBackup, Conflict, InvalidInput, StoreUnavailable
from remembrancer.types import Owner, Tenant
from tests.support.full_memory import answers, fill, fill_team, members, people

pytestmark = pytest.mark.feature("M18")

Fresh = Callable[[str], str]
OpenAt = Callable[..., Remembrancer]
Edit = Callable[[dict[str, bytes]], None]

engines = pytest.mark.parametrize("engine", ["sqlite", "postgres"])


@engines
def test_restored_into_an_empty_place_everything_is_as_it_was(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    store = open_at(fresh(engine))
    fill(store.for_user("ada"), clock)
    store.for_user("grace", tenant="elsewhere").remember("Grace lives in Lima")
    backup = store.backup(tmp_path / "a.zip")

    empty = open_at(fresh(engine))
    restored = empty.restore_backup(backup.path)

    assert (backup.people, restored.people, restored.present) == (2, 2, 0)
    assert backup.created_at == clock.now()
    assert backup.bytes == backup.path.stat().st_size
    assert members(empty.backup(tmp_path / "b.zip").path) == members(backup.path)
    assert answers(empty) == answers(store)
    assert empty.owners() == store.owners()


@engines
def test_a_backup_says_what_it_is_and_only_its_owner_may_read_it(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    store = open_at(fresh(engine))
    fill(store.for_user("ada"), clock)
    path = tmp_path / "memories.zip"
    path.write_text("an older one")
    path.chmod(0o644)

    backup = store.backup(path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []
    assert store.verify_backup(path) == backup
    with zipfile.ZipFile(path) as file:
        manifest = json.loads(file.read("manifest.json"))
    assert manifest["engine"] == {"sqlite": "sqlite", "postgres": "postgresql"}[engine]
    for member in manifest["members"]:
        text = members(path)[member["name"]]
        assert member["sha256"] == hashlib.sha256(text).hexdigest()
        assert member["bytes"] == len(text)


@engines
def test_others_who_live_there_are_left_alone(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    store = open_at(fresh(engine))
    fill(store.for_user("ada"), clock)
    backup = store.backup(tmp_path / "a.zip").path
    other = open_at(fresh(engine))
    fill(other.for_user("zoe"), clock)
    before = people(other.backup(tmp_path / "before.zip").path)

    other.restore_backup(backup)

    after = people(other.backup(tmp_path / "after.zip").path)
    assert after == before | people(backup)


@engines
def test_who_has_other_memories_keeps_them_unless_they_are_to_be_replaced(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    store = open_at(fresh(engine))
    fill(store.for_user("ada"), clock)
    store.for_user("grace").remember("Grace lives in Lima")
    backup = store.backup(tmp_path / "a.zip").path
    told = people(backup)
    store.for_user("ada").remember("Ada has a new bicycle")
    assert store.for_user("ada").recall("bicycle")
    changed = members(store.backup(tmp_path / "changed.zip").path)

    with pytest.raises(Conflict, match="ada of home has other memories here"):
        store.restore_backup(backup)
    assert (
        members(store.backup(tmp_path / "b.zip").path)[f"people/{Owner('home', 'ada').id}.jsonl"]
        == changed[f"people/{Owner('home', 'ada').id}.jsonl"]
    )

    restored = store.restore_backup(backup, replace=True)
    assert (restored.people, restored.present) == (1, 1)
    assert people(store.backup(tmp_path / "c.zip").path) == told
    found = [one.memory.content for one in store.for_user("ada").recall("bicycle")]
    assert "Ada has a new bicycle" not in found, "the index in memory has noticed"


@engines
def test_a_backup_is_of_one_moment_while_others_write(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    """A writer stores an event, a document, a fact and a vector together, or none of them."""
    place = fresh(engine)
    store, writer = open_at(place), open_at(place)
    store.for_user("ada").remember("fact number -1")
    stop = threading.Event()
    written = []

    def write() -> None:
        me = writer.for_user("ada")
        while not stop.is_set():
            written.append(me.remember(f"fact number {len(written)}").memory.id)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        backups = []
        while len(backups) < 5:
            count = len(written)
            backups.append(store.backup(tmp_path / f"{len(backups)}.zip").path)
            while len(written) < count + 3:
                time.sleep(0.005)
    finally:
        stop.set()
        thread.join()

    sizes = []
    for path in backups:
        (person,) = people(path).values()
        rows = [json.loads(line) for line in person.splitlines()[1:]]
        ids = {
            table: {columns[key] for name, columns in rows if name == table}
            for table, key in (
                ("facts", "id"),
                ("documents", "id"),
                ("embeddings", "memory_id"),
                ("changes", "memory_id"),
            )
        }
        (counters,) = (columns for table, columns in rows if table == "owners")
        assert len({frozenset(some) for some in ids.values()}) == 1
        assert counters["documents_added"] == len(ids["documents"])
        sizes.append(len(ids["facts"]))
    assert sizes == sorted(set(sizes)), "each backup has more than the one before"
    store.for_user("ada")  # and the store is as good as before
    empty = open_at(fresh(engine))
    empty.restore_backup(backups[-1])
    assert people(empty.backup(tmp_path / "again.zip").path) == people(backups[-1])


def repacked(source: Path, target: Path, edit: Edit, *, honest: bool) -> Path:
    """The backup with some members changed; an honest one has a manifest that agrees."""
    with zipfile.ZipFile(source) as file:
        texts = {one: file.read(one) for one in file.namelist()}
    before = dict(texts)
    edit(texts)
    assert texts != before
    if honest:
        manifest = json.loads(texts["manifest.json"])
        manifest["members"] = [
            {
                "name": name,
                "rows": text.count(b"\n") - (name != "system.jsonl"),
                "bytes": len(text),
                "sha256": hashlib.sha256(text).hexdigest(),
            }
            for name, text in texts.items()
            if name != "manifest.json"
        ]
        texts["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in texts.items():
            file.writestr(name, text)
    return target


def replacing(old: bytes, new: bytes) -> Edit:
    def edit(texts: dict[str, bytes]) -> None:
        for name, text in texts.items():
            if name != "manifest.json":
                texts[name] = text.replace(old, new, 1)

    return edit


def adding(name: str, text: bytes) -> Edit:
    return lambda texts: texts.update({name: text})


def without(name: str) -> Edit:
    return lambda texts: texts.__delitem__(name)


def in_manifest(**values: object) -> Edit:
    def edit(texts: dict[str, bytes]) -> None:
        changed = json.loads(texts["manifest.json"]) | values
        texts["manifest.json"] = json.dumps(changed).encode()

    return edit


ADA = f"people/{Owner('home', 'ada').id}.jsonl"
TEAM = f"teams/{Tenant('home').id}.jsonl"
DAMAGES: dict[str, tuple[Edit, bool]] = {
    "another word": (replacing(b"Bonn", b"Rome"), False),
    "a row less": (lambda texts: texts.update({ADA: texts[ADA].rsplit(b"\n", 2)[0]}), False),
    "no manifest": (without("manifest.json"), False),
    "no system": (without("system.jsonl"), False),
    "no system, honestly": (without("system.jsonl"), True),
    "a person missing": (without(ADA), False),
    "a path that climbs": (adding("../../people/x.jsonl", b"{}"), False),
    "a path that climbs, honestly": (adding("../../people/x.jsonl", b"{}\n"), True),
    "an absolute path": (adding("/etc/passwd", b"x"), True),
    "an unknown member": (adding("team/x.jsonl", b"{}\n"), True),
    "a person under another name": (
        lambda texts: texts.update({f"people/{'0' * 32}.jsonl": texts.pop(ADA)}),
        True,
    ),
    "a team missing": (without(TEAM), False),
    "a team under another name": (
        lambda texts: texts.update({f"teams/{'0' * 32}.jsonl": texts.pop(TEAM)}),
        True,
    ),
    "a team in the place of a person": (
        lambda texts: texts.update({f"people/{Tenant('home').id}.jsonl": texts.pop(TEAM)}),
        True,
    ),
    "a person's rows in a team": (
        lambda texts: texts.update({TEAM: texts[TEAM] + texts[ADA].partition(b"\n")[2]}),
        True,
    ),
    "a team's counter": (
        lambda texts: texts.update({TEAM: texts[TEAM] + b'["teams",{"version":1}]\n'}),
        True,
    ),
    "another tenant's fact": (replacing(b'"contributor":', b'"tenant_id":'), True),
    "another person's name": (replacing(b'"name":"ada"', b'"name":"eve"'), True),
    "an unknown table": (replacing(b'["facts",', b'["leases",'), True),
    "an unknown column": (replacing(b'"content":', b'"owner_id":'), True),
    "a moment that is none": (replacing(b'"recorded_at":"2026', b'"recorded_at":"x'), True),
    "a vector that is none": (replacing(b'"vector":"', b'"vector":"!'), True),
    "a number that is a text": (replacing(b'"importance":', b'"importance":"1","x":'), True),
    "a line that is no JSON": (replacing(b'["facts",', b"[[[["), True),
    "a line of brackets": (adding(ADA, b"[" * 200_000 + b"\n"), True),
    "numbers without end": (replacing(b'"confidence":1.0', b'"confidence":1e999'), True),
    "a column too many": (replacing(b'["documents",{', b'["documents",{"x":1,'), True),
    "a manifest that is no JSON": (adding("manifest.json", b"{"), False),
    "a manifest of brackets": (adding("manifest.json", b"[" * 1_000_000), False),
    "a manifest without end": (adding("manifest.json", b" " * (65 * 1024 * 1024)), False),
    "a line without end": (adding(ADA, b"0" * (40 * 1024 * 1024)), True),
    "a newer format": (in_manifest(format=2), False),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound backup of ada and of the team."""
    from datetime import UTC, datetime

    from remembrancer.config import Settings
    from remembrancer.store.open import open_store
    from remembrancer.testing import FakeEmbedder

    clock = ManualClock(datetime(2026, 3, 2, 12, tzinfo=UTC))
    settings = Settings(user="ada", profile="assistant")
    vanishing = open_store(settings, clock, in_memory=True)
    embedder = FakeEmbedder()
    with Remembrancer(settings, vanishing, embedder, clock) as store:
        fill(store.for_user("ada"), clock)
        fill_team(store, embedder)
        return store.backup(tmp_path_factory.mktemp("sound") / "sound.zip").path


@contextmanager
def unchanged(store: Remembrancer, tmp_path: Path) -> Iterator[None]:
    store.for_user("zoe").remember("Zoe lives here")
    before = members(store.backup(tmp_path / "before.zip").path)
    yield
    assert members(store.backup(tmp_path / "after.zip").path) == before
    assert [one.user for one in store.owners()] == ["zoe"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_is_refused_and_nothing_is_changed(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path, damage: str
) -> None:
    edit, honest = DAMAGES[damage]
    bad = repacked(sound, tmp_path / "bad.zip", edit, honest=honest)
    store = open_at(fresh("sqlite"))

    with unchanged(store, tmp_path):
        with pytest.raises(BadBackup):
            store.restore_backup(bad)
        with pytest.raises(BadBackup):
            store.verify_backup(bad)


@engines
def test_rows_that_contradict_each_other_are_refused(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path, engine: str
) -> None:
    """Only the database can tell; what it had taken in by then is gone again."""

    def edit(texts: dict[str, bytes]) -> None:
        lines = texts[ADA].splitlines(keepends=True)
        texts[ADA] = b"".join(one for one in lines if not one.startswith(b'["events"'))

    bad = repacked(sound, tmp_path / "bad.zip", edit, honest=True)
    store = open_at(fresh(engine))
    with pytest.raises(BadBackup, match="are inconsistent"):
        store.restore_backup(bad)
    assert people(store.backup(tmp_path / "after.zip").path) == {}


@engines
def test_a_teams_rows_that_contradict_each_other_are_refused(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path, engine: str
) -> None:
    def edit(texts: dict[str, bytes]) -> None:
        lines = texts[TEAM].splitlines(keepends=True)
        texts[TEAM] = b"".join(one for one in lines if not one.startswith(b'["team_facts"'))

    bad = repacked(sound, tmp_path / "bad.zip", edit, honest=True)
    store = open_at(fresh(engine))
    with pytest.raises(BadBackup, match="are inconsistent"):
        store.restore_backup(bad)
    assert TEAM not in members(store.backup(tmp_path / "after.zip").path)


@engines
def test_a_backup_from_before_teams_were_in_it_is_restored_and_leaves_the_team_alone(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path, engine: str
) -> None:
    old = repacked(sound, tmp_path / "old.zip", without(TEAM), honest=True)
    store = open_at(fresh(engine), profile="assistant")
    store.for_user("zoe").propose("The release is cut from the main branch.")
    before = members(store.backup(tmp_path / "before.zip").path)[TEAM]

    restored = store.restore_backup(old)

    assert (restored.people, restored.teams) == (1, 0)
    assert members(store.backup(tmp_path / "after.zip").path)[TEAM] == before


def test_a_file_that_is_cut_off_or_has_a_flipped_bit_is_refused(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path
) -> None:
    store = open_at(fresh("sqlite"))
    whole = sound.read_bytes()
    bad = tmp_path / "bad.zip"
    rng = random.Random(18)
    with unchanged(store, tmp_path):
        for at in [0, 1, 100, *(rng.randrange(len(whole)) for _ in range(20)), len(whole) - 1]:
            bad.write_bytes(whole[:at])
            with pytest.raises(InvalidInput):
                store.restore_backup(bad)
        with zipfile.ZipFile(sound) as file:
            end = file.start_dir
        for at in (rng.randrange(100, end - 100) for _ in range(20)):
            flipped = bytearray(whole)
            flipped[at] ^= 1 << rng.randrange(8)
            bad.write_bytes(flipped)
            try:
                store.verify_backup(bad)
            except BadBackup:
                continue
            assert members(bad) == members(sound), "only what nobody reads may differ"


@pytest.mark.parametrize("words", [b"", b"not a zip", b"PK\x03\x04" + b"\0" * 100])
def test_a_file_that_is_no_zip_is_refused(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, words: bytes
) -> None:
    (tmp_path / "bad.zip").write_bytes(words)
    with pytest.raises(BadBackup, match="not a backup"):
        open_at(fresh("sqlite")).restore_backup(tmp_path / "bad.zip")


def test_a_file_that_is_packed_in_another_way_is_refused(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path
) -> None:
    with zipfile.ZipFile(sound) as file:
        texts = {one: file.read(one) for one in file.namelist()}
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_BZIP2) as file:
        for name, text in texts.items():
            file.writestr(name, text)
    with pytest.raises(BadBackup):
        open_at(fresh("sqlite")).restore_backup(bad)
    with zipfile.ZipFile(bad, "w") as file:
        for name, text in texts.items():
            file.writestr(name, text)
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr(ADA, b"twice")
    with pytest.raises(BadBackup):
        open_at(fresh("sqlite")).restore_backup(bad)


def test_a_backup_of_other_tables_says_what_to_do(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path, sound: Path
) -> None:
    edit = in_manifest(schema_revision="0002", version="0.0.9")
    old = repacked(sound, tmp_path / "old.zip", edit, honest=False)
    with pytest.raises(BadBackup, match=r"made by Remembrancer 0\.0\.9.*Restore it with that"):
        open_at(fresh("sqlite")).restore_backup(old)


def test_a_path_that_cannot_be_used_is_a_sentence(
    fresh: Fresh, open_at: OpenAt, tmp_path: Path
) -> None:
    store = open_at(fresh("sqlite"))
    with pytest.raises(InvalidInput, match="No such file"):
        store.restore_backup(tmp_path / "nowhere.zip")
    with pytest.raises(InvalidInput, match="is a directory"):
        store.backup(tmp_path)
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        store.backup(tmp_path / "nowhere" / "a.zip")


def test_a_backup_that_fails_leaves_the_old_one_and_nothing_else(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path
) -> None:
    place = fresh("sqlite")
    store = open_at(place)
    store.for_user("ada").remember("Ada lives in Bonn")
    path = store.backup(tmp_path / "a.zip").path
    old = path.read_bytes()
    store.close()
    (file,) = Path(place).glob("people/*.db")
    file.write_bytes(b"garbage" * 1000)

    with pytest.raises(StoreUnavailable):
        open_at(place).backup(path)

    assert path.read_bytes() == old
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["a.zip"]


PEOPLE = 15
RESTORE = """
import sys, remembrancer
from remembrancer.config import Settings
store = remembrancer.open(sys.argv[1], settings=Settings())
def tell(done, total):
    print(done - total // 2, flush=True)
store.restore_backup(sys.argv[2], progress=tell)
store.close()
"""


@engines
def test_killed_at_any_moment_it_is_completed_by_doing_it_again(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    store = open_at(fresh("sqlite"))
    for number in range(PEOPLE):
        me = store.for_user(f"person {number}")
        me.append([{"role": "user", "content": f"Turn {n}"} for n in range(40)], "chat")
    backup = store.backup(tmp_path / "a.zip").path
    place = fresh(engine)
    open_at(place).close()
    rng = random.Random(engine)
    command = [sys.executable, "-c", RESTORE, place, str(backup)]
    arrived = [0]

    for _ in range(4):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        until = min(arrived[-1] + rng.randrange(4), PEOPLE - 1)
        next(line for line in process.stdout if int(line) >= until)
        time.sleep(rng.uniform(0, 0.15))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        half = open_at(place)
        found = people(half.backup(tmp_path / "half.zip").path)
        half.close()
        assert found.items() <= people(backup).items(), "there as a whole or not at all"
        arrived.append(len(found))

    assert arrived == sorted(arrived)
    assert arrived[-1] > 0
    subprocess.run(command, capture_output=True, check=True)
    whole = open_at(place)
    assert members(whole.backup(tmp_path / "whole.zip").path) == members(backup)
    if engine == "sqlite":
        assert not [one for one in Path(place).rglob("*") if "building" in one.name]


@engines
def test_the_job_makes_backups_and_keeps_the_newest(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    where = {"path": str(tmp_path / "data"), "pool_size": 1}
    place = fresh(engine)
    if engine == "postgres":
        where["url"] = place
    store = open_at(place, store=where, jobs={"backup": "0 2 * * *"})
    store.for_user("ada").remember("Ada lives in Bonn")
    shelf = tmp_path / "data" / "backups"
    shelf.mkdir(parents=True)
    strangers = {"remembrancer-2020.zip", "remembrancer-20200101T000000Z.zip.old", "mine.zip"}
    for name in strangers:
        (shelf / name).touch()

    for _ in range(9):
        (outcome,) = [one for one in store.tick() if one.job == "backup"]
        assert (outcome.changed, outcome.failures) == (1, ())
        clock.advance(timedelta(days=1))

    made = sorted({one.name for one in shelf.iterdir()} - strangers)
    assert made == [f"remembrancer-202603{day:02}T120000Z.zip" for day in range(4, 11)]
    assert {one.name for one in shelf.iterdir()} - set(made) == strangers
    assert store.verify_backup(shelf / made[-1]).people == 1
    assert (shelf / made[-1]).stat().st_mode & 0o777 == 0o600


def test_progress_is_told(fresh: Fresh, open_at: OpenAt, tmp_path: Path) -> None:
    store = open_at(fresh("sqlite"))
    for user in ("ada", "grace"):
        store.for_user(user).remember(f"{user} lives in Bonn")
    told: list[tuple[int, int]] = []

    store.backup(tmp_path / "a.zip", progress=lambda done, total: told.append((done, total)))

    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
