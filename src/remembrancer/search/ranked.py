"""Looking things up in one person's memories: plain arithmetic over arrays, no I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import EvidenceWeights
from remembrancer.search.index import KINDS, Index
from remembrancer.search.query import Question
from remembrancer.search.scoring import own, parts
from remembrancer.search.signals import Match
from remembrancer.types import Kind

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

BATCH = 500
WEIGHED = 512
"""How many of the best by their own words and meaning are weighed with all signals."""

__all__ = ["Search", "Weighed", "best_first", "searched"]


@dataclass(frozen=True, slots=True)
class Search:
    """A question compared with every document; documents are told by their place in the index."""

    index: Index
    question: Question
    match: Match
    weights: EvidenceWeights
    own: Floats

    def weighed(self, kinds: Sequence[Kind]) -> Weighed:
        """With all signals: the best for themselves, and all standing instructions."""
        places = _of(self.index, np.arange(len(self.index)), kinds)
        if len(places) > WEIGHED:
            standing = _of(self.index, self.match.traits.standing[:WEIGHED], kinds)
            places = places[np.argpartition(self.own[places], -WEIGHED)[-WEIGHED:]]
            places = np.union1d(places, standing) if len(standing) else places
        return Weighed(self, kinds, places, self.parts(places))

    def parts(self, places: Places) -> Mapping[str, Floats]:
        """What adds up to the scores at some places."""
        return parts(self.match, self.question, self.weights, self.own, places)

    def sureness(self, ids: Sequence[str]) -> float:
        """How likely it is that the best of these are about what is asked at all.

        It tells another topic from the same one, not a near miss from the answer.
        """
        places = [self.index.places[one] for one in ids[:3]]
        if not places:
            return 0.0
        similar = max(0.0, float(self.match.similarity[places].max()))
        covered = float(self.match.bm25[places].max()) / (self.match.best_bm25 or 1.0)
        return 1 / (1 + math.exp(-(10 * similar + 4 * covered - 4.3)))

    def normalised(self, memory_id: str) -> Mapping[str, float]:
        """A document's scores by words and meaning, from 0 to about 1."""
        place = self.index.places[memory_id]
        similarity = float(np.clip(self.match.similarity[place], 0, 1))
        words = float(self.match.bm25[place]) / self.match.words_scale
        return {"meaning": similarity, "words": words}


@dataclass(frozen=True, slots=True)
class Weighed:
    """The places of a search that are worth weighing, and what adds up to their scores."""

    search: Search
    kinds: Sequence[Kind]
    places: Places
    parts: Mapping[str, Floats]

    def best(self, weights: Mapping[Kind, float], first: int) -> Iterator[list[int]]:
        """Places by score, the kinds weighed, in batches; what is far behind, by its own score."""
        index = self.search.index
        by_kind = np.array([weights.get(kind, 1.0) for kind in KINDS], dtype=np.float32)
        scores = np.sum(list(self.parts.values()), axis=0, dtype=np.float32)
        scores *= by_kind[index.kinds.values[self.places]]
        ahead = self.places[np.lexsort((self.places, -scores))].tolist()
        yield from _growing(ahead, first)
        seen = set(ahead)
        for batch in best_first(index, self.search.own, self.kinds, BATCH):
            yield [place for place in batch if place not in seen]

    def evidence(self, place: int) -> Mapping[str, float]:
        """What speaks for a document and against it."""
        where = np.flatnonzero(self.places == place)
        if len(where):
            found, at = self.parts, where[0]
        else:
            found, at = self.search.parts(np.array([place])), 0
        return {name: value for name, part in found.items() if (value := float(part[at]))}


def searched(
    index: Index, question: Question, signals: Match, similarity: Floats, weights: EvidenceWeights
) -> Search:
    """A question compared with everything, by words and by meaning."""
    matched = replace(signals, similarity=similarity)
    return Search(index, question, matched, weights, own(matched, weights))


def best_first(
    index: Index, scores: Floats, kinds: Sequence[Kind], first: int, *, above: float = -math.inf
) -> Iterator[list[int]]:
    """Places by score in batches, the first of a given size, equal scores as they were stored."""
    places = np.flatnonzero(scores > above)
    places = _of(index, places, kinds)
    if len(places) > first:
        top = places[np.argpartition(-scores[places], first)[:first]]
        yield _sorted(top, scores)
        places = np.setdiff1d(places, top, assume_unique=True)
    if len(places):
        ordered = _sorted(places, scores)
        for start in range(0, len(ordered), BATCH):
            yield ordered[start : start + BATCH]


def _growing(places: list[int], size: int) -> Iterator[list[int]]:
    """In batches, each larger than the one before: mostly the first is enough, or the second."""
    start = 0
    while start < len(places):
        yield places[start : start + size]
        start, size = start + size, min(4 * size, BATCH)


def _of(index: Index, places: Places, kinds: Sequence[Kind]) -> Places:
    """Those of some places that are of these kinds."""
    wanted = np.zeros(len(KINDS), dtype=np.bool_)
    wanted[[KINDS.index(kind) for kind in kinds]] = True
    found: Places = places if wanted.all() else places[wanted[index.kinds.values[places]]]
    return found


def _sorted(places: Places, scores: Floats) -> list[int]:
    found: list[int] = places[np.lexsort((places, -scores[places]))].tolist()
    return found
