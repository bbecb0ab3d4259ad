"""What a person with grep would find: turns by how many words of the question occur in them."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from bench.data import Turn
from bench.systems.scored import Scored, Scorer

WORD = re.compile(r"\w+")


def start(place: str) -> Scored:
    return Scored(grep)


def grep(turns: tuple[Turn, ...]) -> Scorer:
    lines = [turn.line.casefold() for turn in turns]
    newer = np.arange(len(lines)) / len(lines)

    def scorer(question: str) -> NDArray[np.float64]:
        words = {*WORD.findall(question.casefold())}
        hits = np.array([sum(word in line for word in words) for line in lines])
        return np.where(hits > 0, hits + newer, 0.0)

    return scorer
