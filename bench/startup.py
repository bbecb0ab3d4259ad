"""How long it takes to be ready: `python -m bench.startup`, beside a peer in the same run.

Whole processes are timed in turns, so that whatever else the machine does hits all of them alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import remembrancer
from bench.peers import python_with
from remembrancer.config import Settings

MEMORIES = 1000


def main() -> None:
    """Time the commands and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--peer", type=Path, help="an interpreter that has mem0ai installed")
    options = arguments.parse_args()
    peer = options.peer or python_with("mem0ai")
    with tempfile.TemporaryDirectory() as folder:
        fill(folder)
        rem = [str(Path(sys.executable).with_name("rem")), "--store", folder]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import remembrancer": [sys.executable, "-c", "import remembrancer"],
            "import mem0": [str(peer), "-c", "import mem0"],
            "rem --help": [*rem, "--help"],
            f"rem recall, {MEMORIES} memories": [*rem, "recall", "what does she eat?"],
        }
        times = timed(commands, options.rounds)
    show(times)


def fill(folder: str) -> None:
    """A store of a thousand memories, none a restatement of another."""
    with remembrancer.open(folder, settings=Settings()) as store:
        me = store.for_user()
        for number in range(MEMORIES):
            me.remember(
                f"note {number} about dish {number * 7919 % 997}",
                subject="n",
                predicate=str(number),
            )


def timed(commands: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each command, one of each per round."""
    quiet = {**os.environ, "MEM0_TELEMETRY": "False"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=quiet)
            if turn:
                times[name].append((time.perf_counter() - started) * 1000)
    return times


def show(times: dict[str, list[float]]) -> None:
    """A Markdown table; what an import costs is the process less a bare interpreter."""
    bare = statistics.median(times["python -c pass"])
    peer = statistics.median(times["import mem0"])
    print("| command | median ms | of `import mem0` |")
    print("|---|---|---|")
    for name, values in times.items():
        middle = statistics.median(values)
        alone = name.startswith("import ")
        share = (middle - bare) / (peer - bare) if alone else middle / peer
        print(f"| `{name}` | {middle:.0f} | {share:.1%} |")


if __name__ == "__main__":
    main()
