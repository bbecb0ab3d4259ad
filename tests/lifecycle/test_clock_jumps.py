"""A clock that jumps: whatever it does, an owner's changes stay in order and every reader agrees.

Every sequence of jumps and verbs is compared with a list of what was said last.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import AsOf, Record, Status
from tests.support import processes
from tests.support.opening import Open

pytestmark = pytest.mark.feature("X2")

SECOND, HOUR, YEAR = timedelta(seconds=1), timedelta(hours=1), timedelta(days=365)
JUMPS = [sign * by for by in (SECOND, HOUR, YEAR, 10 * YEAR) for sign in (1, -1)]
VERBS = ("tell", "update", "forget", "undo")
LONG = bool(os.environ.get("REM_LONG"))
TICK = timedelta(minutes=1)


@dataclass
class Books:
    """What the person said last about where they live, and what each undo leads back to."""

    memory: Memory
    clock: ManualClock
    here: list[str | None] = field(default_factory=lambda: [None])
    number: int = 0
    log: list[tuple[datetime, str | None]] = field(default_factory=list)

    @property
    def value(self) -> str | None:
        return self.here[-1]

    def do(self, verb: str) -> None:
        """Do it in the store and in the books, if it can be done."""
        self.clock.advance(TICK)
        self.number += 1
        city = f"City{self.number}"
        match verb:
            case "tell":
                self.memory.remember(f"Ada lives in {city}.", subject="user", predicate="lives_in")
                self.here.append(city)
            case "update" if self.value is not None:
                self.memory.update(self._fact().id, f"Ada lives in {city}.")
                self.here.append(city)
            case "forget" if self.value is not None:
                self.memory.forget(self._fact().id)
                self.here.append(None)
            case "undo" if len(self.here) > 1:
                self.memory.undo()
                self.here.pop()
            case _:
                return
        self.log.append((self.memory.activity(limit=1).items[0].at, self.value))

    def _fact(self) -> Record:
        found = self.memory.fact("user", "lives_in")
        assert found is not None
        return found


def test_after_jumps_there_and_back_every_reader_agrees(
    open_memory: Open, clock: ManualClock
) -> None:
    store = open_memory(profile_overrides={"decay": {"applies_to": "none"}})
    start = clock.now()
    for number, (jump, verbs) in enumerate(list_sequences()):
        clock.advance(start - clock.now())
        books = Books(store.for_user(f"person{number}"), clock)
        for step in verbs:
            clock.advance(-jump if step == "back" else jump if step == "jump" else timedelta())
            if step in VERBS:
                books.do(step)
            if step in ("jump", "back"):
                assert_readers_agree(books)
        assert_readers_agree(books)
        assert_moments_are_in_order(store, books.memory)
        assert_the_past_is_as_it_was(books)


def list_sequences() -> Iterator[tuple[timedelta, tuple[str, ...]]]:
    """Each jump with verbs before, during and after it; more of them in the long run."""
    pairs = list(itertools.product(VERBS, repeat=2))
    for number, jump in enumerate(JUMPS):
        for during, after in pairs if LONG else [pairs[5 * number % 16]]:
            sequences = (
                ("tell", "tell", "jump", during, "tell", "back", after, "tell", after),
                ("tell", "jump", during, during, "back", after, "undo", "jump", "tell"),
            )
            yield from ((jump, one) for one in (sequences if LONG else sequences[number % 2 :][:1]))


def assert_readers_agree(books: Books) -> None:
    me, now = books.memory, books.clock.now()
    expected = {f"Ada lives in {books.value}."} if books.value else set()
    fact = me.fact("user", "lives_in")
    assert ({fact.content} if fact else set()) == expected
    for moment in (None, now, AsOf(true=now), AsOf(known=now, true=now)):
        assert {one.content for one in me.list(as_of=moment).items} == expected
        then = me.fact("user", "lives_in", as_of=moment)
        assert ({then.content} if then else set()) == expected
    for moment in (None, AsOf(known=now, true=now)):
        assert {one.memory.content for one in me.recall("lives in", as_of=moment)} == expected
        assert all(one in me.context("Where do I live?", as_of=moment).text for one in expected)
    if fact is not None:
        versions = me.history(fact.id).versions
        assert [one.id for one in versions if one.status is Status.ACTIVE] == [fact.id]


def assert_the_past_is_as_it_was(books: Books) -> None:
    """As of each change, exactly what was in force after it."""
    for moment, value in books.log:
        found = [one.content for one in books.memory.list(as_of=AsOf(known=moment)).items]
        assert found == ([f"Ada lives in {value}."] if value else [])


def assert_moments_are_in_order(store: Remembrancer, me: Memory) -> None:
    events = list(reversed(me.activity(limit=200).items))
    assert [one.at for one in events] == sorted({one.at for one in events})
    records = {one.id: one for status in Status for one in me.list(status=status).items}
    for one in records.values():
        assert one.valid_until is None or one.valid_from <= one.valid_until
        assert one.retired_at is None or one.recorded_at <= one.retired_at
    held = sorted(
        (one.lineage, one.valid_from, one.valid_until)
        for one in records.values()
        if one.status in (Status.ACTIVE, Status.SUPERSEDED) and one.valid_until != one.valid_from
    )
    for (lineage, _, end), (next_lineage, start, _) in itertools.pairwise(held):
        if lineage == next_lineage:
            assert end is not None
            assert end <= start


def test_the_commands_go_on_where_a_wrong_clock_left_off(place: str, tmp_path: Path) -> None:
    ahead = ManualClock(datetime.now(UTC) + 10 * YEAR)
    settings = {"store": {"url" if place.startswith("postgresql") else "path": place}}
    person = f"ada-{secrets.token_hex(4)}"
    with remembrancer.open(place, settings=Settings.model_validate(settings), clock=ahead) as store:
        me = store.for_user(person)
        me.remember("Ada lives in Lima.", subject="user", predicate="lives_in")
        me.remember("Ada lives in Rome.", subject="user", predicate="lives_in")
        clerk = me.remember("Ada is a clerk.").memory

    def rem(*args: str) -> Any:
        args = (*args, "--store", place, "--user", person, "--json")
        done = processes.rem(*args, env=os.environ, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    rem("remember", "Ada lives in Bern.", "--subject", "user", "--predicate", "lives_in")
    assert {one["content"] for one in rem("list")["items"]} == {
        "Ada lives in Bern.",
        "Ada is a clerk.",
    }
    rem("update", clerk.id, "Ada is a baker.")
    rem("undo")
    rem("forget", clerk.id)
    for moment in ((), ("--as-of", f"{datetime.now(UTC) + HOUR:%Y-%m-%dT%H:%M:%SZ}")):
        assert [one["content"] for one in rem("list", *moment)["items"]] == ["Ada lives in Bern."]
    moments = [one["at"] for one in rem("activity")["items"]]
    assert moments == sorted(moments, reverse=True)
    assert rem("audit", "--kind", "misdated")["findings"] == []
    assert "ahead of the clock" in json.dumps(rem("doctor"))


def test_what_was_moved_here_from_a_machine_whose_clock_was_ahead_stays_in_order(
    open_memory: Open, clock: ManualClock, tmp_path: Path
) -> None:
    source = open_memory()
    settings = Settings(tenant=source.settings.tenant)
    clock.advance(10 * YEAR)
    books = Books(source.for_user("ada"), clock)
    books.do("tell")
    books.do("update")
    source.backup(tmp_path / "memory.zip")
    clock.advance(-10 * YEAR)
    with remembrancer.open(tmp_path / "moved", settings=settings, clock=clock) as store:
        store.restore_backup(tmp_path / "memory.zip")
        moved = Books(store.for_user("ada"), clock, books.here, books.number)
        for verb in ("update", "forget", "undo", "tell"):
            moved.do(verb)
            assert_readers_agree(moved)
        assert_moments_are_in_order(store, moved.memory)


def test_who_was_erased_while_the_clock_was_behind_is_not_restored(
    clock: ManualClock, tmp_path: Path
) -> None:
    with remembrancer.open(tmp_path / "memory", settings=Settings(), clock=clock) as store:
        store.for_user("ada").remember("Ada lives in Lima.")
        store.for_user("bob").remember("Bob lives in Rome.")
        store.tick()
        clock.advance(TICK)
        store.backup(tmp_path / "memory.zip")
        clock.advance(-YEAR)
        store.erase("ada")
        store.restore_backup(tmp_path / "memory.zip", replace=True)

        assert store.for_user("ada").list().items == ()
        assert len(store.for_user("bob").list().items) == 1
