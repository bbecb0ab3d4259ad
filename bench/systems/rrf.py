"""Reciprocal rank fusion of the bm25 and dense baselines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.data import Turn
from bench.systems.bm25 import bm25
from bench.systems.dense import dense, embed_with
from bench.systems.scored import Scored, Scorer, order
from remembrancer.embed.local import LocalEmbedder

K = 60


def start(place: str) -> Scored:
    embedder = LocalEmbedder()

    def fused(turns: tuple[Turn, ...]) -> Scorer:
        scorers = (bm25(turns), dense(embedder)(turns))

        def scorer(question: str) -> NDArray[np.float64]:
            scores = np.zeros(len(turns))
            for one in scorers:
                ranked = order(one(question))
                scores[ranked] += 1 / (K + 1 + np.arange(len(ranked)))
            return scores

        return scorer

    return Scored(fused, embed_with(embedder), may_find_nothing=False)
