"""Ranks the documents of one person's index for a query: arithmetic over arrays, no I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import EvidenceWeights
from remembrancer.search.index import KINDS, Index
from remembrancer.search.query import ParsedQuery
from remembrancer.search.scoring import compute_base_scores, compute_score_parts
from remembrancer.search.signals import Signals, compute_signals
from remembrancer.types import Kind

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

BATCH_SIZE = 500
MAX_SHORTLIST = 512
"""How many of the best documents by base score are scored with all signals."""


@dataclass(frozen=True, slots=True)
class Search:
    """A query compared with every document of an index.

    A document is identified by its place in the index.
    """

    index: Index
    query: ParsedQuery
    signals: Signals
    weights: EvidenceWeights
    base_scores: Floats

    def shortlist(self, kinds: Sequence[Kind], kind_weights: Mapping[Kind, float]) -> Shortlist:
        """The best documents by base score, and all standing instructions, with all signals."""
        places = _filter_kinds(self.index, np.arange(len(self.index)), kinds)
        if len(places) > MAX_SHORTLIST:
            instructions = self.signals.traits.instruction_places[:MAX_SHORTLIST]
            instructions = _filter_kinds(self.index, instructions, kinds)
            best = np.argpartition(self.base_scores[places], -MAX_SHORTLIST)[-MAX_SHORTLIST:]
            places = places[best]
            places = np.union1d(places, instructions) if len(instructions) else places
        by_kind = np.array([kind_weights.get(kind, 1.0) for kind in KINDS])
        return Shortlist(self, kinds, by_kind, places, self.score_parts(places, by_kind))

    def score_parts(
        self, places: Places, by_kind: NDArray[np.float64]
    ) -> Mapping[str, NDArray[np.float64]]:
        """The terms that add up to the scores at some places, weighted by kind."""
        parts = compute_score_parts(
            self.signals, self.query, self.weights, self.base_scores, places
        )
        weights = by_kind[self.index.kinds.values[places]]
        return {name: part * weights for name, part in parts.items()}

    def estimate_relevance(self, ids: Sequence[str]) -> float:
        """The probability that the best of these memories are on the topic of the query.

        It tells another topic from the same one, not a near miss from the answer.
        """
        places = [self.index.places[memory_id] for memory_id in ids[:3]]
        if not places:
            return 0.0
        similarity = max(0.0, float(self.signals.similarity[places].max()))
        covered = float(self.signals.bm25[places].max()) / (self.signals.best_bm25 or 1.0)
        return 1 / (1 + math.exp(-(10 * similarity + 4 * covered - 4.3)))

    def normalised_scores(self, memory_id: str) -> Mapping[str, float]:
        """The similarity and the BM25 score of a document, from 0 to about 1."""
        place = self.index.places[memory_id]
        similarity = float(np.clip(self.signals.similarity[place], 0, 1))
        words = float(self.signals.bm25[place]) / self.signals.words_scale
        return {"meaning": similarity, "words": words}


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The documents that are scored with all signals."""

    search: Search
    kinds: Sequence[Kind]
    by_kind: NDArray[np.float64]
    places: Places
    score_parts: Mapping[str, NDArray[np.float64]]

    def iter_places(self, first_batch_size: int) -> Iterator[list[int]]:
        """Places by score in batches; after the shortlist, the others by base score."""
        scores = np.sum(list(self.score_parts.values()), axis=0)
        ahead = self.places[np.lexsort((self.places, -scores))].tolist()
        yield from _iter_growing_batches(ahead, first_batch_size)
        seen = set(ahead)
        search = self.search
        for batch in iter_by_score(search.index, search.base_scores, self.kinds, BATCH_SIZE):
            yield [place for place in batch if place not in seen]

    def list_places(self, kind: Kind, *, above: float) -> list[int]:
        """The places of one kind on the shortlist with a score above a value."""
        scores = np.sum(list(self.score_parts.values()), axis=0)
        found = _filter_kinds(self.search.index, self.places[scores > above], (kind,))
        return [int(place) for place in found]

    def score(self, place: int) -> float:
        return sum(self.explain(place).values())

    def explain(self, place: int) -> Mapping[str, float]:
        """The terms of a document's score that are not zero."""
        position = np.flatnonzero(self.places == place)
        if len(position):
            parts, at = self.score_parts, position[0]
        else:
            parts, at = self.search.score_parts(np.array([place]), self.by_kind), 0
        return {name: value for name, part in parts.items() if (value := float(part[at]))}


def compare(
    index: Index, query: ParsedQuery, similarity: Floats, weights: EvidenceWeights
) -> Search:
    """Compare a query with every document; `similarity` is that of their vectors."""
    signals = compute_signals(index, query, similarity)
    return Search(index, query, signals, weights, compute_base_scores(signals, weights))


def iter_by_score(
    index: Index,
    scores: Floats,
    kinds: Sequence[Kind],
    first_batch_size: int,
    *,
    above: float = -math.inf,
) -> Iterator[list[int]]:
    """Places by score in batches; equal scores in the order they were stored."""
    places = np.flatnonzero(scores > above)
    places = _filter_kinds(index, places, kinds)
    if len(places) > first_batch_size:
        top = places[np.argpartition(-scores[places], first_batch_size)[:first_batch_size]]
        yield _sort_by_score(top, scores)
        places = np.setdiff1d(places, top, assume_unique=True)
    if len(places):
        ordered = _sort_by_score(places, scores)
        for start in range(0, len(ordered), BATCH_SIZE):
            yield ordered[start : start + BATCH_SIZE]


def _iter_growing_batches(places: list[int], size: int) -> Iterator[list[int]]:
    """Batches of growing size: mostly the first is enough, or the second."""
    start = 0
    while start < len(places):
        yield places[start : start + size]
        start, size = start + size, min(4 * size, BATCH_SIZE)


def _filter_kinds(index: Index, places: Places, kinds: Sequence[Kind]) -> Places:
    wanted = np.zeros(len(KINDS), dtype=np.bool_)
    wanted[[KINDS.index(kind) for kind in kinds]] = True
    found: Places = places if wanted.all() else places[wanted[index.kinds.values[places]]]
    return found


def _sort_by_score(places: Places, scores: Floats) -> list[int]:
    found: list[int] = places[np.lexsort((places, -scores[places]))].tolist()
    return found
