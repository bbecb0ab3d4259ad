"""One system on one file: puts the histories in, asks the questions, keeps what came back."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bench.data import History, Question
from bench.processes import Process, running
from bench.systems import Entry, Query

LIMIT = 20
EMBEDDED = 200
"""How many questions are embedded alone, to tell that time from the search's."""

WARM_UP = (
    "what did we talk about the other day?",
    "which city is mentioned most?",
    "who likes long walks?",
    "how much did the bicycle cost?",
    "when does the train leave on Monday?",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system returned for a question: turns and their sessions, best first."""

    question: Question
    turns: tuple[str, ...]
    sessions: tuple[str, ...]
    nothing_relevant: bool | None
    context_chars: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """Everything measured of one system on one file."""

    answers: tuple[Answer, ...]
    turns: int
    ingest_seconds: float
    embed_seconds: tuple[float, ...]
    memory_after_ingest: float | None
    memory_peak: float | None
    versions: Mapping[str, str]


def measure(entry: Entry, histories: Sequence[History], engine: str = "sqlite") -> Run:
    """Run the system in a process of its own; raises Failed or NotInstalled."""
    with running(entry, engine) as process:
        seconds = sum(_add(process, history) for history in histories)
        after_ingest = process.ask({"memory": True})
        _warm_up(process, histories[0])
        answers = tuple(_answers(process, histories))
        peak = process.ask({"memory": True})
        return Run(
            answers=answers,
            turns=sum(len(history.turns) for history in histories),
            ingest_seconds=seconds,
            embed_seconds=tuple(_embed_seconds(process, answers[:EMBEDDED])),
            memory_after_ingest=after_ingest.get("now"),
            memory_peak=peak.get("peak"),
            versions=process.versions,
        )


def _add(process: Process, history: History) -> float:
    _say(f"adding {history.id}, {len(history.turns)} turns")
    answer = process.ask({"add": asdict(replace(history, questions=()))})
    return float(answer["seconds"])


def _warm_up(process: Process, history: History) -> None:
    for text in WARM_UP:
        _search(process, Query(history.id, text, None))


def _answers(process: Process, histories: Sequence[History]) -> Iterator[Answer]:
    for history in histories:
        _say(f"asking {history.id}, {len(history.questions)} questions")
        session_of = history.session_of()
        for question in history.questions:
            answer = _search(process, Query(history.id, question.text, question.date))
            yield _kept(question, answer, session_of)


def _search(process: Process, query: Query) -> dict[str, Any]:
    return process.ask({"search": asdict(query), "limit": LIMIT})


def _kept(question: Question, answer: dict[str, Any], session_of: Mapping[str, str]) -> Answer:
    found = answer["result"]
    turns = tuple(dict.fromkeys(found["turn_ids"]))
    return Answer(
        question=question,
        turns=turns,
        sessions=tuple(dict.fromkeys(session_of[turn] for turn in turns)),
        nothing_relevant=found["nothing_relevant"],
        context_chars=found["context_chars"],
        seconds=answer["seconds"],
    )


def _embed_seconds(process: Process, answers: Sequence[Answer]) -> Iterator[float]:
    for answer in answers:
        reply = process.ask({"embed": answer.question.text})
        if "seconds" in reply:
            yield reply["seconds"]


def milliseconds(seconds: Sequence[float], percent: int) -> float | None:
    """The percentile of some times; None if there are none."""
    if len(seconds) < 2:
        return 1000 * seconds[0] if seconds else None
    return 1000 * statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1]


def _say(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)
