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

import numpy as np
import numpy.typing as npt

from remembrancer.guard.instructions import order_model
from remembrancer.guard.instructions.detector import detect_instructions, to_latin

DATA = Path(__file__).with_name("planted")
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
}
"""The files of each author; the first author also wrote the patterns."""

SEED = 20261120
EPOCHS = 40
RATE = 0.1
BIAS_RATE = 0.02
DECAY = 3e-4
USUAL_ALARMS, CERTAIN_ALARMS = 0.015, 0.002
"""The shares of other authors' harmless texts above the two thresholds."""

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A text as the model sees it, and whether it is planted."""

    text: str
    buckets: npt.NDArray[np.int64]
    planted: bool


@dataclass(frozen=True, slots=True)
class Model:
    weights: Weights
    bias: float

    def score(self, example: Example) -> float:
        if not len(example.buckets):
            return self.bias
        total = self.weights[example.buckets].sum() / np.sqrt(len(example.buckets))
        return float(total + self.bias)


def load_examples(author: str) -> list[Example]:
    """The texts of one author."""
    rows = [
        json.loads(line)
        for name in AUTHORS[author]
        for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return [_to_example(row["text"], row["attack"]) for row in rows]


def train(examples: Sequence[Example]) -> Model:
    """Logistic regression by stochastic gradients, with a step of its own for each weight."""
    chance = np.random.default_rng(SEED)
    weights, squares = np.zeros(order_model.BUCKETS), np.full(order_model.BUCKETS, 1e-6)
    model = Model(weights, 0.0)
    for _ in range(EPOCHS):
        for at in chance.permutation(len(examples)):
            example = examples[at]
            buckets, scale = example.buckets, 1 / np.sqrt(max(1, len(example.buckets)))
            error = 1 / (1 + np.exp(-model.score(example))) - example.planted
            gradient = error * scale + DECAY * weights[buckets]
            squares[buckets] += gradient**2
            weights[buckets] -= RATE * gradient / np.sqrt(squares[buckets])
            model = Model(weights, model.bias - BIAS_RATE * error)
    return model


def judge_others(authors: Sequence[str]) -> dict[str, list[tuple[float, bool, str]]]:
    """For each author, score and truth of each text by a model of the other authors' texts."""
    judged = {}
    for author in authors:
        model = train([one for other in authors if other != author for one in load_examples(other)])
        judged[author] = [
            (model.score(one), one.planted, one.text) for one in load_examples(author)
        ]
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
        write(train(everything), usual, certain, SHIPPED)


def _to_example(text: str, planted: bool) -> Example:
    buckets = np.array(sorted(order_model.hash_features(to_latin(text))), dtype=np.int64)
    return Example(text, buckets, planted)


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
