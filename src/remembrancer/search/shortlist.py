"""Looking things up in one person's memories: plain arithmetic over arrays, no I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import EvidenceWeights
from remembrancer.search.index import KINDS, Index
from remembrancer.search.query import ParsedQuery
from remembrancer.search.scoring import compute_base_scores, compute_score_parts
from remembrancer.search.signals import Signals
from remembrancer.types import Kind

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

BATCH_SIZE = 500
MAX_SHORTLIST = 512
"""How many of the best by their own words and meaning are weighed with all signals."""

__all__ = ["Search", "Shortlist", "build_search", "iter_by_score"]


@dataclass(frozen=True, slots=True)
class Search:
    """A question compared with every document; documents are told by their place in the index."""

    index: Index
    question: ParsedQuery
    signals: Signals
    weights: EvidenceWeights
    base_scores: Floats

    def shortlist(self, kinds: Sequence[Kind]) -> Shortlist:
        """With all signals: the best for themselves, and all standing instructions."""
        places = _filter_kinds(self.index, np.arange(len(self.index)), kinds)
        if len(places) > MAX_SHORTLIST:
            standing = _filter_kinds(
                self.index, self.signals.traits.instruction_places[:MAX_SHORTLIST], kinds
            )
            places = places[
                np.argpartition(self.base_scores[places], -MAX_SHORTLIST)[-MAX_SHORTLIST:]
            ]
            places = np.union1d(places, standing) if len(standing) else places
        return Shortlist(self, kinds, places, self.compute_parts(places))

    def compute_parts(self, places: Places) -> Mapping[str, Floats]:
        """What adds up to the scores at some places."""
        return compute_score_parts(
            self.signals, self.question, self.weights, self.base_scores, places
        )

    def estimate_relevance(self, ids: Sequence[str]) -> float:
        """How likely it is that the best of these are about what is asked at all.

        It tells another topic from the same one, not a near miss from the answer.
        """
        places = [self.index.places[one] for one in ids[:3]]
        if not places:
            return 0.0
        similar = max(0.0, float(self.signals.similarity[places].max()))
        covered = float(self.signals.bm25[places].max()) / (self.signals.best_bm25 or 1.0)
        return 1 / (1 + math.exp(-(10 * similar + 4 * covered - 4.3)))

    def normalised_scores(self, memory_id: str) -> Mapping[str, float]:
        """A document's scores by words and meaning, from 0 to about 1."""
        place = self.index.places[memory_id]
        similarity = float(np.clip(self.signals.similarity[place], 0, 1))
        words = float(self.signals.bm25[place]) / self.signals.words_scale
        return {"meaning": similarity, "words": words}


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The places of a search that are worth weighing, and what adds up to their scores."""

    search: Search
    kinds: Sequence[Kind]
    places: Places
    score_parts: Mapping[str, Floats]

    def iter_best(
        self, weights: Mapping[Kind, float], first_batch_size: int
    ) -> Iterator[list[int]]:
        """Places by score, the kinds weighed, in batches; what is far behind, by its own score."""
        index = self.search.index
        by_kind = np.array([weights.get(kind, 1.0) for kind in KINDS], dtype=np.float32)
        scores = np.sum(list(self.score_parts.values()), axis=0, dtype=np.float32)
        scores *= by_kind[index.kinds.values[self.places]]
        ahead = self.places[np.lexsort((self.places, -scores))].tolist()
        yield from _iter_growing_batches(ahead, first_batch_size)
        seen = set(ahead)
        for batch in iter_by_score(index, self.search.base_scores, self.kinds, BATCH_SIZE):
            yield [place for place in batch if place not in seen]

    def explain(self, place: int) -> Mapping[str, float]:
        """What speaks for a document and against it."""
        where = np.flatnonzero(self.places == place)
        if len(where):
            found, at = self.score_parts, where[0]
        else:
            found, at = self.search.compute_parts(np.array([place])), 0
        return {name: value for name, part in found.items() if (value := float(part[at]))}


def build_search(
    index: Index,
    question: ParsedQuery,
    signals: Signals,
    similarity: Floats,
    weights: EvidenceWeights,
) -> Search:
    """A question compared with everything, by words and by meaning."""
    matched = replace(signals, similarity=similarity)
    return Search(index, question, matched, weights, compute_base_scores(matched, weights))


def iter_by_score(
    index: Index,
    scores: Floats,
    kinds: Sequence[Kind],
    first_batch_size: int,
    *,
    above: float = -math.inf,
) -> Iterator[list[int]]:
    """Places by score in batches, the first of a given size, equal scores as they were stored."""
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
    """In batches, each larger than the one before: mostly the first is enough, or the second."""
    start = 0
    while start < len(places):
        yield places[start : start + size]
        start, size = start + size, min(4 * size, BATCH_SIZE)


def _filter_kinds(index: Index, places: Places, kinds: Sequence[Kind]) -> Places:
    """Those of some places that are of these kinds."""
    wanted = np.zeros(len(KINDS), dtype=np.bool_)
    wanted[[KINDS.index(kind) for kind in kinds]] = True
    found: Places = places if wanted.all() else places[wanted[index.kinds.values[places]]]
    return found


def _sort_by_score(places: Places, scores: Floats) -> list[int]:
    found: list[int] = places[np.lexsort((places, -scores[places]))].tolist()
    return found
