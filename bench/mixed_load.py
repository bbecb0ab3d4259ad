"""Everything at once over REST: what each client of a running server does, and what is watched.

`bench.load --minutes` and the load test use it. Sixteen clients, two for each of eight people, call
nine verbs in turn; meanwhile the memory and the handles of the server's process are sampled.
"""

from __future__ import annotations

import json
import random
import statistics
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

CLIENTS = 16
PEOPLE = 8
SAMPLE_SECONDS = 0.25
WORDS = "tea boat piano garden ticket winter bridge lantern harbour violin map orchard".split()
PLACES = "Bergen Lima Oslo Turin Porto Ghent Basel Cork Riga Split".split()


@dataclass(frozen=True)
class LoadReport:
    """What came back, how long it took, and what the server held meanwhile."""

    seconds: float
    failures: Counter[str] = field(default_factory=Counter)
    latencies: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    kilobytes: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return sum(map(len, self.latencies.values()))

    def tail(self, verb: str) -> float:
        """The 99th percentile of a verb, as a multiple of its median."""
        times = self.latencies[verb]
        return _percentile(times, 99) / statistics.median(times)

    def growth(self, samples: Sequence[int]) -> float:
        """The last third of the samples as a multiple of the second: the first is the warm-up."""
        third = max(1, len(samples) // 3)
        return statistics.median(samples[-third:]) / statistics.median(samples[third : 2 * third])

    def summary(self) -> dict[str, Any]:
        """The figures, for printing."""
        return {
            "requests": self.requests,
            "a second": round(self.requests / self.seconds, 1),
            "failures": dict(self.failures),
            "memory_mb": [round(one / 1024) for one in _ten_of(self.kilobytes)],
            "memory_growth": round(self.growth(self.kilobytes), 3),
            "handles": _ten_of(self.handles),
            "ms": {
                verb: {
                    "count": len(times),
                    "p50": round(1000 * statistics.median(times), 1),
                    "p99": round(1000 * _percentile(times, 99), 1),
                }
                for verb, times in sorted(self.latencies.items())
            },
        }


class LoadClient:
    """One client with a connection of its own, for one person."""

    def __init__(self, report: LoadReport, address: str, key: str, number: int) -> None:
        self._report = report
        self._number = number
        self._chance = random.Random(number)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._line = HTTPConnection(address.removeprefix("http://"), timeout=120)
        self._count = 0

    def warm_up(self) -> None:
        """Call everything once, unmeasured: the server loads its models and the person's store."""
        for call in self._round():
            call()
        self._line.close()  # until the others are ready, the server would have done so

    def work(self, until: float) -> None:
        """Call one verb after another until it is time, each client in an order of its own."""
        calls = list(self._round())
        while True:
            self._chance.shuffle(calls)
            for call in calls:
                if time.monotonic() >= until:
                    self._line.close()
                    return
                call()

    def _round(self) -> Iterator[Callable[[], object]]:
        yield self._remember_change_and_undo
        yield self._talk
        for _ in range(3):
            yield self._recall
            yield self._context
        yield self._list

    def _remember_change_and_undo(self) -> None:
        name = f"Note {self._number}-{self._next()}"
        kept = self._post("remember", "remember", {"content": f"{name}: {self._words(4)}."})
        if not kept:
            return
        id = kept["memory"]["id"]
        changed = self._call(
            "update", "PUT", f"/api/memory/facts/{id}", {"content": f"{name}: {self._words(5)}."}
        )
        if not changed:
            return
        current = changed["memory"]["id"]
        gone = self._call("forget", "POST", f"/api/memory/{current}/forget", {})
        if gone:
            self._post("undo", "undo", {"event": gone["event"]["id"]})

    def _talk(self) -> None:
        """A short conversation, of which the rules learn something."""
        session, place = f"talk-{self._number}-{self._next()}", self._chance.choice(PLACES)
        path, day = f"/api/sessions/{session}", self._count
        turns = [
            {"role": "user", "content": f"My friend {day} collects {self._words(1)}s."},
            {"role": "assistant", "content": f"What a nice thing: {self._words(3)}."},
        ]
        self._call("append", "POST", f"{path}/turns", {"turns": turns})
        said = [{"role": "user", "content": f"I was in {place} on day {day} with a map."}]
        self._post("learn", "learn", {"turns": said, "session": session})
        self._call("close", "POST", f"{path}/close", {})

    def _recall(self) -> None:
        query = f"{self._words(3)} {self._chance.randrange(999)}?"
        self._post("recall", "recall", {"query": query})

    def _context(self) -> None:
        self._post("context", "context", {"prompt": f"What about the {self._words(2)}?"})

    def _list(self) -> None:
        self._call("list", "GET", "/api/memory/facts?limit=50", None)

    def _words(self, count: int) -> str:
        return " ".join(self._chance.sample(WORDS, count))

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _post(self, verb: str, path: str, body: Any) -> Any:
        return self._call(verb, "POST", f"/api/{path}", body)

    def _call(self, verb: str, method: str, path: str, body: Any) -> Any:
        """The answer's body; None, and one more failure, if it is an error."""
        started = time.perf_counter()
        sent = None if body is None else json.dumps(body)
        self._line.request(method, path, sent, self._headers)
        answer = self._line.getresponse()
        told = answer.read()
        self._report.latencies[verb].append(time.perf_counter() - started)
        if answer.status >= 300:
            self._report.failures[f"{verb} {answer.status}"] += 1
            return None
        return json.loads(told) if told else {}


def put_under_load(address: str, keys: Sequence[str], process: int, seconds: float) -> LoadReport:
    """Let all clients work for a while; two for each key."""
    report = LoadReport(seconds)
    clients = [
        LoadClient(report, address, keys[number % len(keys)], number) for number in range(CLIENTS)
    ]
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(LoadClient.warm_up, clients))
    report.latencies.clear()
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=one.work, args=(until,)) for one in clients]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        report.kilobytes.append(_resident_kilobytes(process))
        report.handles.append(len(list(Path(f"/proc/{process}/fd").iterdir())))
        time.sleep(SAMPLE_SECONDS)
    for thread in threads:
        thread.join()
    return report


def _resident_kilobytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def _ten_of(samples: Sequence[int]) -> list[int]:
    return list(samples[:: max(1, len(samples) // 10)])
