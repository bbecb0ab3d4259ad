"""Jobs that are killed at any moment: nothing is lost, done twice or half done; another ends it.

`REM_LONG=1` kills fifty times and more instead of a few.
"""

from __future__ import annotations

import itertools
import os
import random
import secrets
import signal
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import create_engine, select, text
from sqlalchemy.pool import NullPool

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict
from remembrancer.ids import new_id
from remembrancer.maintenance.runner import LEASE_DURATION
from remembrancer.store import tables
from remembrancer.store.contract import AddLink, Embedding, Insert
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from remembrancer.types import (
    Action,
    Episode,
    Event,
    Fact,
    Link,
    Owner,
    Permanence,
    Record,
    Relation,
    Status,
)
from tests.support.processes import forked

LONG = bool(os.environ.get("REM_LONG"))
KILLS = 7 if LONG else 1
"""In each test."""

OTHERS = 12 if LONG else 5
PEOPLE = {"ada": 4500 if LONG else 1200} | {f"user-{n}": 100 for n in range(OTHERS)}
WINDOW_SECONDS = 2.0 if LONG else 0.2
JOBS = ("decay_sweep", "reembed", *(("episode_cleanup", "trash_purge") if LONG else ()))
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
LATER = LEASE_DURATION + timedelta(minutes=1)
RECALLS = 3
PATIENCE_SECONDS = 120
CHANGING = {"status", "retired_at"}

TOGETHER = timedelta(0)
PAIRS = [
    (job, apart)
    for job, apart in itertools.product(JOBS, (TOGETHER, LATER))
    if LONG or (job, apart) in (("decay_sweep", TOGETHER), ("reembed", LATER))
]
"""Two processes that start together, or one of which finds that the other's lease has run out."""

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Scene:
    """Where some people's memories are, and how they were before anything was done."""

    place: str
    tenant: str
    job: str
    due: frozenset[str]
    before: Rows

    @property
    def owners(self) -> list[Owner]:
        return [Owner(self.tenant, name) for name in PEOPLE]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of this test's own: jobs are for everyone in it."""
    if request.param == "sqlite":
        return str(tmp_path / "memory")
    name = f"killed_{secrets.token_hex(4)}"
    return str(request.getfixturevalue("postgres_server")(name))


both_engines = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)


@both_engines
@pytest.mark.parametrize("job", JOBS)
def test_a_job_that_is_killed_is_neither_half_done_nor_done_twice(
    place: str, tenant: str, job: str, running: list[BaseProcess]
) -> None:
    scene = filled(place, tenant, job)
    at, amid, chance = NOW, 0, random.Random()
    for _ in range(KILLS):
        process, pipe = started(running, scene, at, "forever")
        assert answer(pipe) == "ready"
        pipe.send("go")
        delay = chance.uniform(0, WINDOW_SECONDS)
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        amid += verified(scene, f"killed after {delay:.3f} s")
        at += LATER
        if done_in(scene, looked_at(scene)) == scene.due:
            scene = filled(place, f"{tenant}-{secrets.token_hex(4)}", job)

    left = len(scene.due) - len(done_in(scene, looked_at(scene)))
    with opened(scene, at) as store:
        assert store.run_job(job).changed == left
    rows = looked_at(scene)
    consistent(scene, rows)
    assert done_in(scene, rows) == scene.due
    print(f"{job}: {amid} of {KILLS} kills came when some of it was done")
    with opened(scene, at) as store:
        assert store.run_job(job).changed == 0
    assert looked_at(scene) == rows


