"""How long pages take with few memories and with many: `python -m bench.pages [--engine postgres]`.

The memories are written straight into the store with made-up vectors; what is timed is a whole
request, from the session's cookie to the last byte of HTML. Few and many are two people's.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from fastapi.testclient import TestClient

import remembrancer
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.ids import new_id
from remembrancer.server.app import create_app
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.server.middleware.request_log import create_logger
from remembrancer.store.contract import Embedding, Insert
from remembrancer.types import Action, Event, Fact, Owner, Permanence

FEW, MANY = 1_000, 100_000
TIMES = 7
LATEST = 100
AT_ONCE = 2_000
AT_MOST = 5.0
PAGES = (
    "/memory",
    "/memory?q=tea",
    "/facts",
    "/facts?status=fading",
    "/playbook",
    "/episodes",
    "/agents",
    "/conversations",
    "/journal/memory",
    "/activity",
    "/trash",
)
SORTS = (Permanence.STABLE, Permanence.STANDARD, Permanence.VOLATILE)
DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class Timed:
    """How long a page took at the median, in milliseconds, with few memories and with many."""

    page: str
    few: float
    many: float

    @property
    def ratio(self) -> float:
        """How many times longer many take."""
        return self.many / self.few


def fill(store: Remembrancer, owner: Owner, count: int) -> None:
    """Write facts of the last months: many at once, but for the latest, which come one by one."""
    first = store.now() - timedelta(days=90)
    step = timedelta(days=90) / (count + 1)
    for start in range(0, count - LATEST, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, count - LATEST))
        _write(store, owner, [_fact(number, first + number * step) for number in numbers])
    for number in range(count - LATEST, count):
        _write(store, owner, [_fact(number, first + number * step)])


def _write(store: Remembrancer, owner: Owner, facts: list[Fact]) -> None:
    random = np.random.default_rng(7)
    at = facts[-1].recorded_at
    vectors = random.standard_normal((len(facts), DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = zip(facts, vectors, strict=True)
    writes = [Insert(fact, Embedding(store.embedding_model, vector)) for fact, vector in made]
    with store._store.open_writer(owner) as writer:
        writer.apply(Event(id=new_id("event", at), at=at, action=Action.REMEMBERED), writes)


def _fact(number: int, at: datetime) -> Fact:
    return Fact(
        id=new_id("fact", at),
        content=f"Ada noted number {number}, and tea came with it.",
        category="fact",
        subject=f"note {number}",
        predicate="says",
        importance=5,
        confidence=0.6 + number % 5 / 10,
        permanence=SORTS[number % 3],
        valid_from=at,
        recorded_at=at,
        confirmed_at=at,
    )


def timed(place: str, user: str, count: int) -> dict[str, float]:
    """The median time of each page with so many memories."""
    with remembrancer.open(place, settings=Settings(user=user)) as store:
        owner = Owner(store.settings.tenant, user)
        fill(store, owner, count)
        session = store.create_session(owner, (), hours=1)
        client = TestClient(
            create_app(store, log=create_logger(io.StringIO())), base_url="http://localhost"
        )
        client.cookies.set(SESSION_COOKIE, session.secret)
        _wait_until_counted(client)
        return {page: _median(client, page) for page in PAGES}


def _wait_until_counted(client: TestClient) -> None:
    """The first count goes on behind the page, which says so; what is timed is what comes after."""
    started = time.perf_counter()
    while "data-counting" in client.get("/memory", headers={"Accept": "text/html"}).text:
        time.sleep(0.2)
    print(f"counted for the first time in {time.perf_counter() - started:.1f} s", flush=True)


def _median(client: TestClient, page: str) -> float:
    times = []
    for _ in range(TIMES + 1):
        started = time.perf_counter()
        answer = client.get(page, headers={"Accept": "text/html"})
        times.append(1000 * (time.perf_counter() - started))
        assert answer.status_code == 200, answer.text
    return statistics.median(times[1:])


def main() -> None:
    """Print the times, and fail if many memories take too much longer than few."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    engine = parser.parse_args().engine
    with tempfile.TemporaryDirectory() as home, place(ENTRIES["ours"], engine, home) as where:
        few, many = timed(where, "ada", FEW), timed(where, "bob", MANY)
    rows = [Timed(page, few[page], many[page]) for page in PAGES]
    for row in rows:
        print(f"{row.page:24} {row.few:8.1f} ms {row.many:8.1f} ms  × {row.ratio:.1f}")
    sys.exit(any(row.ratio > AT_MOST for row in rows))


if __name__ == "__main__":
    main()
