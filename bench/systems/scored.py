"""Baselines that keep a history in memory and score all its turns for every question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.data import History, Turn
from bench.systems import Found, Query, found

Scores = NDArray[np.floating[Any]]
Scorer = Callable[[str], Scores]
"""The score of every turn for a question; zero or less is no match."""


class Scored:
    """Ranks by a scorer that is made for each history; equal turns stay in their order."""

    def __init__(
        self,
        scorer: Callable[[tuple[Turn, ...]], Scorer],
        embed: Callable[[str], object] | None = None,
        may_find_nothing: bool = True,
    ) -> None:
        self.embed = embed
        self._scorer = scorer
        self._may_find_nothing = may_find_nothing
        self._histories: dict[str, tuple[tuple[Turn, ...], Scorer]] = {}

    def add(self, history: History) -> None:
        self._histories[history.id] = (history.turns, self._scorer(history.turns))

    def search(self, query: Query, limit: int) -> Found:
        turns, scorer = self._histories[query.history]
        best = order(scorer(query.text))[:limit]
        ranked = [(turns[at].id, turns[at].line) for at in best]
        return found(ranked, not ranked if self._may_find_nothing else None)

    def close(self) -> None:
        self._histories.clear()


def order(scores: Scores) -> NDArray[np.intp]:
    """The places of the matches, best first."""
    places = np.argsort(-scores, kind="stable")
    return places[scores[places] > 0]
