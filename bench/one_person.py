"""One person with very many turns: `python -m bench.one_person 10000 1000000`, as JSON.

The turns are appended through the library, a thousand to a conversation, with vectors that were
drawn at random once per sentence: what is timed is the store and the search, without a model. Each
size has a process of its own, and the ratios are to the first size.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import remembrancer
from bench.growth import peak, percentile, resident, seconds
from bench.made_up import conversations, questions, sentences
from remembrancer.config import Settings
from remembrancer.memory import Memory

DIMENSIONS = 256
SESSION_TURNS = 1000
REPEATS = 30
BRIEFLY = 5
"""How often the slow verbs are timed."""


class DrawnVectors:
    """An embedder that gives each text a vector by chance, always the same."""

    model, dimensions = "drawn", DIMENSIONS

    def __init__(self) -> None:
        drawn = np.random.default_rng(1).standard_normal((4096, DIMENSIONS), dtype=np.float32)
        self._drawn: NDArray[np.float32] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._drawn[[hash(text) % len(self._drawn) for text in texts]]


def fill(me: Memory, turns: int) -> float:
    """Append so many turns; returns the turns a second."""
    started, said, session = time.perf_counter(), [], count()
    for conversation in conversations(turns):
        said += conversation
        if len(said) >= SESSION_TURNS:
            me.append(said, session=f"talk {next(session)}")
            said = []
    if said:
        me.append(said, session=f"talk {next(session)}")
    return turns / (time.perf_counter() - started)


def measure(place: str, turns: int) -> dict[str, Any]:
    """Fill a new store, open it again as another start would, and time the verbs."""
    settings = Settings()
    with remembrancer.open(place, settings=settings, embedder=DrawnVectors()) as store:
        speed = fill(store.for_user("bench"), turns)
    with remembrancer.open(place, settings=settings, embedder=DrawnVectors()) as store:
        me = store.for_user("bench")
        first = 1000 * seconds(me.recall, "What did Noor say about the ferry?")
        return {
            "turns": turns,
            "append_turns_a_second": speed,
            "disk_mb": sum(one.stat().st_size for one in Path(place).rglob("*") if one.is_file())
            / 1e6,
            "memory_mb": {"after_first_recall": resident(), "peak": peak()},
            "ms": {
                "first_recall": first,
                "recall": _median(me.recall, questions(REPEATS)),
                "context": _median(me.context, questions(REPEATS, seed=5)),
                "append": _median(lambda text: _append(me, text), sentences(seed=7)[:REPEATS]),
                "remember": _median(me.remember, sentences(seed=8)[:REPEATS]),
                "delete_session": _median(
                    lambda number: me.delete_session(f"talk {number}"), range(BRIEFLY)
                ),
                "export": 1000 * seconds(lambda: sum(1 for _ in store.export("bench"))),
            },
            "peak_mb": peak(),
        }


def _append(me: Memory, text: str) -> None:
    me.append([{"role": "user", "content": text}], session="talk now")


def _median(work: Callable[[Any], object], values: Sequence[Any]) -> float:
    return percentile([seconds(work, value) for value in values], 50)


def main() -> None:
    """Measure each size in a process of its own, and compare it with the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="+")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        with tempfile.TemporaryDirectory() as place:
            print(json.dumps(measure(place, options.turns[0])))
        return
    found = [_in_a_process(turns) for turns in options.turns]
    for one in found[1:]:
        one["times_the_first"] = {
            verb: round(one["ms"][verb] / found[0]["ms"][verb], 1) for verb in one["ms"]
        }
    print(json.dumps(found, indent=1, default=float))


def _in_a_process(turns: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.one_person", "--here", str(turns)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured: dict[str, Any] = json.loads(said)
    return measured


if __name__ == "__main__":
    main()
