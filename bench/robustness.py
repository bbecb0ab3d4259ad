"""Secrets, planted text, many writers, kills and deletion: what each product lets happen.

`python -m bench robustness ../shared/data/security` runs the same tests with every product, each in
processes and an environment of its own, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import facts
from bench.poisoning import scenarios
from bench.processes import Failed, Process
from bench.report import machine_line, row
from bench.secrets import random_runs, read_rows
from bench.stores import STORES
from bench.systems import ENTRIES

SEED = 20261119
WRITERS, WRITES = 8, 50
SAME_WRITES = 32
NOTES = 50
KILLS, KILLED_WRITES = 10, 40
SYNCED_WRITES = 20

Json = dict[str, Any]
Outcome = dict[str, str]


@dataclass(slots=True)
class Bench:
    """One product under test: where its files are, and how to start a process on them."""

    name: str
    home: Path
    versions: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def process(self, *under: str) -> Iterator[Process]:
        """A process of the product on the directory, closed at the end."""
        worker = "bench.stores.worker"
        home = str(self.home)
        with Process(ENTRIES[self.name], home, home, worker, under) as process:
            self.versions.update(process.versions)
            yield process

    def traces(self, canaries: list[str]) -> int:
        """How many canaries occur in any byte below the directory."""
        everything = b"\n".join(
            path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and not path.is_symlink()
        )
        return sum(canary.encode() in everything for canary in canaries)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, help="the directory with secrets.jsonl.gz and the rest")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES)
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=list(TESTS))
    parser.add_argument("--json", type=Path, help="also write the figures to this file")


def run(options: argparse.Namespace) -> None:
    """Run every test with every product and print the table."""
    results: dict[str, Outcome] = {}
    versions: dict[str, str] = {}
    for name in options.stores:
        results[name] = {}
        for test in options.tests:
            with _empty_bench(name) as bench:
                results[name][test] = _attempt(TESTS[test], bench, options.data)
                versions.update(bench.versions)
            print(f"{name}: {test}: {results[name][test]}", flush=True)
    print(report(results, versions, options.tests))
    if options.json:
        outcome = {
            "date": datetime.now(UTC).date().isoformat(),
            "versions": versions,
            "results": results,
        }
        options.json.write_text(json.dumps(outcome, indent=2) + "\n")


def report(results: dict[str, Outcome], versions: dict[str, str], tests: list[str]) -> str:
    """A table with a line for each test and a column for each product."""
    lines = [row("test", *results), "|---|" + "---|" * len(results)]
    lines += [row(test, *(one[test] for one in results.values())) for test in tests]
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    return "\n".join([*lines, "", machine_line({"machine": facts(), "engine": "SQLite"}), shown])


@contextmanager
def _empty_bench(name: str) -> Iterator[Bench]:
    home = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        yield Bench(name, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _attempt(test: Callable[[Bench, Path], str], bench: Bench, data: Path) -> str:
    try:
        return test(bench, data)
    except Failed as failure:
        return f"failed: {failure}"


def count_secrets(bench: Bench, data: Path) -> str:
    """Store one secret of each rule; count those that lie on the disk word for word."""
    secrets: dict[str, tuple[str, str]] = {}
    for labelled in read_rows(data / "secrets.jsonl.gz"):
        if labelled.secret:
            secrets.setdefault(labelled.rule, (labelled.text, _value_in(labelled.text)))
    with bench.process() as process:
        _write(process, [text for text, _ in secrets.values()])
    return f"{bench.traces([run for _, run in secrets.values()])}/{len(secrets)}"


def count_attacks(bench: Bench, data: Path) -> str:
    """Plant each attack as a tool's word; count those that a later prompt is not given."""
    attacks = [one for one in scenarios(data / "poisoning_scenarios.jsonl.gz") if one["malicious"]]
    stopped = 0
    with bench.process() as process:
        for attack in attacks:
            for step in attack["steps"]:
                with suppress(Failed):
                    process.ask({"write_untrusted": step["value"][:20_000]})
        for attack in attacks:
            question = f"{attack['probe_key'].replace('.', ' ')} {attack['description']}"
            told = process.ask({"search": question})["result"]
            stopped += attack["canary"] not in told
    return f"{stopped}/{len(attacks)}"


