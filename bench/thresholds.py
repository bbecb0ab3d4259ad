"""How similar texts must be, by threshold: `python -m bench.thresholds`.

Curves on the data in `bench/agreement`, for the local embedding model: what a restatement replaces,
and which memory the words of "forget …" find among 150.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.agreement import FILES, PAIRS, Pair, read_pairs
from bench.report import row
from remembrancer.embed.local import LocalEmbedder
from remembrancer.remember.likeness import can_be_the_same
from remembrancer.remember.resolve import MIN_SIMILARITY_MARGIN

Vectors = NDArray[np.float32]
Curve = Callable[[float], Sequence[str]]

REPLACED = (0.8, 0.85, 0.88, 0.9, 0.92, 0.95)
CLOSEST = (0.25, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7)


def measure_replaced(pairs: Sequence[Pair], similarity: Vectors, threshold: float) -> list[str]:
    """The shares of different statements and of paraphrases that would replace the other one."""
    shares = []
    for same in (False, True):
        fitting = [
            (one, like) for one, like in zip(pairs, similarity, strict=True) if one.same is same
        ]
        above = [one for one, like in fitting if like >= threshold]
        checked = [one for one in above if can_be_the_same(one.one, one.other)]
        shares += [_percent(len(above), len(fitting)), _percent(len(checked), len(fitting))]
    return shares


def measure_closest(asked: Vectors, known: Vectors, threshold: float) -> list[str]:
    """The shares of requests that find their memory, that find another one, and that find one when
    theirs is not stored.
    """
    scores = asked @ known.T
    chosen = _choose(scores, threshold)
    right = sum(place == number for number, place in enumerate(chosen))
    wrong = sum(place not in (None, number) for number, place in enumerate(chosen))
    np.fill_diagonal(scores, -1)
    missing = sum(place is not None for place in _choose(scores, threshold))
    return [_percent(count, len(scores)) for count in (right, wrong, missing)]


def _choose(scores: Vectors, threshold: float) -> list[int | None]:
    """The place of the best of each row, unless it is below the threshold or has a rival."""
    best = np.sort(scores, axis=1)[:, -2:]
    is_clear = (best[:, 1] >= threshold) & (best[:, 1] - best[:, 0] >= MIN_SIMILARITY_MARGIN)
    return [
        int(row.argmax()) if clear else None for row, clear in zip(scores, is_clear, strict=True)
    ]


def read_requests() -> tuple[list[str], list[str]]:
    """Memories, and the words with which a person asks to forget them."""
    with (PAIRS / "forget.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [one["memory"] for one in rows], [one["words"] for one in rows]


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %"


def print_curve(
    title: str, columns: Sequence[str], thresholds: Sequence[float], curve: Curve
) -> None:
    print(f"\n## {title}\n")
    print(row("similarity", *columns))
    print("|---|" + "---:|" * len(columns))
    for threshold in thresholds:
        print(row(f"{threshold:.2f}", *curve(threshold)))


def main() -> None:
    embedder = LocalEmbedder()
    pairs = [pair for path in FILES for pair in read_pairs(path)]
    one = embedder.embed([pair.one for pair in pairs])
    other = embedder.embed([pair.other for pair in pairs])
    columns = ("different", "different, words checked", "same", "same, words checked")
    similarity = (one * other).sum(axis=1)
    print_curve("Replaced", columns, REPLACED, partial(measure_replaced, pairs, similarity))
    memories, words = read_requests()
    closest = partial(measure_closest, embedder.embed(words), embedder.embed(memories))
    print_curve(
        "Forgotten", ("right one", "another one", "one, if it is missing"), CLOSEST, closest
    )


if __name__ == "__main__":
    main()
