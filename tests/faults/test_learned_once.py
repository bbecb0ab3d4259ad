"""Processes that learn from the same conversations and are killed: each thing is learned once.

`REM_LONG=1` kills sixty times on each engine instead of a few.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import secrets
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

import remembrancer
from remembrancer import config
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict
from remembrancer.learn.pipeline import BATCH_SIZE, LEASE_DURATION
from remembrancer.maintenance.runner import LEASE_DURATION as JOB_LEASE_DURATION
from remembrancer.testing import FakeEmbedder, ModelEndpoint, ScriptedReply, fails, says
from remembrancer.types import Action, Owner, Status
from tests.support.processes import forked

LONG = bool(os.environ.get("REM_LONG"))
KILLS = 60 if LONG else 6
KILLS_WITH_A_MODEL = 20 if LONG else 4
SESSIONS, SESSIONS_WITH_A_MODEL = 200 if LONG else 80, 30
PROCESSES = 2
WINDOW_SECONDS = 4.0 if LONG else 1.5
PATIENCE_SECONDS = 120
AHEAD = max(JOB_LEASE_DURATION, LEASE_DURATION) + timedelta(minutes=1)
LONG_TALK = 130
"""So many turns are learned in more than one stretch."""

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Scene:
    """Where someone's conversations are, and the model that reads them, if any."""

    place: str
    tenant: str
    user: str
    count: int
    model: str | None = None

    @property
    def sessions(self) -> list[str]:
        return [f"chat {number}" for number in range(self.count)]

    @property
    def settings(self) -> Settings:
        values: dict[str, Any] = {"tenant": self.tenant, "user": self.user}
        if self.model is not None:
            values["models"] = {"fast": {"url": self.model, "model": "scripted"}}
        return config.set_store_location(Settings.model_validate(values), self.place)

    def open(self, ahead: timedelta | None = None) -> Remembrancer:
        clock = ManualClock(datetime.now(UTC) + ahead) if ahead is not None else None
        embedder = FakeEmbedder()  # Facts that differ in a number only must not count as alike.
        return remembrancer.open(settings=self.settings, embedder=embedder, clock=clock)


def statement(number: int) -> str:
    return f"Remember that locker {number} holds the red bag {number * 7}."


def told(number: int) -> list[Any]:
    """A conversation in which one thing is said that is worth remembering."""
    length = LONG_TALK if number % 25 == 7 else 2 + number % 5
    at = (number * 37) % length
    turns = [{"role": "user", "content": "Hm, let me think."} for _ in range(length)]
    for position in range(1, length, 2):
        turns[position] = {"role": "assistant", "content": "Take your time."}
    turns[at] = {"role": "user", "content": statement(number)}
    return turns


def position_of(number: int) -> int:
    return [turn["content"] for turn in told(number)].index(statement(number))


