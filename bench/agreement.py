"""Pairs of statements that say the same or the opposite: `python -m bench.agreement [FILE …]`.

For each file prints the share of opposites and of paraphrases that are taken for the same, and of
opposites that are flagged, for the comparison of words and for vectors alone at several thresholds.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.report import row
from remembrancer.agreement.verdict import Agreement, judge
from remembrancer.embed import Embedder
from remembrancer.embed.local import LocalEmbedder

PAIRS = Path(__file__).parent / "agreement"
FILES = tuple(PAIRS / f"{name}.tsv" for name in ("one", "two", "three", "unseen"))
THRESHOLDS = (0.0, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements; `same` is true if they say the same."""

    same: bool
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What the comparison of words and of vectors say of a pair."""

    same: bool
    agreement: Agreement
    similarity: float


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file with the columns kind, domain, a and b."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Pair(one["kind"] == "paraphrase", one["a"], one["b"]) for one in rows]


def judge_pairs(pairs: Iterable[Pair], embedder: Embedder) -> list[Judged]:
    """Compare the words and the vectors of each pair."""
    judged = []
    for pair in pairs:
        one, other = embedder.embed([pair.one, pair.other])
        similarity = float(np.dot(one, other))
        agreement = judge(pair.one, pair.other, similarity)
        judged.append(Judged(pair.same, agreement, similarity))
    return judged


def count_merged(judged: Iterable[Judged], same: bool, threshold: float) -> float:
    """The percentage of the pairs of a kind that are merged from this similarity on."""
    fitting = [one for one in judged if one.same is same]
    merged = [
        one for one in fitting if one.agreement is Agreement.SAME and one.similarity >= threshold
    ]
    return 100 * len(merged) / len(fitting)


def count_similar(judged: Iterable[Judged], same: bool, threshold: float) -> float:
    """The percentage of the pairs of a kind that are at least this similar."""
    fitting = [one for one in judged if one.same is same]
    return 100 * sum(one.similarity >= threshold for one in fitting) / len(fitting)


def count_flagged(judged: Iterable[Judged], same: bool) -> float:
    """The percentage of the pairs of a kind that are flagged as a contradiction."""
    fitting = [one for one in judged if one.same is same]
    return 100 * sum(one.agreement is Agreement.CONTRADICTS for one in fitting) / len(fitting)


def print_file(name: str, judged: list[Judged]) -> None:
    """A table for one file: one line for each threshold of similarity."""
    opposites = sum(not one.same for one in judged)
    print(f"\n## {name}: {opposites} opposites, {len(judged) - opposites} paraphrases\n")
    print(
        f"Flagged as a contradiction: {count_flagged(judged, False):.1f} % of the opposites, "
        f"{count_flagged(judged, True):.1f} % of the paraphrases.\n"
    )
    titles = (
        "opposites merged",
        "paraphrases merged",
        "opposites, vectors",
        "paraphrases, vectors",
    )
    print(row("similarity", *titles))
    print("|---|" + "---:|" * len(titles))
    for threshold in THRESHOLDS:
        shares = (
            *(count_merged(judged, same, threshold) for same in (False, True)),
            *(count_similar(judged, same, threshold) for same in (False, True)),
        )
        print(row(f"{threshold:.2f}", *(f"{share:.1f} %" for share in shares)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=FILES, metavar="FILE")
    embedder = LocalEmbedder()
    for path in parser.parse_args().files:
        print_file(path.stem, judge_pairs(read_pairs(path), embedder))


if __name__ == "__main__":
    main()
