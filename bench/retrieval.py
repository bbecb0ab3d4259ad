"""How well systems find the turns that answer a question: `python -m bench retrieval FILE...`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine
from bench.data import History, load
from bench.measure import Answer, Run, measure, milliseconds
from bench.metrics import averages, intervals, session_scores, share, turn_scores
from bench.peers import NotInstalled
from bench.plot import plot
from bench.processes import Failed
from bench.report import report
from bench.systems import ENTRIES, Entry

Json = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=".jsonl or .jsonl.gz")
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--systems", type=entries, default=list(ENTRIES.values()), help=", ".join(ENTRIES)
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="also writes OUT.md and OUT.svg")
    parser.add_argument(
        "--limit-questions", type=int, metavar="N", help="ask only N of each history"
    )


def run(options: argparse.Namespace) -> None:
    """Measure, then print the tables or write the three files."""
    outcome: Json = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": command(options),
        "machine": machine.facts(),
        "engine": options.engine,
        "systems": {entry.name: entry.settings for entry in options.systems},
        "results": {name_of(path): {} for path in options.files},
    }
    for file, name, result in measured(options):
        outcome["results"][file][name] = result
        # A run takes an hour: what is known so far must outlive whatever ends it.
        if options.json:
            write(outcome, options.json)
    if not options.json:
        print(report(outcome))


def measured(options: argparse.Namespace) -> Iterator[tuple[str, str, Json]]:
    """Every system's numbers on every file, as they come."""
    for path in options.files:
        histories = [
            replace(history, questions=history.questions[: options.limit_questions])
            for history in load(path)
        ]
        for entry in options.systems:
            print(f"{name_of(path)}: {entry.name}", file=sys.stderr, flush=True)
            yield name_of(path), entry.name, attempt(entry, histories, options.engine)


def write(outcome: Json, place: Path) -> None:
    """The numbers, the tables and the picture, side by side."""
    place.write_text(json.dumps(rounded(outcome), indent=1) + "\n", encoding="utf-8")
    place.with_suffix(".md").write_text(report(outcome), encoding="utf-8")
    place.with_suffix(".svg").write_text(plot(outcome["results"]), encoding="utf-8")


def rounded(value: Any) -> Any:
    """The same JSON with three decimals."""
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {key: rounded(one) for key, one in value.items()}
        case list() | tuple():
            return [rounded(one) for one in value]
    return value


def entries(names: str) -> list[Entry]:
    unknown = [name for name in names.split(",") if name not in ENTRIES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no system {unknown[0]}; there are {', '.join(ENTRIES)}")
    return [ENTRIES[name] for name in names.split(",")]


def name_of(path: Path) -> str:
    return path.name.split(".")[0]


def command(options: argparse.Namespace) -> str:
    """What to type to get these numbers again, wherever the files are."""
    words = ["python", "-m", "bench", "retrieval", *(path.name for path in options.files)]
    if options.engine != "sqlite":
        words += ["--engine", options.engine]
    if len(options.systems) < len(ENTRIES):
        words += ["--systems", ",".join(entry.name for entry in options.systems)]
    if options.limit_questions:
        words += ["--limit-questions", str(options.limit_questions)]
    return shlex.join(words)


def attempt(entry: Entry, histories: Sequence[History], engine: str) -> Json:
    """One system's numbers, or the error that it ended with."""
    try:
        return summary(measure(entry, histories, engine))
    except (Failed, NotInstalled) as error:
        print(f"  failed: {error}", file=sys.stderr, flush=True)
        return {"error": str(error)}


def summary(found: Run) -> Json:
    """The numbers as they stand in the JSON file."""
    answers = found.answers
    answerable = [answer for answer in answers if answer.question.answerable]
    unanswerable = [answer for answer in answers if answer.question.unanswerable]
    turns = [turn_scores(one.question.turns, one.turns) for one in answerable]
    sessions = [session_scores(one.question.sessions, one.sessions) for one in answerable]
    seconds = [answer.seconds for answer in answers]
    return {
        "questions": {
            "asked": len(answers),
            "answerable": len(answerable),
            "unanswerable": len(unanswerable),
        },
        "turn": averages(turns),
        "turn_interval": intervals(turns),
        "session": averages(sessions),
        "session_interval": intervals(sessions),
        "categories": categories(answerable),
        "nothing": {
            "unanswerable": share([answer.nothing_relevant for answer in unanswerable]),
            "answerable": share([answer.nothing_relevant for answer in answerable]),
        },
        "ms": {
            "p50": milliseconds(seconds, 50),
            "p95": milliseconds(seconds, 95),
            "embed_p50": milliseconds(found.embed_seconds, 50),
        },
        "ingest": {
            "turns": found.turns,
            "seconds": found.ingest_seconds,
            "turns_per_second": found.turns / found.ingest_seconds,
        },
        "memory_mb": found.memory_peak,
        "memory_after_ingest_mb": found.memory_after_ingest,
        "context_tokens": sum(one.context_chars for one in answers) / 4 / max(1, len(answers)),
        "versions": dict(found.versions),
    }


def categories(answerable: Sequence[Answer]) -> Json:
    """The turn measures of each category of questions."""
    found: Json = {}
    for name in sorted({answer.question.category for answer in answerable}):
        scores = [
            turn_scores(one.question.turns, one.turns)
            for one in answerable
            if one.question.category == name
        ]
        found[name] = {"questions": len(scores), **averages(scores)}
    return found
