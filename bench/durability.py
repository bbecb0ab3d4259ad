"""What it costs to sync each acknowledged write on SQLite, and what shared syncs give back.

    python -m bench.durability [calls|loads]

The ways take turns, call by call, or run by run, of which the best counts. A sync takes nothing,
2 ms or 8 ms on top of what the disk needs for it, which is nothing in /dev/shm.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from remembrancer.clock import SystemClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.sessions.turns import TurnInput
from remembrancer.store import commit_groups
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from tests.support.fault_vfs import FaultVfs

WAYS = ("normal", "full", "full, shared")
SYNC_SECONDS = (0.0, 0.002, 0.008)
THREADS = (1, 4, 16)
WRITES = 192
CALLS = 150
IMPORTS = 5
IMPORTED_TURNS = 2000
MAX_WRITERS = commit_groups.MAX_WRITERS


@dataclass(frozen=True, slots=True)
class Load:
    """What threads that write to one person reached."""

    writes_per_second: float
    median_ms: float
    slow_ms: float
    syncs: int


@contextlib.contextmanager
def watched(directory: str | None) -> Iterator[FaultVfs]:
    with tempfile.TemporaryDirectory(dir=directory) as place, FaultVfs(Path(place)) as vfs:
        yield vfs


@contextlib.contextmanager
def opened(vfs: FaultVfs, durability: str) -> Iterator[Remembrancer]:
    where = {"path": str(vfs.directory / durability), "durability": durability}
    settings = Settings.model_validate({"user": "ada", "store": where})
    clock = SystemClock()
    with Remembrancer(settings, open_store(settings, clock), FakeEmbedder(), clock) as store:
        store.for_user().remember("Ada keeps bees")
        yield store


def measure_load(way: str, threads: int, sync_seconds: float, directory: str | None) -> Load:
    numbers, seconds = itertools.count(), list[float]()
    commit_groups.MAX_WRITERS = MAX_WRITERS if way == "full, shared" else 1
    durability = "normal" if way == "normal" else "full"
    with watched(directory) as vfs, opened(vfs, durability) as store:
        me = store.for_user()
        vfs.sync_seconds = sync_seconds

        def work() -> None:
            while (number := next(numbers)) < WRITES:
                begun = time.perf_counter()
                me.remember(f"Ada owns the item {number * 7919 % 10007} of shelf {number}")
                seconds.append(time.perf_counter() - begun)

        running = [threading.Thread(target=work) for _ in range(threads)]
        before, begun = vfs.syncs, time.perf_counter()
        for one in running:
            one.start()
        for one in running:
            one.join()
        took, syncs = time.perf_counter() - begun, vfs.syncs - before
        vfs.sync_seconds = 0
    seconds.sort()
    slow = seconds[len(seconds) * 95 // 100]
    return Load(WRITES / took, statistics.median(seconds) * 1000, slow * 1000, syncs)


def remember(store: Remembrancer, number: int) -> None:
    store.for_user().remember(f"Ada owns the item {number * 7919 % 10007} of shelf {number}")


def append(store: Remembrancer, number: int) -> None:
    turn: TurnInput = {"role": "user", "content": f"I saw bird {number} in the park"}
    store.for_user().append([turn], "walk")


def recall(store: Remembrancer, number: int) -> None:
    store.for_user().recall(f"Does Ada keep bees {number}?")


def import_turns(store: Remembrancer, number: int) -> None:
    talk = "".join(
        f'{{"role": "user", "content": "I saw bird {number}-{one} in the park"}}\n'
        for one in range(IMPORTED_TURNS)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(talk)
        file.flush()
        store.for_user().import_from(file.name)


CALLS_OF: dict[str, tuple[Callable[[Remembrancer, int], None], int]] = {
    "remember": (remember, CALLS),
    "append": (append, CALLS),
    "recall": (recall, CALLS),
    f"import of {IMPORTED_TURNS} turns": (import_turns, IMPORTS),
}


def compare_calls(name: str, sync_seconds: float, directory: str | None) -> tuple[float, float]:
    """Milliseconds of a call without and with syncs, which take turns call by call.

    It is the lower quartile: what the call takes when other programs leave the machine alone.
    """
    call, calls = CALLS_OF[name]
    with watched(directory) as vfs, opened(vfs, "normal") as normal, opened(vfs, "full") as full:
        vfs.sync_seconds = sync_seconds
        seconds: dict[Remembrancer, list[float]] = {normal: [], full: []}
        for number in range(calls):
            for store in (normal, full) if number % 2 else (full, normal):
                begun = time.perf_counter()
                call(store, number)
                seconds[store].append(time.perf_counter() - begun)
        vfs.sync_seconds = 0
    return lower_quartile(seconds[normal]), lower_quartile(seconds[full])


def lower_quartile(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=4)[0] * 1000


def report_calls(directory: str | None) -> None:
    print("ms of a call: normal, full, full / normal, full - normal\n")
    for name, sync_seconds in itertools.product(CALLS_OF, SYNC_SECONDS):
        normal, full = compare_calls(name, sync_seconds, directory)
        where = f"{name:22} sync + {sync_seconds * 1000:.0f} ms"
        figures = f"{normal:9.2f} {full:9.2f} {full / normal:6.2f} {full - normal:8.2f}"
        print(where, figures, flush=True)


def report_loads(rounds: int, directory: str | None) -> None:
    print("\nwrites per second, ms of a write (median, 95 %), syncs\n")
    for sync_seconds, threads in itertools.product(SYNC_SECONDS, THREADS):
        found: dict[str, list[Load]] = {way: [] for way in WAYS}
        for _, way in itertools.product(range(rounds), WAYS):
            found[way].append(measure_load(way, threads, sync_seconds, directory))
        for way, loads in found.items():
            one = max(loads, key=lambda load: load.writes_per_second)
            where = f"sync + {sync_seconds * 1000:.0f} ms {threads:3} threads  {way:13}"
            times = f"{one.writes_per_second:8.1f} {one.median_ms:8.1f} {one.slow_ms:8.1f}"
            print(where, times, f"{one.syncs:6}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("calls", "loads"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default="/dev/shm" if Path("/dev/shm").exists() else None)
    given = parser.parse_args()
    if given.part != "loads":
        report_calls(given.directory)
    if given.part != "calls":
        report_loads(given.rounds, given.directory)


if __name__ == "__main__":
    main()
