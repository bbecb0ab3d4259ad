"""What HTTP costs: `python -m bench.load [--minutes 10]`.

Recalls by 16 clients at once, in the process and over REST on loopback, in turns on the same cores;
then minutes of mixed load (`bench.mixed_load`), with the memory and the handles of the server.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from statistics import median

import httpx

import remembrancer
from bench.mixed_load import CLIENTS, PEOPLE, WORDS, put_under_load
from remembrancer.config import Settings
from remembrancer.memory import Memory

MEMORIES = 2000
ROUNDS = 7
SECONDS = 6
ROOMY = {"requests_per_minute": 10_000_000, "burst": 1_000_000, "port": 8199}
REM = "from remembrancer.cli import main; main()"


def fill(me: Memory) -> None:
    """Some memories, no two alike."""
    chance = random.Random(1)
    for number in range(MEMORIES):
        some = " ".join(chance.sample(WORDS, 4))
        me.append([{"role": "user", "content": f"Note {number}: {some}."}], f"day {number % 50}")


def throughput(ask: Callable[[int, str], object]) -> float:
    """Recalls in a second, by all clients at once; each question is a new one, as in life."""
    until = time.monotonic() + SECONDS

    def work(number: int) -> int:
        chance = random.Random(time.monotonic_ns() + number)
        done = 0
        while time.monotonic() < until:
            ask(number, f"{' '.join(chance.sample(WORDS, 3))} {chance.randrange(10**6)}?")
            done += 1
        return done

    with ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(work, range(CLIENTS))) / SECONDS


def compared(place: str, settings: Settings) -> tuple[float, float]:
    """Medians of rounds in turns: in the process, and over REST by clients in another."""
    inside, outside = [], []
    for _ in range(ROUNDS):
        inside.append(in_the_process(place, settings))
        with served(place) as key:
            said = subprocess.run(
                [sys.executable, "-m", "bench.load", "--as-clients", key],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            outside.append(float(said))
    return median(inside), median(outside)


def in_the_process(place: str, settings: Settings) -> float:
    """Sixteen threads over one open store."""
    with remembrancer.open(place, settings=settings) as store:
        me = store.for_user("ada")
        me.recall("warm up")
        return throughput(lambda _, words: me.recall(words))


class served:  # noqa: N801 - used as a with statement
    """A `rem serve` process over a place, and a key to it."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> str:
        with remembrancer.open(self._place) as store:
            key = store.create_key("ada").secret
        settings = {f"REMEMBRANCER_SERVER__{k.upper()}": str(v) for k, v in ROOMY.items()}
        self.process = subprocess.Popen(
            [sys.executable, "-c", REM, "serve", "--store", self._place],
            env={**os.environ, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(200):
            try:
                if httpx.get(f"http://127.0.0.1:{ROOMY['port']}/readyz").is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        return key

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(60)


def as_clients(key: str) -> float:
    """Sixteen clients with a connection each, of the leanest kind: they share our cores."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    clients = [HTTPConnection("127.0.0.1", ROOMY["port"], timeout=60) for _ in range(CLIENTS)]

    def ask(number: int, words: str) -> None:
        clients[number].request("POST", "/api/recall", json.dumps({"query": words}), headers)
        answer = clients[number].getresponse()
        answer.read()
        assert answer.status == 200

    for number in range(CLIENTS):
        ask(number, "warm up")
    return throughput(ask)


def mixed(place: str, minutes: float) -> dict[str, object]:
    """Everything at once for a while, by clients of several people."""
    with remembrancer.open(place) as store:
        keys = [store.create_key(f"person {number}").secret for number in range(PEOPLE)]
    server = served(place)
    with server:
        address = f"http://127.0.0.1:{ROOMY['port']}"
        return put_under_load(address, keys, server.process.pid, minutes * 60).summary()


def main() -> None:
    """Measure, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="of mixed load afterwards")
    parser.add_argument("--as-clients", metavar="KEY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_clients:
        print(as_clients(options.as_clients))
        return
    with tempfile.TemporaryDirectory() as place:
        settings = Settings.model_validate({"user": "ada", "store": {"path": place}})
        with remembrancer.open(place, settings=settings) as store:
            fill(store.for_user("ada"))
        inside, outside = compared(place, settings)
        told: dict[str, object] = {
            "recalls a second in the process": round(inside, 1),
            "over REST": round(outside, 1),
            "ratio": round(outside / inside, 3),
        }
        if options.minutes:
            told["mixed"] = mixed(place, options.minutes)
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
