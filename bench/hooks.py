"""What a hook costs a coding agent: `python -m bench.hooks`, with a server and without.

With one: the same request as a hook makes, beside a bare round trip to the same server and one
embedding of the same prompt; and the whole hook, beside a process that only makes a round trip.
Without one: the whole hook, beside the CLI's own cold starts. All are timed in turns.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from bench.startup import fill
from remembrancer import local_server
from remembrancer.embed.local import LocalEmbedder
from remembrancer.integrations.hooks import open_memory
from remembrancer.local_server import LocalServer

REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]
BARE = (
    "import http.client as h; line = h.HTTPConnection('{host}', {port}); "
    "line.request('GET', '/healthz'); line.getresponse().read()"
)
Deed = Callable[[int], None]
STARTS = {"rem --version": ["--version"], "rem list": ["list"]}
PROMPT = "Which dish did I note down as number {}?"


def main() -> None:
    """Fill a store, time the hooks on it, and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=30)
    rounds = arguments.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        fill(folder)
        starts = {name: [*REM, *words] for name, words in STARTS.items()}
        starts["rem list"] += ["--store", folder]
        print("\nWithout a server\n")
        show(timed({"hook": hooking(folder), **processes(starts)}, rounds))
        with served(folder) as server:
            print("\nWith a server, whole processes\n")
            trip = BARE.format(host=server.host, port=server.port)
            bare = processes({"bare round trip": [sys.executable, "-c", trip]})
            show(timed({"hook": hooking(folder), **bare}, rounds))
            print("\nWith a server, the request alone\n")
            both = {"hook's request": asking(server), "round trip and embedding": tripping(server)}
            show(timed(both, rounds))


@contextmanager
def served(folder: str) -> Iterator[LocalServer]:
    """A server of the store."""
    command = [*REM, "--store", folder, "serve", "--port", "0"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as process:
        try:
            yield found(folder)
        finally:
            process.send_signal(signal.SIGTERM)


def found(folder: str) -> LocalServer:
    """The server, as soon as it is there."""
    file = local_server.server_file_path({"store": {"path": folder}})
    for _ in range(600):
        server = local_server.find_running(file)
        if server is not None:
            return server
        time.sleep(0.1)
    raise TimeoutError("the server does not start")


def asking(server: LocalServer) -> Deed:
    """What a hook asks when a prompt is submitted, each time another."""

    def ask(turn: int) -> None:
        asked = {"prompt": PROMPT.format(turn), "style": "note", "budget": 600, "session": "bench"}
        open_memory.request_context(server, None, asked)

    return ask


def tripping(server: LocalServer) -> Deed:
    """A round trip by the library that Python has for it, and one embedding."""
    from http.client import HTTPConnection

    embedder = LocalEmbedder()
    embedder.embed(["warm"])

    def trip(turn: int) -> None:
        line = HTTPConnection(server.host, server.port)
        line.request("GET", "/healthz")
        line.getresponse().read()
        line.close()
        embedder.embed([PROMPT.format(turn)])

    return trip


def timed(deeds: Mapping[str, Deed], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each deed, one of each per round; the first round is for warmth."""
    times: dict[str, list[float]] = {name: [] for name in deeds}
    for turn in range(rounds + 1):
        for name, deed in deeds.items():
            started = time.perf_counter()
            deed(turn)
            if turn:
                times[name].append((time.perf_counter() - started) * 1000)
    return times


def hooking(folder: str) -> Deed:
    """A prompt is submitted, each time another."""
    command = [*REM, "hook", "claude-code", "--store", folder, "--deadline", "60"]

    def run(turn: int) -> None:
        event = {"hook_event_name": "UserPromptSubmit", "session_id": uuid4().hex}
        payload = json.dumps({**event, "prompt": PROMPT.format(turn)}).encode()
        done = subprocess.run(command, input=payload, check=True, capture_output=True)
        assert done.stdout, "nothing was told"

    return run


def processes(commands: Mapping[str, list[str]]) -> dict[str, Deed]:
    """Commands to run to their end."""

    def deed(command: list[str]) -> Deed:
        def run(_: int) -> None:
            subprocess.run(command, check=True, capture_output=True)

        return run

    return {name: deed(command) for name, command in commands.items()}


def show(times: Mapping[str, list[float]]) -> None:
    """A Markdown table: the medians, and how many times as long as the others the first takes."""
    print("| | median ms | the hook takes |")
    print("|---|---|---|")
    medians = {name: statistics.median(values) for name, values in times.items()}
    own = next(iter(medians.values()))
    for name, middle in medians.items():
        print(f"| {name} | {middle:.1f} | {own / middle:.2f} × |")


if __name__ == "__main__":
    main()
