"""Measures the secret guard on labelled rows: `python -m bench.secrets secrets.jsonl.gz`.

Prints what leaks, what of the same values leaks when they stand alone in a sentence, false alarms
and time, for our guard and for CredSweeper where it is installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remembrancer.guard import redact

Redactor = Callable[[str], str]

PROSE = Path(__file__).parent.parent / "tests" / "guard" / "ordinary_prose.txt"
SENTENCES = (
    "Here you go: {}",
    "Use {} for the deploy, please.",
    "I think it was {} but check with Ana first.",
    "{}",
    "She sent me {} yesterday and asked me to keep it for later.",
)
RUN = re.compile(r"(?:[A-Za-z0-9+/_=~.|-]|:(?=[A-Za-z0-9])){12,}")
NAME_BEFORE = re.compile(r"\b[A-Za-z_][A-Za-z_.-]*=(?=[A-Za-z0-9\"'-])")
ASSIGNED_NAME = re.compile(r"[\"'`\]]*\s*(?:string\s*)?(?::|=|\?=|\.=|,\s*[\"']|>)")
SHAPELESS = re.compile(
    r"[0-9a-fA-F]+|[a-z0-9]+|[A-Z0-9]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
)


@dataclass(frozen=True, slots=True)
class Row:
    rule: str
    secret: bool
    text: str


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    hits: int
    total: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.total} ({100 * self.hits / max(1, self.total):.2f} %)"


def read_rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [Row(**json.loads(line)) for line in lines]
    return [row for row in rows if row.text]


def read_turns(path: Path) -> Iterator[str]:
    """The turns of a conversation file, which hold no real secrets."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            for session in json.loads(line)["sessions"]:
                yield from (turn["text"] for turn in session["turns"])


def entropy(run: str) -> float:
    counts = Counter(run)
    return -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())


def random_runs(text: str) -> list[str]:
    """Runs that look like a value: twelve characters or more, a digit or mixed case, not a name."""
    text = NAME_BEFORE.sub(" ", text.replace("\\n", "\n"))
    return [
        match[0]
        for match in RUN.finditer(text)
        if entropy(match[0]) >= 2.5
        and (re.search(r"\d", match[0]) or entropy(match[0]) >= 4)
        and not ASSIGNED_NAME.match(text, match.end())
    ]


def leaks(text: str, redacted: str) -> bool:
    """Nothing was redacted, or a piece of twelve characters of a random run is still there."""
    return redacted == text or any(
        run[at : at + 12] in redacted
        for run in random_runs(text)
        for at in range(0, len(run) - 11, 6)
    )


def leaked_rows(rows: Iterable[Row], redactor: Redactor) -> list[Row]:
    return [row for row in rows if leaks(row.text, redactor(row.text))]


def bare_values(rows: Iterable[Row]) -> list[str]:
    """The longest random run of each secret row, once."""
    longest = (max(random_runs(row.text), key=len, default="") for row in rows)
    return sorted({value.strip("=.|-") for value in longest if value})


def surviving(values: Iterable[str], redactor: Redactor) -> Share:
    outcomes = [value in redactor(line.format(value)) for value in values for line in SENTENCES]
    return Share(sum(outcomes), len(outcomes))


def alarms(texts: Iterable[str], redactor: Redactor) -> Share:
    outcomes = [redactor(text) != text for text in texts]
    return Share(sum(outcomes), len(outcomes))


def milliseconds_per_kilobyte(texts: list[str], redactor: Redactor) -> float:
    started = time.perf_counter()
    for text in texts:
        redactor(text)
    return (time.perf_counter() - started) * 1e6 / sum(map(len, texts))


def our_redactor(text: str) -> str:
    return redact(text).text


def credsweeper_redactor() -> Redactor | None:
    try:
        from credsweeper.app import CredSweeper
        from credsweeper.file_handler.string_content_provider import StringContentProvider
    except ImportError:
        return None
    sweeper: Any = CredSweeper()

    def redactor(text: str) -> str:
        found = sweeper.file_scan(StringContentProvider(text.splitlines()))
        values = {data.value for one in found for data in one.line_data_list if data.value}
        for value in sorted(values, key=len, reverse=True):
            text = text.replace(value, "[secret]")
        return text

    return redactor


def report(name: str, redactor: Redactor, rows: list[Row], turns: list[str]) -> None:
    secret = [row for row in rows if row.secret]
    missed = leaked_rows(secret, redactor)
    values = bare_values(secret)
    shapeless = [value for value in values if SHAPELESS.fullmatch(value)]
    distinct = sorted({*values} - {*shapeless})
    prose = PROSE.read_text(encoding="utf-8").splitlines()
    print(f"## {name}")
    print(f"rows that leak                     {Share(len(missed), len(secret))}")
    print(f"bare, distinctive: survive         {surviving(distinct, redactor)}")
    print(f"bare, shapeless: survive           {surviving(shapeless, redactor)}")
    print(f"ordinary prose: false alarms       {alarms(prose, redactor)}")
    not_secret = [row.text for row in rows if not row.secret]
    print(f"rows marked not secret: flagged    {alarms(not_secret, redactor)}")
    if turns:
        print(f"conversation turns: flagged        {alarms(turns, redactor)}")
    print(f"ms per kB of prose                 {milliseconds_per_kilobyte(prose, redactor):.3f}")
    print("misses by rule                    ", dict(Counter(row.rule for row in missed)) or "none")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--turns", type=Path, nargs="*", default=[], help="conversation files")
    parser.add_argument("--only-ours", action="store_true")
    arguments = parser.parse_args()
    rows = read_rows(arguments.rows)
    turns = [text for path in arguments.turns for text in read_turns(path)]
    report("remembrancer.guard", our_redactor, rows, turns)
    other = None if arguments.only_ours else credsweeper_redactor()
    if other:
        report("CredSweeper", other, rows, [])


if __name__ == "__main__":
    main()