def stretches(watermark: int) -> int:
    """In how many steps a conversation is learned up to there."""
    return -(-watermark // BATCH_SIZE)


@dataclass(frozen=True)
class Worker:
    """Another process, and the line to it: who loses that ends of itself."""

    process: BaseProcess
    pipe: Connection

    def kill(self) -> None:
        assert self.process.exitcode is None, f"it ended of itself: {self.process.exitcode}"
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


@pytest.fixture
def running() -> Iterator[list[Worker]]:
    """Processes that are ended, whatever happens."""
    workers: list[Worker] = []
    yield workers
    for one in workers:
        if one.process.is_alive():
            one.process.kill()
        one.process.join()
        one.pipe.close()


def filled(place: str, tenant: str, count: int, model: str | None = None) -> Scene:
    scene = Scene(place, tenant, f"ada-{secrets.token_hex(4)}", count, model)
    with scene.open() as store:
        me = store.for_user()
        for number, session in enumerate(scene.sessions):
            me.append(told(number), session)
    return scene


# What the other processes do.


def work(scene: Scene, pipe: Connection) -> None:
    """Close every conversation in an order of its own, and learn from them meanwhile."""
    chance = random.Random()
    with scene.open() as store:
        me = store.for_user()
        pipe.send("ready")
        pipe.recv()
        for session in chance.sample(scene.sessions, scene.count):
            me.close(session)
            if chance.random() < 0.02:
                learn(store, scene)
        store.flush()
        learn(store, scene)
        pipe.send("done")
        pipe.recv()


def learn(store: Remembrancer, scene: Scene) -> None:
    with contextlib.suppress(Conflict):  # Another process is at it, or was when it was killed.
        assert not store.run_job("learn", tenant=scene.tenant).failures


def started(running: list[Worker], scene: Scene) -> Worker:
    ours, theirs = forked.Pipe()
    process = forked.Process(target=work, args=(scene, theirs))
    process.start()
    theirs.close()
    running.append(Worker(process, ours))
    return running[-1]


def pair(running: list[Worker], scene: Scene) -> list[Worker]:
    """Two processes that have begun."""
    both = [started(running, scene) for _ in range(PROCESSES)]
    for one in both:
        assert one.pipe.poll(PATIENCE_SECONDS), "the other process says nothing"
        assert one.pipe.recv() == "ready"
    for one in both:
        one.pipe.send("go")
    return both


# What is there.


def looked_at(scene: Scene) -> Rows:
    """Every row of the person, as it is at one moment."""
    found: Rows = defaultdict(list)
    with scene.open() as store, store._store.dump(Owner(scene.tenant, scene.user)) as rows:
        for table, row in rows:
            found[table].append(dict(row))
    if not scene.place.startswith("postgresql"):
        owner = Owner(scene.tenant, scene.user)
        intact(Path(scene.place) / "people" / f"{owner.id}.db")
    return found


def intact(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    engine.dispose()


def consistent(scene: Scene) -> int:
    """How many conversations are learned from; nothing of any is half learned or learned twice."""
    rows = looked_at(scene)
    facts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for fact in rows["facts"]:
        facts[fact["session_id"]].append(fact)
    expected = done = 0
    for session in rows["sessions"]:
        number = int(session["id"].removeprefix("chat "))
        assert session["watermark"] <= len(told(number))
        assert len(facts[session["id"]]) == (session["watermark"] > position_of(number))
        expected += stretches(session["watermark"])
        done += session["watermark"] == len(told(number))
    assert len(rows["sessions"]) == scene.count
    each_fact_is_whole(rows)
    learned = [row for row in rows["events"] if row["action"] == Action.LEARNED]
    assert len(learned) == expected
    expression = re.compile(r"(?:(\d+) kept|nothing new)(?!.*(confirmed|rejected))")
    kept = [expression.match(row["note"]) for row in learned]
    assert None not in kept
    assert sum(int(one[1] or 0) for one in kept if one) == len(rows["facts"])
    return done


def each_fact_is_whole(rows: Rows) -> None:
    turns = {row["id"]: row for row in rows["turns"]}
    documents = Counter(row["id"] for row in rows["documents"])
    vectors = Counter(row["memory_id"] for row in rows["embeddings"])
    changes = Counter(row["memory_id"] for row in rows["changes"])
    for fact in rows["facts"]:
        assert fact["status"] == Status.ACTIVE
        assert fact["supersedes"] is None
        said = turns[fact["evidence"][0]["turn_id"]]
        assert said["session_id"] == fact["session_id"]
        number = re.findall(r"\d+", said["content"])
        assert re.findall(r"\d+", fact["content"]) == number
        made = (documents[fact["id"]], vectors[fact["id"]], changes[fact["id"]])
        assert made == (1, 1, 1)
    assert len({row["content"] for row in rows["facts"]}) == len(rows["facts"])
    happened = {row["id"] for row in rows["events"]}
    assert {row["event_id"] for row in rows["changes"]} <= happened


def all_learned(scene: Scene) -> None:
    """Everything is learned, once, by a process for which all leases have run out."""
    with scene.open(AHEAD) as store:
        me = store.for_user()
        for session in scene.sessions:
            me.close(session)
        store.flush()
        assert not store.run_job("learn", tenant=scene.tenant).failures
        for number, session in enumerate(scene.sessions):
            known = me.session(session)
            assert (known.watermark, known.due_at) == (len(told(number)), None)
            assert (known.attempts, known.failure, known.leased_until) == (0, None, None)
        assert me.audit().findings == ()
    assert consistent(scene) == scene.count
    before = looked_at(scene)
    with scene.open(2 * AHEAD) as store:
        for session in scene.sessions[:5]:
            store.for_user().close(session)
        store.flush()
        store.run_job("learn", tenant=scene.tenant)
    assert looked_at(scene)["facts"] == before["facts"]
    assert len(before["facts"]) == scene.count


# The tests.


def test_each_conversation_is_learned_from_once_whoever_is_killed(
    place: str, tenant: str, running: list[Worker]
) -> None:
    scene = filled(place, tenant, SESSIONS)
    chance, amid, done = random.Random(), 0, 0
    for _ in range(KILLS // PROCESSES):
        if done == scene.count:
            all_learned(scene)
            scene, done = filled(place, tenant, SESSIONS), 0
        for worker in pair(running, scene):
            time.sleep(chance.uniform(0, WINDOW_SECONDS / PROCESSES))
            worker.kill()
        before, done = done, consistent(scene)
        amid += PROCESSES if before < done < scene.count else 0
        print(f"{done} of {scene.count} are learned from")
    print(f"about {amid} of {KILLS} kills came when some were learned from")
    all_learned(scene)


def test_a_conversation_that_waits_for_a_model_is_learned_from_once_whoever_is_killed(
    place: str, tenant: str, running: list[Worker]
) -> None:
    asked, dead = threading.Event(), threading.Event()
    dead.set()

    def reads(request: dict[str, Any]) -> ScriptedReply:
        asked.set()
        dead.wait(PATIENCE_SECONDS)
        return reply_to(request)

    with ModelEndpoint(reads) as endpoint:
        scene = filled(place, tenant, SESSIONS_WITH_A_MODEL, endpoint.openai)
        chance, leased = random.Random(), 0
        for number in range(KILLS_WITH_A_MODEL // PROCESSES):
            asked.clear()
            if number % 2 == 0:
                dead.clear()  # At least now and then, someone is killed with a lease.
            both = pair(running, scene)
            assert asked.wait(PATIENCE_SECONDS)
            for worker in both:
                time.sleep(chance.uniform(0, 0.5))
                worker.kill()
            dead.set()
            consistent(scene)
            held = [row for row in looked_at(scene)["sessions"] if row["leased_until"]]
            assert held or number % 2
            leased += len(held)
        print(f"{leased} leases were left behind")
        all_learned(scene)


def reply_to(request: dict[str, Any]) -> ScriptedReply:
    """Extract the statement, as a model would."""
    shown = request["messages"][1]["content"].split("<conversation>")[-1]
    operations = [
        {
            "op": "add",
            "content": f"Locker {found[2]} holds the red bag {found[3]}",
            "quote": f"locker {found[2]} holds the red bag {found[3]}",
            "turns": [found[1]],
            "confidence": 0.9,
        }
        for found in re.finditer(
            r"\[(t\d+)\] person new: .*?locker (\d+) holds the red bag (\d+)", shown
        )
    ]
    return says({"operations": operations}, delay=0.02)


@pytest.mark.parametrize("late", ["an answer", "a failure", "nonsense"])
def test_who_was_too_slow_learns_nothing_and_spoils_nothing(
    place: str, tenant: str, late: str
) -> None:
    asked, speak = threading.Event(), threading.Event()
    replies: dict[str, Callable[[dict[str, Any]], ScriptedReply]] = {
        "an answer": reply_to,
        "a failure": lambda _: fails(401),
        "nonsense": lambda _: says("Sorry?"),
    }

    def slow(request: dict[str, Any]) -> ScriptedReply:
        asked.set()
        speak.wait(PATIENCE_SECONDS)
        return replies[late](request)

    with ModelEndpoint(slow) as sluggish, ModelEndpoint(reply_to) as brisk:
        scene = filled(place, tenant, 1, sluggish.openai)
        other = Scene(scene.place, scene.tenant, scene.user, 1, brisk.openai)
        with scene.open() as slower, other.open(AHEAD) as faster:
            slower.for_user().close("chat 0")
            assert asked.wait(PATIENCE_SECONDS)
            with other.open(timedelta(0)) as third:
                third.run_job("learn", tenant=tenant)
            assert not brisk.requests, "two ask about the same conversation"
            assert not faster.run_job("learn", tenant=tenant).failures
            assert consistent(other) == 1
            speak.set()
            slower.flush()
            assert consistent(other) == 1
            known = faster.for_user().session("chat 0")
            assert (known.due_at, known.leased_until) == (None, None)
            assert (known.attempts, known.failure) == (0, None)
