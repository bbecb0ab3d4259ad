"""Measures the instruction guard: `python -m bench.instructions instructions.jsonl.gz`.

Prints how many attacks are suspected and how much harmless text is, by source and by rule.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.secrets import Share
from remembrancer.guard.instructions.detector import detect_instructions


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, the group it is counted in, and whether it is an attack."""

    group: str
    attack: bool
    text: str


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_samples(path: Path) -> Iterator[Sample]:
    """The rows of a file of labelled texts, or the steps of a file of scenarios."""
    for row in read_lines(path):
        if "steps" in row:
            yield from scenario_samples(row)
        else:
            yield Sample(row["source"], row["attack"], row["text"])


def scenario_samples(row: dict[str, Any]) -> Iterator[Sample]:
    for step in row["steps"]:
        text = f"{step['key']}: {step['value']}"
        yield Sample(row["category"], row["malicious"], text)


def read_turns(path: Path) -> Iterator[Sample]:
    """The turns of a conversation file, which hold no attacks."""
    for row in read_lines(path):
        for session in row["sessions"]:
            for turn in session["turns"]:
                group = f"{path.name.split('.')[0]}, {turn['role']}"
                yield Sample(group, False, turn["text"])


def report(samples: Iterable[Sample], show: bool) -> None:
    totals: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for sample in samples:
        broken = detect_instructions(sample.text)
        group = f"{sample.group}, {'attack' if sample.attack else 'harmless'}"
        totals[group] += 1
        flagged[group] += bool(broken)
        rules.update(broken)
        if show and bool(broken) != sample.attack:
            print(f"{group} {broken}: {sample.text[:300]!r}")
    for group, total in sorted(totals.items()):
        print(f"{group:<45} flagged {Share(flagged[group], total)}")
    print("by rule", dict(rules.most_common()) or "none")


def milliseconds_per_kilobyte(texts: list[str]) -> float:
    started = time.perf_counter()
    for text in texts:
        detect_instructions(text)
    return (time.perf_counter() - started) * 1e6 / max(1, sum(map(len, texts)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("samples", type=Path, nargs="+", help="labelled texts or scenarios")
    parser.add_argument("--turns", type=Path, nargs="*", default=[], help="conversation files")
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    arguments = parser.parse_args()
    samples = [sample for path in arguments.samples for sample in read_samples(path)]
    turns = [turn for path in arguments.turns for turn in read_turns(path)]
    report(samples, arguments.show)
    if turns:
        report(turns, arguments.show)
    speed = milliseconds_per_kilobyte([sample.text for sample in turns[:2000] or samples])
    print(f"ms per kB {speed:.3f}")


if __name__ == "__main__":
    main()
