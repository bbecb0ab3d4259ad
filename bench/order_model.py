"""Trains the model that recognises orders to an assistant: `python -m bench.order_model [--write]`.

The texts lie in `bench/planted`, one file for each author. Each author's texts are first judged by
a model of the others' texts: these are the figures that count. The shipped model is trained on all.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from remembrancer.guard.instructions import order_model
from remembrancer.guard.instructions.detector import detect_instructions, to_latin

DATA = Path(__file__).with_name("planted")
GUARD_TESTS = Path(__file__).parents[1] / "tests" / "guard"
PEOPLE = Path(__file__).with_name("people")
SHIPPED = Path(order_model.__file__).with_name(order_model.WEIGHTS_FILE)
AUTHORS = {
    "rules": ("known", "unseen"),
    "various": ("various",),
    "offices": ("offices",),
    "informal": ("informal",),
    "subtle": ("subtle",),
    "short": ("short",),
    "software": ("software",),
    "personal": ("personal",),
    "chats": ("chats",),
}
"""The files of each author; the first also wrote the patterns, the last only harmless texts."""

SEED = 20261120
EPOCHS = 20
RATE = 0.1
BIAS_RATE = 0.02
DECAY = 3e-4
USUAL_ALARMS, CERTAIN_ALARMS = 0.015, 0.005
"""The shares of other authors' harmless texts above the two thresholds."""

Buckets = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A text as the model sees it, passage by passage, and whether it is planted."""

    text: str
    passages: tuple[Buckets, ...]
    planted: bool


@dataclass(frozen=True, slots=True)
class Model:
    weights: Weights
    bias: float

    def score(self, buckets: Buckets) -> float:
        if not len(buckets):
            return self.bias
        return float(self.weights[buckets].sum() / np.sqrt(len(buckets)) + self.bias)

    def judge(self, example: Example) -> float:
        return max(map(self.score, example.passages), default=self.bias)


def load_examples(author: str) -> list[Example]:
    """The texts of one author."""
    rows = [row for name in AUTHORS[author] for row in _read_rows(DATA / f"{name}.jsonl")]
    return [_to_example(row["text"], row["attack"]) for row in rows]


def load_ordinary() -> list[Example]:
    """Harmless texts and conversations that were written for other tests and benchmarks."""
    texts = [
        line
        for name in ("ordinary_prose.txt", "project_statements.txt", "shared_statements.txt")
        for line in (GUARD_TESTS / name).read_text(encoding="utf-8").splitlines()
    ]
    for path in sorted((GUARD_TESTS / "plain_talk").glob("harmless*.jsonl")):
        texts += [row["text"] for row in _read_rows(path)]
    for path in sorted(PEOPLE.glob("*.jsonl")):
        texts += [
            turn["text"]
            for person in _read_rows(path)
            for conversation in person["conversations"]
            for turn in conversation["turns"]
        ]
    return [_to_example(text, False) for text in texts if text.strip()]


def train(examples: Sequence[Example]) -> Model:
    """Logistic regression by stochastic gradients, with a step of its own for each weight.

    A planted text is learned as a whole, because not each of its sentences is an order.
    """
    chance = np.random.default_rng(SEED)
    weights, squares = np.zeros(order_model.BUCKETS), np.full(order_model.BUCKETS, 1e-6)
    passages = [
        (buckets, example.planted)
        for example in examples
        for buckets in (example.passages[-1:] if example.planted else example.passages)
    ]
    model = Model(weights, 0.0)
    for _ in range(EPOCHS):
        for at in chance.permutation(len(passages)):
            buckets, planted = passages[at]
            error = 1 / (1 + np.exp(-model.score(buckets))) - planted
            gradient = error / np.sqrt(max(1, len(buckets))) + DECAY * weights[buckets]
            squares[buckets] += gradient**2
            weights[buckets] -= RATE * gradient / np.sqrt(squares[buckets])
            model = Model(weights, model.bias - BIAS_RATE * error)
    return model


def judge_others(authors: Sequence[str]) -> dict[str, list[tuple[float, bool, str]]]:
    """For each author, score and truth of each text by a model of the other authors' texts."""
    judged = {}
    ordinary = load_ordinary()
    for author in authors:
        others = [other for other in authors if other != author]
        model = train([*ordinary, *(one for other in others for one in load_examples(other))])
        own = load_examples(author)
        judged[author] = [(model.judge(one), one.planted, one.text) for one in own]
    return judged


def choose_threshold(harmless: Sequence[float], alarms: float) -> float:
    """The score that so many harmless texts exceed."""
    return float(np.quantile(np.array(harmless), 1 - alarms))


def write(model: Model, usual: float, certain: float, path: Path) -> None:
    """Store the weights as bytes, and the rest in the same units."""
    unit = float(np.abs(model.weights).max()) / 127
    np.savez_compressed(
        path,
        weights=np.rint(model.weights / unit).astype(np.int8),
        bias=model.bias / unit,
        usual=usual / unit,
        certain=certain / unit,
    )


def main() -> None:
    """Print how each author's texts are judged, and write the model if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="train on all and ship the model")
    options = parser.parse_args()
    authors = [name for name in AUTHORS if (DATA / f"{AUTHORS[name][0]}.jsonl").exists()]
    judged = judge_others(authors)
    harmless = [score for one in judged.values() for score, planted, _ in one if not planted]
    usual = choose_threshold(harmless, USUAL_ALARMS)
    certain = choose_threshold(harmless, CERTAIN_ALARMS)
    print("| author | model, usual | model, certain | patterns | either | harmless flagged |")
    print("|---|---|---|---|---|---|")
    for author, texts in judged.items():
        print(_row(author, texts, usual, certain))
    if options.write:
        everything = [one for author in authors for one in load_examples(author)]
        write(train([*load_ordinary(), *everything]), usual, certain, SHIPPED)


def _read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _to_example(text: str, planted: bool) -> Example:
    passages = order_model.split_passages(to_latin(text))
    hashed = (sorted(order_model.hash_features(passage)) for passage in passages)
    return Example(text, tuple(np.array(one, dtype=np.int64) for one in hashed), planted)


def _row(author: str, texts: list[tuple[float, bool, str]], usual: float, certain: float) -> str:
    planted = [(score, bool(detect_instructions(text))) for score, is_, text in texts if is_]
    alarms = [(score, bool(detect_instructions(text))) for score, is_, text in texts if not is_]

    def share(values: Sequence[bool]) -> str:
        return f"{sum(values)} of {len(values)}"

    return (
        f"| {author} | {share([score > usual for score, _ in planted])} "
        f"| {share([score > certain for score, _ in planted])} "
        f"| {share([known for _, known in planted])} "
        f"| {share([known or score > usual for score, known in planted])} "
        f"| {share([known or score > usual for score, known in alarms])} |"
    )


if __name__ == "__main__":
    main()
