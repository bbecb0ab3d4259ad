"""Exact cosine similarity of our own embedder's vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bench.data import Turn
from bench.systems.scored import Scored, Scorer
from remembrancer.embed.local import LocalEmbedder


def start(place: str) -> Scored:
    embedder = LocalEmbedder()
    return Scored(dense(embedder), embed_with(embedder), may_find_nothing=False)


def dense(embedder: LocalEmbedder) -> Callable[[tuple[Turn, ...]], Scorer]:
    def index(turns: tuple[Turn, ...]) -> Scorer:
        vectors = embedder.embed([turn.line for turn in turns])

        def scorer(question: str) -> NDArray[np.float32]:
            similarity: NDArray[np.float32] = vectors @ embedder.embed([question])[0]
            return similarity + 1  # every turn is a match, if a bad one

        return scorer

    return index


def embed_with(embedder: LocalEmbedder) -> Callable[[str], object]:
    return lambda text: embedder.embed([text])
