"""What learning costs whoever waits for a reply: `python -m bench.learning_cost`.

The same chat is held with three memories in turns: one that learns nothing, one that learns by
itself, and one that learns with a model. A reply is memory for the prompt and an answer that takes
a tenth of a second; learning starts when it is delivered. With `--pause 0` the next one is asked
for at once, while learning is at its busiest.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median, quantiles

import remembrancer
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.config import Settings
from remembrancer.memory import Memory
from remembrancer.types import Json

ANSWER_SECONDS = 0.1
TELLING = ("I live in {}.", "I'm allergic to {}.", "My sister is called {}.", "I prefer {}.")
THINGS = ("Oslo", "peanuts", "Ida", "tea", "Bergen", "soy", "Anna", "short answers")


class ScriptedModel(BaseHTTPRequestHandler):
    """A model that takes a third of a second to say that there is nothing to remember."""

    def do_POST(self) -> None:
        """Answer in the form of a chat completion."""
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.3)
        message = {"role": "assistant", "content": json.dumps({"operations": []})}
        body = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def model() -> Iterator[str]:
    """The address of a scripted model on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def settings(when: str, url: str | None) -> Settings:
    """A memory that learns after each reply, or never, with a model or without."""
    models: Json = {"fast": {"url": url, "model": "scripted"}} if url else {}
    adjust: Json = {"learning": {"when": when}}
    return Settings.model_validate(
        {"user": f"{when}-{bool(url)}", "profile_overrides": adjust, "models": models}
    )


def reply(me: Memory, words: str) -> float:
    """Seconds until a reply is there."""
    started = time.perf_counter()
    me.context(words)
    time.sleep(ANSWER_SECONDS)
    return time.perf_counter() - started


def hand_over(me: Memory, words: str) -> float:
    """Seconds until what was said is stored, to be learned from later."""
    started = time.perf_counter()
    me.learn(
        [{"role": "user", "content": words}, {"role": "assistant", "content": "I see."}], "chat"
    )
    return time.perf_counter() - started


def told(name: str, seconds: list[float], beside: list[float]) -> str:
    """One row: the median and the slow end, and each as a ratio to the first row."""
    p50, p95 = median(seconds), quantiles(seconds, n=20)[18]
    ratio50 = p50 / median(beside)
    ratio95 = p95 / quantiles(beside, n=20)[18]
    return f"{name:28}{1000 * p50:9.1f}{1000 * p95:9.1f}{ratio50:9.3f}{ratio95:9.3f}"


def main() -> None:
    """Hold the chats in turns and print how long the replies took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--replies", type=int, default=60)
    parser.add_argument("--pause", type=float, default=0.5, help="Seconds to read a reply.")
    given = parser.parse_args()
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        where = stack.enter_context(place(ENTRIES["ours"], given.engine, home))
        url = stack.enter_context(model())
        kinds = {
            "learns nothing": settings("never", None),
            "learns by itself": settings("after_reply", None),
            "learns with a model": settings("after_reply", url),
        }
        chats = {
            name: stack.enter_context(remembrancer.open(where, settings=one)).for_user()
            for name, one in kinds.items()
        }
        replies: dict[str, list[float]] = {name: [] for name in chats}
        stored: dict[str, list[float]] = {name: [] for name in chats}
        for number in range(given.replies + 3):
            words = TELLING[number % 4].format(THINGS[number % 8]) + f" That was number {number}."
            for name, me in chats.items():
                took = [hand_over(me, words)]
                time.sleep(given.pause)
                took.append(reply(me, "What do you know about me?"))
                if number >= 3:
                    stored[name].append(took[0])
                    replies[name].append(took[1])
                time.sleep(given.pause)
    print(f"{given.replies} replies each on {given.engine}, milliseconds")
    print(f"{'reply':28}{'p50':>9}{'p95':>9}{'× p50':>9}{'× p95':>9}")
    first = replies["learns nothing"]
    for name, seconds in replies.items():
        print(told(name, seconds, first))
    print("handing the turns over")
    first = stored["learns nothing"]
    for name, seconds in stored.items():
        print(told(name, seconds, first))


if __name__ == "__main__":
    main()
