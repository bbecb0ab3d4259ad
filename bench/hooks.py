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
from collections.abc import Callable, Mapping

from bench.startup import fill
from remembrancer import whereabouts
from remembrancer.embed.local import LocalEmbedder
from remembrancer.integrations import hook
from remembrancer.whereabouts import Whereabouts

REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]
BARE = (
    "import http.client as h; line = h.HTTPConnection('{host}', {port}); "
    "line.request('GET', '/healthz'); line.getresponse().read()"
)
PROMPT = "Which dish did I note down as number {}?"


def main() -> None:
    """Fill a store, time the hooks on it, and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=30)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fill(folder)
        without = whole(folder, options.rounds // 2, {})
        with_server(folder, options.rounds)
    print("\nWithout a server\n")
    show(without, "hook", ("rem --version", "rem list"))


def with_server(folder: str, rounds: int) -> None:
    """Serve the store, and time what a hook asks of it."""
    process = subprocess.Popen(
        [*REM, "--store", folder, "serve", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = found(folder)
        requests = timed(
            {"hook's request": asking(server), "round trip and embedding": bare(server)}, rounds
        )
        bare_process = [sys.executable, "-c", BARE.format(host=server.host, port=server.port)]
        processes = whole(folder, rounds, {"bare round trip": bare_process})
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    print("\nWith a server, the request alone\n")
    show(requests, "hook's request", ("round trip and embedding",))
    print("\nWith a server, whole processes\n")
    show(processes, "hook", ("bare round trip",))


def found(folder: str) -> Whereabouts:
    """The server, as soon as it is there."""
    file = whereabouts.file({"store": {"path": folder}})
    for _ in range(600):
        server = whereabouts.found(file)
        if server is not None:
            return server
        time.sleep(0.1)
    raise TimeoutError("the server does not start")


def asking(server: Whereabouts) -> Callable[[int], None]:
    """What a hook asks when a prompt is submitted, each time another."""

    def ask(turn: int) -> None:
        asked = {"prompt": PROMPT.format(turn), "style": "note", "budget": 600, "session": "bench"}
        hook.asked_of(server, None, asked)

    return ask


def bare(server: Whereabouts) -> Callable[[int], None]:
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


def timed(deeds: Mapping[str, Callable[[int], None]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each deed, one of each per round; the first round is for warmth."""
    times: dict[str, list[float]] = {name: [] for name in deeds}
    for turn in range(rounds + 1):
        for name, deed in deeds.items():
            started = time.perf_counter()
            deed(turn)
            if turn:
                times[name].append((time.perf_counter() - started) * 1000)
    return times


def whole(folder: str, rounds: int, others: Mapping[str, list[str]]) -> dict[str, list[float]]:
    """Milliseconds of a hook and of other commands, each as a process."""
    commands = {
        "hook": [*REM, "hook", "claude-code", "--store", folder, "--deadline", "60"],
        "rem --version": [*REM, "--version"],
        "rem list": [*REM, "--store", folder, "list"],
        **others,
    }

    def deed(command: list[str]) -> Callable[[int], None]:
        def run(turn: int) -> None:
            event = {"hook_event_name": "UserPromptSubmit", "session_id": "bench"}
            payload = json.dumps({**event, "prompt": PROMPT.format(turn)}).encode()
            done = subprocess.run(command, input=payload, check=True, capture_output=True)
            assert "hook" not in command or done.stdout, "nothing was told"

        return run

    return timed({name: deed(command) for name, command in commands.items()}, rounds)


def show(times: Mapping[str, list[float]], ours: str, others: tuple[str, ...]) -> None:
    """A Markdown table: the medians, and how many times the others our own takes."""
    print("| | median ms | ours takes |")
    print("|---|---|---|")
    own = statistics.median(times[ours])
    for name in (ours, *others):
        middle = statistics.median(times[name])
        print(f"| {name} | {middle:.1f} | {own / middle:.2f} × |")


if __name__ == "__main__":
    main()
