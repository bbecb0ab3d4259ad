"""Okapi BM25 over the terms that our own search uses."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from bench.data import Turn
from bench.systems.scored import Scored, Scorer
from remembrancer.search.terms import extract_terms

K1 = 1.2
B = 0.75


def start(place: str) -> Scored:
    return Scored(bm25)


def bm25(turns: tuple[Turn, ...]) -> Scorer:
    """An index of the turns."""
    counts = [Counter(extract_terms(turn.line)) for turn in turns]
    lengths = np.array([count.total() for count in counts])
    norms = K1 * (1 - B + B * lengths / lengths.mean())
    weights = {term: _weights(*where, norms) for term, where in _postings(counts).items()}

    def scorer(question: str) -> NDArray[np.float64]:
        scores = np.zeros(len(turns))
        for term in extract_terms(question):
            if term in weights:
                places, values = weights[term]
                scores[places] += values
        return scores

    return scorer


Places = NDArray[np.int64]
Values = NDArray[np.float64]


def _postings(counts: list[Counter[str]]) -> dict[str, tuple[list[int], list[int]]]:
    """In which turns each term occurs, and how often."""
    postings: dict[str, tuple[list[int], list[int]]] = {}
    for at, count in enumerate(counts):
        for term, occurrences in count.items():
            places, often = postings.setdefault(term, ([], []))
            places.append(at)
            often.append(occurrences)
    return postings


def _weights(places: list[int], often: list[int], norms: Values) -> tuple[Places, Values]:
    at, count = np.array(places), np.array(often)
    rarity = np.log(1 + (len(norms) - len(at) + 0.5) / (len(at) + 0.5))
    return at, rarity * count * (K1 + 1) / (count + norms[at])
