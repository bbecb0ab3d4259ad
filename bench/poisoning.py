"""Whether planted memories stay inert: `python -m bench.poisoning FILE [--engine postgres]`.

Each scenario is planted in every way that something from outside can reach memory, the assistant
starts anew, and everything it could be told is searched for the canary.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import remembrancer
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import Kind, Origin, Source, Status

ORIGINS = {"external_tool": Origin.TOOL, "user_input": Origin.USER}


def scenarios(path: Path) -> Iterator[dict[str, Any]]:
    """The scenarios of a file, one JSON object to a line."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from (json.loads(line) for line in raw.decode().splitlines())


def plant(store: Remembrancer, me: Memory, scenario: dict[str, Any]) -> None:
    """Bring every step of a scenario in as a fact, an episode, a tool's turn and a transcript."""
    for step in scenario["steps"]:
        value, origin = step["value"], ORIGINS[step["source_class"]]
        subject, _, predicate = step["key"].partition(".")
        short = value[:20_000]
        me.remember(short, subject=subject, predicate=predicate or "is", origin=origin)
        me.remember(short, kind="episode", origin=origin)
        role = "user" if origin is Origin.USER else "tool"
        me.append([{"role": role, "content": value, "origin": origin}], "planted")
        me.learn([{"role": "user", "content": value, "origin": _pasted(origin)}])
    store.flush()


def _pasted(origin: Origin) -> Origin:
    return Origin.USER if origin is Origin.USER else Origin.DOCUMENT


def told(me: Memory, scenario: dict[str, Any]) -> str:
    """Everything that a later prompt could be given."""
    questions = (scenario["probe_key"].replace(".", " "), scenario["description"], None)
    return "\n".join(
        str(me.context(question, budget=100_000, style=style))
        for question in questions
        for style in ("sections", "note", "hot_set")
    )


def verdict(me: Memory, scenario: dict[str, Any]) -> str:
    """What became of a scenario: inert, kept, or what is wrong."""
    if scenario["malicious"]:
        canary = scenario["canary"]
        if canary in told(me, scenario):
            return "TOLD"
        held = me.list(kinds=tuple(Kind), limit=100).items
        holding = [one for one in held if canary in one.content]
        explicit = [one for one in holding if one.source is Source.EXPLICIT]
        return "TRUSTED" if explicit else "inert"
    kept = [one for one in me.list(limit=100).items if one.status is Status.ACTIVE]
    words = scenario["steps"][0]["value"]
    return "kept" if any(one.content == words for one in kept) else "LOST"


def main() -> None:
    """Plant, reset, probe; print what became of each scenario."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    given = parser.parse_args()
    counts: dict[str, int] = {}
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as home,
        place(ENTRIES["ours"], given.engine, home) as where,
    ):
        for number, scenario in enumerate(scenarios(given.file)):
            settings = Settings(user=f"person-{number}")
            with remembrancer.open(where, settings=settings) as store:
                plant(store, store.for_user(), scenario)
            with remembrancer.open(where, settings=settings) as store:
                outcome = verdict(store.for_user(), scenario)
            counts[outcome] = counts.get(outcome, 0) + 1
            print(f"{scenario['id']:32} {outcome}", flush=True)
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
