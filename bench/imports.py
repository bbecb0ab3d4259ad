"""How fast a long history comes in, and that a kill costs nothing: `python -m bench.imports`.

A made-up ChatGPT export of 10,000 turns is brought in by a process of its own, with the real model,
which is killed with SIGKILL when it has come a random way, again and again; the last one is left
alone. Then every turn must be there once and in order. The CPU time of these processes, from start
to end, is compared with that of embedding the same texts and doing nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import remembrancer
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.config import Settings
from remembrancer.embed.local import LocalEmbedder
from remembrancer.memory import Memory
from remembrancer.search.sentences import split_into_units

THINGS = "garden kettle train sister violin river ladder winter letter harbour".split()
TALK = 40
"""How many turns a conversation has."""


def words(number: int) -> str:
    """What is said in a turn: two sentences that no other turn has."""
    one, other = THINGS[number % 10], THINGS[number // 10 % 10]
    first = f"The {one} came before the {other} at number {number}."
    return f"{first} We spoke of it on day {number % 365}."


def export(turns: int) -> list[object]:
    """A ChatGPT export with so many turns."""
    return [_conversation(start, min(TALK, turns - start)) for start in range(0, turns, TALK)]


def _conversation(start: int, count: int) -> dict[str, object]:
    nodes: dict[str, object] = {}
    for turn in range(start, start + count):
        role = "assistant" if turn % 2 else "user"
        message = {
            "author": {"role": role},
            "create_time": 1_700_000_000 + 60 * turn,
            "content": {"content_type": "text", "parts": [words(turn)]},
            "recipient": "all",
        }
        parent = f"m{turn - 1}" if turn > start else None
        nodes[f"m{turn}"] = {"message": message, "parent": parent}
    return {
        "conversation_id": f"c{start}",
        "title": f"Talk {start}",
        "current_node": f"m{start + count - 1}",
        "mapping": nodes,
    }


def bring_in(where: str, file: str) -> None:
    """The process that may be killed: tells how far it is on stdout, a number on each line."""
    with remembrancer.open(where, settings=Settings(user="bench")) as store:
        store.for_user().import_from(
            file, learn=False, progress=lambda done, _: print(done, flush=True)
        )


def run(where: str, file: Path, until: int | None) -> int:
    """How far a process told to be; it is killed as soon as it is so far."""
    told = 0
    command = [sys.executable, "-m", "bench.imports", "--worker", where, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told = int(line)
            if until is not None and told >= until:
                os.kill(process.pid, signal.SIGKILL)
                break
    if until is None and process.returncode:
        raise SystemExit("The import failed.")
    return told


def check(me: Memory, turns: int) -> None:
    """Every turn is there once, in order."""
    found: list[str] = []
    cursor = None
    while True:
        page = me.sessions(limit=1000, cursor=cursor)
        for session in page.items:
            said = me.turns(session.id)
            assert [one.position for one in said] == [*range(len(said))], session.id
            found += [one.content for one in said]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(found) == sorted(map(words, range(turns))), "something is missing or twice there"


def embedding_alone(turns: int) -> float:
    """CPU seconds to embed what an import of so many turns embeds."""
    texts = [
        unit.text
        for number in range(turns)
        for unit in split_into_units(words(number), words(number), by_sentence=number % 2 == 0)
    ]
    embedder = LocalEmbedder()
    embedder.embed(texts[:10])
    started = time.process_time()
    embedder.embed(texts)
    return time.process_time() - started


def children() -> float:
    """CPU seconds of the processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main() -> None:
    """Bring it in, kill it, go on, check it, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        bring_in(*given.worker)
        return
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        where = str(stack.enter_context(place(ENTRIES["ours"], given.engine, home)))
        file = Path(home) / "conversations.json"
        file.write_text(json.dumps(export(given.turns)), encoding="utf-8")
        bare = embedding_alone(given.turns)
        chance, reached, before, started = random.Random(), 0, children(), time.perf_counter()
        for number in range(given.kills):
            least = min(reached, given.turns - 1)
            reached = run(where, file, chance.randrange(least, given.turns))
            print(f"kill {number + 1}: at {reached:,} of {given.turns:,} turns", flush=True)
        run(where, file, None)
        took, waited = children() - before, time.perf_counter() - started
        with remembrancer.open(where, settings=Settings(user="bench")) as store:
            me = store.for_user()
            check(me, given.turns)
            started = time.process_time()
            again = me.import_from(file, learn=False)
            assert (again.turns, again.present) == (0, given.turns)
            known = time.process_time() - started
    print(f"{given.turns:,} turns on {given.engine}, killed {given.kills} times, each there once")
    print(f"embedding alone {bare:8.1f} s of CPU")
    print(f"import          {took:8.1f} s of CPU, {took / bare:.2f} × embedding alone")
    print(f"                {waited:8.1f} s by the clock")
    print(f"import again    {known:8.1f} s of CPU, nothing new")


if __name__ == "__main__":
    main()
