"""How much evidence a prompt block of a fixed size shows: `python -m bench block FILE...`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import remembrancer
from bench import machine
from bench.data import History, Question, Turn, load
from bench.measure import milliseconds
from bench.metrics import share
from bench.retrieval import name_of, rounded
from bench.systems import Query, rrf
from bench.systems.ours import messages
from remembrancer.config import Settings
from remembrancer.recall.prompt_block import CHARS_PER_TOKEN, Context, count_tokens
from remembrancer.search.terms import extract_query_terms, extract_terms

BUDGET = 1500
RRF_LIMIT = 100
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """What a prompt shows: the text of each turn in it, by the turn's id."""

    shown: Mapping[str, str]
    tokens: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the block for a question shows; `visible` is None where nobody can tell."""

    question: Question
    all_evidence: bool
    visible: bool | None
    tokens: int
    seconds: float


class BlockSystem(Protocol):
    """Histories that prompt blocks are made of."""

    def add(self, history: History) -> None: ...

    def block(self, query: Query, budget: int) -> Block: ...

    def close(self) -> None: ...


class OurBlocks:
    """A user for each history, whose turns were appended and nothing else."""

    def __init__(self, place: str) -> None:
        self._store = remembrancer.open(place, settings=Settings())
        self._turns: dict[str, str] = {}

    def add(self, history: History) -> None:
        me: Any = self._store.for_user(history.id)
        for session in history.sessions:
            written = me.append(messages(session), session=session.id)
            for turn, kept in zip(session.turns, written, strict=True):
                self._turns[kept.id] = turn.id

    def block(self, query: Query, budget: int) -> Block:
        me: Any = self._store.for_user(query.history)
        context = me.context(query.text, budget=budget, now=query.date)
        return read_block(context, self._turns)

    def close(self) -> None:
        self._store.close()


class RrfBlocks:
    """Whole turns by their rank until the budget is full; the last one is cut."""

    def __init__(self, place: str) -> None:
        self._ranking = rrf.start(place)
        self._turns: dict[str, dict[str, Turn]] = {}

    def add(self, history: History) -> None:
        self._ranking.add(history)
        self._turns[history.id] = {turn.id: turn for turn in history.turns}

    def block(self, query: Query, budget: int) -> Block:
        found = self._ranking.search(query, RRF_LIMIT).turn_ids
        turns = self._turns[query.history]
        return fill_block([turns[one] for one in found], budget)

    def close(self) -> None:
        self._ranking.close()


SYSTEMS: Mapping[str, type[OurBlocks] | type[RrfBlocks]] = {"ours": OurBlocks, "rrf": RrfBlocks}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=".jsonl or .jsonl.gz")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also writes OUT.md")
    parser.add_argument("--systems", type=_names, default=list(SYSTEMS), help=", ".join(SYSTEMS))
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens of a block")
    parser.add_argument(
        "--limit-questions", type=int, metavar="N", help="ask only N of each history"
    )


def run(options: argparse.Namespace) -> None:
    """Measure, then print the table or write it beside the JSON."""
    outcome: Json = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python -m bench " + shlex.join(sys.argv[1:]),
        "machine": machine.facts(),
        "budget": options.budget,
        "results": {name_of(path): _measure_file(path, options) for path in options.files},
    }
    if options.json is None:
        print(report(outcome))
        return
    options.json.write_text(json.dumps(rounded(outcome), indent=1) + "\n", encoding="utf-8")
    options.json.with_suffix(".md").write_text(report(outcome), encoding="utf-8")


def read_block(context: Context, turns: Mapping[str, str]) -> Block:
    """The turns in a block and their lines; each memory has one line, in the same order."""
    lines = [line for line in context.text.splitlines() if line.startswith("- ")]
    pairs = zip(context.memories, lines, strict=True)
    return Block({turns[one]: line for one, line in pairs}, context.tokens)


def fill_block(turns: Sequence[Turn], budget: int) -> Block:
    """Whole turns, a line each, and the beginning of the first that does not fit."""
    shown: dict[str, str] = {}
    room = budget * CHARS_PER_TOKEN
    for turn in turns:
        if room <= 0:
            break
        shown[turn.id] = f"{turn.line}\n"[:room]
        room -= len(shown[turn.id])
    return Block(shown, count_tokens("".join(shown.values())))


def judge(history: History, question: Question, block: Block, seconds: float) -> Verdict:
    """Compare a block with the evidence and the gold answer of its question."""
    texts = {turn.id: turn.text for turn in history.turns if turn.id in question.turns}
    shown = [block.shown[one] for one in texts if one in block.shown]
    words = set(extract_query_terms(question.answer))
    can_tell = bool(words) and words <= _terms(texts.values())
    return Verdict(
        question=question,
        all_evidence=all(one in block.shown for one in question.turns),
        visible=words <= _terms(shown) if can_tell else None,
        tokens=block.tokens,
        seconds=seconds,
    )


def summarise(verdicts: Sequence[Verdict]) -> Json:
    """The shares in percent, the mean size and the times."""
    held = [one.visible for one in verdicts if one.all_evidence]
    seconds = [one.seconds for one in verdicts]
    return {
        "questions": len(verdicts),
        "all_evidence": share([one.all_evidence for one in verdicts]),
        "told": sum(one.visible is not None for one in verdicts),
        "visible": share([one.visible for one in verdicts]),
        "visible_of_held": share(held),
        "tokens": sum(one.tokens for one in verdicts) / max(1, len(verdicts)),
        "ms": {"p50": milliseconds(seconds, 50), "p95": milliseconds(seconds, 95)},
    }


def report(outcome: Json) -> str:
    """A table with one row for each file and system."""
    rows = [
        f"| {file} | {name} | {_row(found)} |"
        for file, systems in outcome["results"].items()
        for name, found in systems.items()
    ]
    head = (
        f"Blocks of {outcome['budget']} tokens: `{outcome['command']}`\n\n"
        "| file | system | questions | all evidence % | answer visible % | "
        "of those with all evidence % | tokens | p50 ms |\n|---|---|--:|--:|--:|--:|--:|--:|\n"
    )
    return head + "\n".join(rows) + "\n"


def _row(found: Json) -> str:
    shares = [found[name] for name in ("all_evidence", "visible", "visible_of_held")]
    told = " | ".join("" if one is None else f"{one:.1f}" for one in shares)
    ms = found["ms"]["p50"] or 0
    return f"{found['questions']} | {told} | {found['tokens']:.0f} | {ms:.1f}"


def _measure_file(path: Path, options: argparse.Namespace) -> Json:
    histories = [_cut(history, options.limit_questions) for history in load(path)]
    return {name: _measure(name, histories, options.budget) for name in options.systems}


def _cut(history: History, limit: int | None) -> History:
    """The history with its answerable questions, or the first of them."""
    answerable = [one for one in history.questions if one.answerable]
    return replace(history, questions=tuple(answerable[:limit]))


def _measure(name: str, histories: Sequence[History], budget: int) -> Json:
    print(f"{name}: {len(histories)} histories", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        system: BlockSystem = SYSTEMS[name](place)
        for history in histories:
            system.add(history)
        verdicts = [one for history in histories for one in ask_all(system, history, budget)]
        system.close()
    return {
        **summarise(verdicts),
        "categories": {
            name: summarise([one for one in verdicts if one.question.category == name])
            for name in sorted({one.question.category for one in verdicts})
        },
    }


def ask_all(system: BlockSystem, history: History, budget: int) -> Iterator[Verdict]:
    """The verdict on each question of a history."""
    for question in history.questions:
        started = time.perf_counter()
        block = system.block(Query(history.id, question.text, question.date), budget)
        yield judge(history, question, block, time.perf_counter() - started)


def _terms(texts: Iterable[str]) -> set[str]:
    return {term for text in texts for term in extract_terms(text)}


def _names(text: str) -> list[str]:
    unknown = [name for name in text.split(",") if name not in SYSTEMS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no system {unknown[0]}; there are {', '.join(SYSTEMS)}")
    return text.split(",")