@both_engines
def test_the_lease_of_who_was_killed_runs_out(
    place: str, tenant: str, running: list[BaseProcess]
) -> None:
    scene = filled(place, tenant, "decay_sweep")
    for _ in range(50):
        process, pipe = started(running, scene, NOW, "forever")
        assert answer(pipe) == "ready"
        pipe.send("go")
        time.sleep(random.uniform(0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        with opened(scene, NOW) as store:
            lease = store._store.system.get_lease("decay_sweep")
        if lease.holder is not None:
            break
    assert lease.held_until == NOW + LEASE_DURATION

    with opened(scene, NOW + LEASE_DURATION - timedelta(seconds=1)) as store:
        with pytest.raises(Conflict):
            store.run_job("decay_sweep")
        assert "decay_sweep" not in [one.job for one in store.tick()]
    verified(scene, "before the lease ran out")
    left = len(scene.due) - len(done_in(scene, looked_at(scene)))
    with opened(scene, NOW + LEASE_DURATION) as store:
        done = {one.job: one.changed for one in store.tick()}
        assert done["decay_sweep"] == left
    rows = looked_at(scene)
    consistent(scene, rows)
    assert done_in(scene, rows) == scene.due


@both_engines
@pytest.mark.parametrize(("job", "apart"), PAIRS)
def test_two_processes_never_do_the_same_work(
    place: str, tenant: str, job: str, apart: timedelta, running: list[BaseProcess]
) -> None:
    scene = filled(place, tenant, job)
    verb = "run_job" if apart else "tick"
    pipes = [started(running, scene, at, verb)[1] for at in (NOW, NOW + apart)]
    assert [answer(pipe) for pipe in pipes] == ["ready", "ready"]
    for pipe in pipes:
        pipe.send("go")
    answers = [answer(pipe) for pipe in pipes]
    assert all(isinstance(one, int) or one == "conflict" for one in answers), answers
    rows = looked_at(scene)
    consistent(scene, rows)
    assert done_in(scene, rows) == scene.due
    if "conflict" not in answers:
        assert sum(answers) == len(scene.due)


@both_engines
def test_when_it_is_over_the_rest_is_left_for_the_next_time(place: str, tenant: str) -> None:
    scene = filled(place, tenant, "decay_sweep")
    with opened(scene, NOW) as store:
        asked = iter([False])
        assert store.tick(lambda: next(asked, True)) == []
        assert store._store.system.get_lease("decay_sweep").holder is None
    halfway = done_in(scene, looked_at(scene))
    assert halfway
    assert halfway < scene.due
    with opened(scene, NOW) as store:
        done = {one.job: one.changed for one in store.tick()}
    assert done["decay_sweep"] == len(scene.due) - len(halfway)
    consistent(scene, looked_at(scene))


@both_engines
def test_a_backup_that_is_killed_is_whole_or_not_there(
    place: str, tenant: str, tmp_path: Path, running: list[BaseProcess]
) -> None:
    scene = filled(place, tenant, "decay_sweep")
    shelf, chance, amid = tmp_path / "backups", random.Random(), 0
    shelf.mkdir()
    for number in range(KILLS):
        process, pipe = started(running, scene, NOW, f"{shelf}/{number}-")
        assert answer(pipe) == "ready"
        pipe.send("go")
        time.sleep(chance.uniform(0, WINDOW_SECONDS))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        amid += any(one.suffix != ".zip" for one in shelf.iterdir())
        with opened(scene, NOW) as store:
            for one in shelf.glob("*.zip"):
                assert store.verify_backup(one).people >= len(PEOPLE)
                one.unlink()
    assert looked_at(scene) == scene.before
    print(f"{amid} of {KILLS} kills left something that nobody takes for a backup")
    with opened(scene, NOW) as store:
        assert store.verify_backup(store.backup(shelf / "last.zip").path).people >= len(PEOPLE)


# What the other process does.


def work(place: str, tenant: str, job: str, at: datetime, verb: str, pipe: Connection) -> None:
    """Open the store, say so, wait for the word, and do the job once or for ever."""
    scene = Scene(place, tenant, job, frozenset(), {})
    with opened(scene, at) as store:
        pipe.send("ready")
        pipe.recv()
        while verb == "forever":
            store.run_job(job)
        while "/" in verb:
            store.backup(f"{verb}{secrets.token_hex(4)}.zip")
        try:
            if verb == "tick":
                changed = sum(one.changed for one in store.tick() if one.job == job)
            else:
                changed = store.run_job(job).changed
            pipe.send(changed)
        except Conflict:
            pipe.send("conflict")


def started(
    running: list[BaseProcess], scene: Scene, at: datetime, verb: str
) -> tuple[BaseProcess, Connection]:
    ours, theirs = forked.Pipe()
    given = (scene.place, scene.tenant, scene.job, at, verb, theirs)
    process = forked.Process(target=work, args=given)
    process.start()
    theirs.close()
    running.append(process)
    return process, ours


def answer(pipe: Connection) -> Any:
    assert pipe.poll(PATIENCE_SECONDS), "the other process says nothing"
    return pipe.recv()


def settings_of(scene: Scene) -> Settings:
    url = scene.place.startswith("postgresql")
    where = {"url" if url else "path": scene.place, "pool_size": 2}
    return Settings.model_validate({"tenant": scene.tenant, "user": "ada", "store": where})


def opened(scene: Scene, at: datetime) -> Remembrancer:
    model = "new" if scene.job == "reembed" else "old"
    clock, settings = ManualClock(at), settings_of(scene)
    return Remembrancer(
        settings, open_store(settings, clock), FakeEmbedder(model, dimensions=64), clock
    )


# What there is to do.


def filled(place: str, tenant: str, job: str) -> Scene:
    """Two people with much for the job to do, and some memories that are none of its business."""
    scene = Scene(place, tenant, job, frozenset(), {})
    store = open_store(settings_of(scene), ManualClock(NOW))
    due: set[str] = set()
    for owner, count in zip(scene.owners, PEOPLE.values(), strict=True):
        records = [memory(job, number, number % 10 > 0) for number in range(count)]
        due |= {one.id for one in records if "due" in one.content or job == "reembed"}
        vectors = FakeEmbedder("old", dimensions=64).embed([one.search_text for one in records])
        inserts = [
            Insert(one, Embedding("old", vector))
            for one, vector in zip(records, vectors, strict=True)
        ]
        links = [
            AddLink(Link(one.id, other.id, Relation.RELATED_TO, NOW))
            for one, other in zip(records[::40], records[1::40], strict=True)
        ]
        event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
        with store.open_writer(owner) as writer:
            writer.apply(event, [*inserts, *links])
            writer.count_recalls({one.id: RECALLS for one in records}, NOW)
    store.close()
    scene = Scene(place, tenant, job, frozenset(due), {})
    return Scene(place, tenant, job, frozenset(due), looked_at(scene))


def memory(job: str, number: int, due: bool) -> Record:
    year_ago = NOW - timedelta(days=365)
    common: dict[str, Any] = {
        "content": f"{'due' if due else 'kept'} {number}",
        "importance": 5.0,
        "permanence": Permanence.PERMANENT,
        "valid_from": year_ago,
        "recorded_at": year_ago,
        "confirmed_at": year_ago,
    }
    if due and job == "decay_sweep" and number % 2:
        common["permanence"] = Permanence.EPHEMERAL
    elif due and job in ("decay_sweep", "episode_cleanup"):
        common |= {"expires_at": NOW - timedelta(days=1), "ttl_days": 364.0}
    elif due and job == "trash_purge":
        gone = NOW - timedelta(days=31)
        common |= {"status": Status.TRASHED, "retired_at": gone, "valid_until": gone}
    if job == "episode_cleanup":
        return Episode(id=new_id("episode", year_ago), **common)
    return Fact(id=new_id("fact", year_ago), category="fact", **common)


# What is there afterwards.


def verified(scene: Scene, when: str) -> bool:
    """Whether some, but not all, is done; fails if anything is not as it must be."""
    print(when)
    rows = looked_at(scene)
    consistent(scene, rows)
    return 0 < len(done_in(scene, rows)) < len(scene.due)


def looked_at(scene: Scene) -> Rows:
    """Every row of these people, as the database holds it at one moment."""
    found: Rows = defaultdict(list)
    if scene.place.startswith("postgresql"):
        address = scene.place.replace("postgresql://", "postgresql+psycopg://")
        wait_until_alone(address)
        read_into(found, address, scene.owners, isolation_level="REPEATABLE READ")
    else:
        for owner in scene.owners:
            path = Path(scene.place) / "people" / f"{owner.id}.db"
            intact(path)
            read_into(found, f"sqlite:///{path}", [owner])
        intact(Path(scene.place) / "system.db")
    return dict(found)


def read_into(found: Rows, address: str, owners: list[Owner], **options: Any) -> None:
    engine = create_engine(address, poolclass=NullPool, **options)
    with engine.connect() as connection:
        for table in tables.personal.sorted_tables:
            query = select(table).where(table.c.owner_id.in_([one.id for one in owners]))
            rows = connection.execute(query.order_by(*table.primary_key.columns)).mappings()
            found[table.name] += (
                {**row, "vector": tuple(row["vector"].tolist())} if "vector" in row else dict(row)
                for row in rows
            )
    engine.dispose()


def intact(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    engine.dispose()


def wait_until_alone(address: str) -> None:
    """The server takes a moment to notice that a client was killed."""
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    engine = create_engine(address, poolclass=NullPool)
    for _ in range(500):
        with engine.connect() as connection:
            if connection.execute(query).scalar_one() == 0:
                break
        time.sleep(0.02)
    else:
        pytest.fail("a connection of a killed process stays open")
    engine.dispose()


def done_in(scene: Scene, rows: Rows) -> frozenset[str]:
    """What the job has done of what there was to do."""
    if scene.job == "reembed":
        return frozenset(one["memory_id"] for one in rows["embeddings"] if one["model"] == "new")
    present = memories(rows)
    if scene.job == "trash_purge":
        return frozenset(memories(scene.before).keys() - present.keys())
    return frozenset(one for one, row in present.items() if row["status"] == Status.EXPIRED)


def memories(rows: Rows) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for table in ("facts", "episodes") for row in rows[table]}


def consistent(scene: Scene, rows: Rows) -> None:
    """Nothing is lost, nothing is done twice, nothing is half done."""
    done, present, before = done_in(scene, rows), memories(rows), memories(scene.before)
    assert done <= scene.due
    gone = done if scene.job == "trash_purge" else frozenset()
    assert present.keys() == before.keys() - gone
    for memory_id, row in present.items():
        same = row.keys() - (CHANGING if memory_id in done else set())
        assert all(row[name] == before[memory_id][name] for name in same)
        assert row["recall_count"] == RECALLS
    ended = done if scene.job in ("decay_sweep", "episode_cleanup") else frozenset()
    events_match(scene, rows, ended, gone)
    states_match(rows, ended)
    nothing_dangles(scene, rows, gone)
    vectors_match(scene, rows, gone)


def events_match(scene: Scene, rows: Rows, ended: frozenset[str], gone: frozenset[str]) -> None:
    """Each memory that was ended or destroyed has one change for it, which says what its row is."""
    events = {row["id"]: row for row in rows["events"]}
    known = {row["id"] for row in scene.before["events"]}
    changes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in rows["changes"]:
        numbers[row["event_id"]].append(row["number"])
        if row["event_id"] not in known:
            changes[row["memory_id"]].append(row)
    assert all(sorted(some) == list(range(len(some))) for some in numbers.values())
    assert numbers.keys() == events.keys(), "an event that did nothing, or one that is not there"
    assert changes.keys() == ended | gone
    assert all(len(some) == 1 for some in changes.values())
    for memory_id in gone:
        change = changes[memory_id][0]
        assert events[change["event_id"]]["action"] == Action.PURGED
        assert (change["before"], change["after"]) == (None, None)
    present = memories(rows)
    for memory_id in ended:
        change, row = changes[memory_id][0], present[memory_id]
        event = events[change["event_id"]]
        assert event["action"] == Action.EXPIRED
        assert row["retired_at"] == event["at"]
        assert change["after"] == {"status": "expired", "retired_at": event["at"].isoformat()}
        assert change["before"] == {"status": "active", "retired_at": None}


def states_match(rows: Rows, ended: frozenset[str]) -> None:
    states = {(row["memory_id"], row["number"]): row for row in rows["states"]}
    assert states.keys() == {(one, 0) for one in ended}
    present = memories(rows)
    for (memory_id, _), state in states.items():
        row = present[memory_id]
        assert (state["status"], state["valid_until"]) == (Status.ACTIVE, None)
        assert (state["since"], state["until"]) == (row["recorded_at"], row["retired_at"])


def nothing_dangles(scene: Scene, rows: Rows, gone: frozenset[str]) -> None:
    present = memories(rows).keys()
    assert {row["id"] for row in rows["documents"]} == present
    assert {row["memory_id"] for row in rows["embeddings"]} == present
    assert rows["links"] == [
        row for row in scene.before["links"] if not {row["source"], row["target"]} & gone
    ]
    removed = Counter(row["owner_id"] for row in scene.before["documents"] if row["id"] in gone)
    for owner in rows["owners"]:
        assert owner["documents_removed"] == removed[owner["owner_id"]]
        assert owner["documents_added"] == PEOPLE[owner["name"]]


def vectors_match(scene: Scene, rows: Rows, gone: frozenset[str]) -> None:
    """One vector of each model for a memory, numbered without a gap but for what was purged."""
    present = memories(rows)
    by_owner: dict[str, list[int]] = defaultdict(list)
    by_model: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows["embeddings"]:
        by_owner[row["owner_id"]].append(row["number"])
        by_model[row["model"]].append(row)
    for model, some in by_model.items():
        words = [present[row["memory_id"]]["content"] for row in some]
        stored = np.array([row["vector"] for row in some])
        assert np.allclose(stored, FakeEmbedder(model, dimensions=64).embed(words), atol=1e-6)
    pairs = Counter((row["memory_id"], row["model"]) for row in rows["embeddings"])
    assert set(pairs.values()) == {1}
    for owner in rows["owners"]:
        found = sorted(by_owner[owner["owner_id"]])
        dense = set(range(1, owner["vectors_added"] + 1))
        purged = {
            row["number"]
            for row in scene.before["embeddings"]
            if row["memory_id"] in gone and row["owner_id"] == owner["owner_id"]
        }
        assert found == sorted(dense - purged)