def count_concurrent_writes(bench: Bench, data: Path) -> str:
    """Several processes write to one store at once; count what they and the store say is there."""
    with bench.process():
        pass
    with ExitStack() as stack:
        started = [_try_start(stack, bench) for _ in range(WRITERS)]
        processes = [process for process in started if process]
        for number, process in enumerate(processes):
            notes = [_note(f"writer{number}", index) for index in range(WRITES)]
            process.send({"write": notes, "threads": 1})
        done = [process.receive()["result"] for process in processes]
    with bench.process() as process:
        kept = set(process.ask({"texts": None})["result"])
    acknowledged = [text for one in done for text in one["acknowledged"]]
    lost = len(set(acknowledged) - kept)
    locked_out = WRITERS - len(processes)
    said = f", {lost} acknowledged lost" if lost else ""
    said += f", {locked_out} processes locked out" if locked_out else ""
    return f"{len(kept)}/{WRITERS * WRITES}{said}"


def count_rows_of_same_note(bench: Bench, data: Path) -> str:
    """Threads of one process store the same words at once; one row is right."""
    with bench.process() as process:
        note = "My landlady is called Ottilie Brandner"
        done = process.ask({"write": [note] * SAME_WRITES, "threads": SAME_WRITES})["result"]
        kept = process.ask({"texts": None})["result"].count(note)
    return f"{kept} rows, {len(done['errors'])} errors"


def count_after_kills(bench: Bench, data: Path) -> str:
    """Kill a process that writes, ten times; count acknowledged notes that are missing."""
    chance = random.Random(SEED)
    acknowledged: list[str] = []
    for kill in range(KILLS):
        with suppress(Failed), bench.process() as process:
            for index in range(chance.randint(5, KILLED_WRITES)):
                note = _note(f"kill{kill}", index)
                acknowledged += process.ask({"write": [note], "threads": 1})["result"][
                    "acknowledged"
                ]
            process.send({"write": [_note(f"kill{kill}", 99)], "threads": 1})
            process.kill()
    with bench.process() as process:
        kept = set(process.ask({"texts": None})["result"])
    return f"{len(set(acknowledged) - kept)} of {len(acknowledged)} lost"


def count_syncs(bench: Bench, data: Path) -> str:
    """Count fsync and fdatasync during acknowledged writes, as strace sees them."""
    if not shutil.which("strace"):
        return "not measured: no strace"
    trace = bench.home.with_suffix(".trace")
    strace = ("strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,msync", "-o", str(trace))
    try:
        with bench.process(*strace) as process:
            _write(process, [_note("first", 0)])
            before = len(trace.read_text().splitlines())
            for index in range(SYNCED_WRITES):
                _write(process, [_note("synced", index)])
            after = len(trace.read_text().splitlines())
    finally:
        trace.unlink(missing_ok=True)
    return f"{after - before} for {SYNCED_WRITES} writes"


def count_residue(bench: Bench, data: Path) -> str:
    """Delete everything with the product's call; count the notes still found in its files."""
    canaries = [f"canary{random.Random(n).getrandbits(64):016x}" for n in range(NOTES)]
    with bench.process() as process:
        _write(process, [f"Ada's {canary} lies in the drawer" for canary in canaries])
        process.ask({"delete_all": None})
    deleted = bench.traces(canaries)
    with bench.process() as process:
        process.ask({"purge": None})
    return f"{deleted}/{NOTES}, after a purge {bench.traces(canaries)}/{NOTES}"


TESTS: dict[str, Callable[[Bench, Path], str]] = {
    "secrets stored verbatim, one per rule": count_secrets,
    "planted memories kept from a prompt": count_attacks,
    "8 processes × 50 writes, stored": count_concurrent_writes,
    "same note × 32 at once": count_rows_of_same_note,
    "10 kills, acknowledged writes": count_after_kills,
    "syncs to the disk": count_syncs,
    "notes found in the files after deletion": count_residue,
}


def _try_start(stack: ExitStack, bench: Bench) -> Process | None:
    try:
        return stack.enter_context(bench.process())
    except Failed:
        return None


def _write(process: Process, texts: list[str]) -> Json:
    result: Json = process.ask({"write": texts, "threads": 1})["result"]
    return result


def _value_in(text: str) -> str:
    """The part of a labelled row that looks most like its secret."""
    parts = random_runs(text) or re.split(r"[\s\"'`\\]+", text)
    return max(parts, key=len)


def _note(writer: str, index: int) -> str:
    """Notes that differ in several words, so that no product takes two for the same."""
    chance = random.Random(f"{writer} {index}")
    words = [chance.choice(WORDS) for _ in range(6)]
    return f"{writer} number {index}: {' '.join(words)} {chance.getrandbits(32):08x}"


WORDS = (
    "harbour lantern copper meadow violin granite saffron glacier orchard kettle "
    "compass thistle marble walnut ferry chimney paprika anchor velvet quarry"
).split()
