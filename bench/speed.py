"""How fast systems are, and how we grow: `python -m bench speed`."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import crowd, machine, speed_report
from bench.data import History, Question, Session, Turn
from bench.made_up import conversations, questions
from bench.measure import Run, measure, milliseconds
from bench.peers import NotInstalled
from bench.processes import Failed, place
from bench.retrieval import entries
from bench.systems import ENTRIES, Entry

Json = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=_numbers, default=[1000, 10_000, 100_000])
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--systems",
        type=entries,
        default=[ENTRIES[name] for name in PEERS],
        help=f"compared at --peer-size turns; of {', '.join(ENTRIES)}",
    )
    parser.add_argument("--peer-size", type=int, default=1000, help="turns that peers are given")
    parser.add_argument(
        "--others", type=int, default=1_000_000, help="rows of other owners, on PostgreSQL"
    )
    parser.add_argument("--json", type=Path, metavar="OUT")


PEERS = ("ours", "dense", "langgraph", "mem0", "mcp-memory-service", "mempalace")


def run(options: argparse.Namespace) -> None:
    """Measure, then print the tables, or write them beside the JSON."""
    outcome: Json = {
        "command": "python -m bench " + shlex.join(sys.argv[1:]),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine.facts(),
        "engine": options.engine,
        "growth": _growth(options),
        "systems": {
            entry.name: _compared(entry, options.peer_size, options.engine)
            for entry in options.systems
        },
    }
    if options.json is None:
        print(speed_report.report(outcome))
        return
    options.json.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    options.json.with_suffix(".md").write_text(speed_report.report(outcome), encoding="utf-8")
    options.json.with_suffix(".svg").write_text(speed_report.plot(outcome), encoding="utf-8")


def _growth(options: argparse.Namespace) -> dict[str, Json]:
    """One store that grows from size to size, measured at each in a fresh process."""
    found: dict[str, Json] = {}
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as home,
        place(ENTRIES["ours"], options.engine, home) as store,
    ):
        if options.engine == "postgres" and options.others:
            _say(f"filling in {options.others} rows of others")
            crowd.fill(store, options.others)
        held = 0
        for size in sorted(options.sizes):
            _say(f"growing to {size} turns")
            _child("fill", store, size - held)
            held = size
            found[str(size)] = json.loads(_child("measure", store, size))
            held += 400  # what measuring the ingestion adds
    return found


def _child(what: str, place: str, turns: int) -> str:
    command = [sys.executable, "-m", "bench.growth", what, place, str(turns)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _compared(entry: Entry, size: int, engine: str) -> Json:
    _say(f"{entry.name} with {size} turns")
    try:
        run = measure(entry, [_history(size)], engine)
    except (Failed, NotInstalled) as error:
        return {"error": str(error)}
    return _figures(run)


def _figures(run: Run) -> Json:
    takes = [answer.seconds for answer in run.answers]
    return {
        "ms": {
            "p50": milliseconds(takes, 50),
            "p95": milliseconds(takes, 95),
            "embed_p50": milliseconds(run.embed_seconds, 50),
        },
        "ingest": {"turns_per_second": run.turns / run.ingest_seconds},
        "memory_mb": run.memory_peak,
        "versions": dict(run.versions),
    }


def _history(size: int) -> History:
    sessions = tuple(_session(number, said) for number, said in enumerate(conversations(size)))
    asked = tuple(
        Question(f"q{number}", text, "made up", None, "", (), ())
        for number, text in enumerate(questions(100))
    )
    return History("made-up", sessions, asked)


def _session(number: int, said: Sequence[Any]) -> Session:
    turns = tuple(
        Turn(f"{number}:{place}", one["role"], one["speaker"], one["content"])
        for place, one in enumerate(said)
    )
    return Session(f"session {number}", said[0]["said_at"], turns)


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
