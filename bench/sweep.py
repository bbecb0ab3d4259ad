"""How long the decay sweep takes beside reading everything once: `python -m bench.sweep`."""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime, timedelta

from bench.growth import seconds
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.factory import open
from remembrancer.ids import new_id
from remembrancer.store.contract import Filter, Insert, Store
from remembrancer.store.nearest import iter_records
from remembrancer.types import Action, Event, Fact, Kind, Owner, Permanence

OWNER = Owner("home", "bench")
START = datetime(2026, 3, 2, tzinfo=UTC)


def main() -> None:
    """Fill a store with facts, read them, and sweep them before and after their time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    options = parser.parse_args()
    clock = ManualClock(START)
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as home,
        place(ENTRIES["ours"], options.engine, home) as where,
        open(where, settings=Settings(), clock=clock) as engine,
    ):
        fill(engine._store, options.facts)
        reading = min(seconds(read, engine._store, clock.now()) for _ in range(3))
        print(f"{options.facts} facts on {options.engine}")
        print(f"reading them once        {reading:6.2f} s")
        told("a sweep that ends none", engine, reading)
        clock.advance(timedelta(days=90))
        told("a sweep that ends all", engine, reading)


def told(what: str, engine: Remembrancer, reading: float) -> None:
    """Sweep once, and say how long it took."""
    started = time.perf_counter()
    outcome = engine.run_job("decay_sweep")
    took = time.perf_counter() - started
    print(f"{what:24s} {took:6.2f} s, {took / reading:.2f} of reading, {outcome.changed} ended")


def fill(store: Store, facts: int) -> None:
    """Facts that nobody will believe after a month."""
    for start in range(0, facts, 5000):
        event = Event(id=new_id("event", START), at=START, action=Action.REMEMBERED)
        with store.open_writer(OWNER) as writer:
            writer.apply(event, [Insert(_fact(start + number), None) for number in range(5000)])


def read(store: Store, now: datetime) -> None:
    """Every fact, as a listing reads them."""
    wanted = Filter(now=now, kinds=(Kind.FACT,))
    with store.open_reader(OWNER) as reader:
        for _ in iter_records(reader, wanted):
            pass


def _fact(number: int) -> Fact:
    at = START - timedelta(milliseconds=number + 1)
    return Fact(
        id=new_id("fact", at),
        content=f"Statement number {number} about something that will not matter for long.",
        importance=5,
        permanence=Permanence.EPHEMERAL,
        valid_from=at,
        recorded_at=at,
        confirmed_at=at,
        category="fact",
    )


if __name__ == "__main__":
    main()
