"""An inverted index in arrays, and BM25 over it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
MAX_TERM_COUNT = 255
"""The largest count of a term in a document; more occurrences count as this many."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings sorted by term, then document: `starts[i]:starts[i + 1]` are those of `codes[i]`."""

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    documents: NDArray[np.uint32]
    counts: NDArray[np.uint8]

    def find(self, code: int) -> slice:
        # A plain int would make numpy copy the whole array to a wider type.
        place = int(self.codes.searchsorted(np.uint32(code)))
        if place == len(self.codes) or self.codes[place] != code:
            return slice(0, 0)
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    def keys(self) -> NDArray[np.uint64]:
        codes = np.repeat(self.codes, np.diff(self.starts)).astype(np.uint64)
        return codes << np.uint64(32) | self.documents


class Postings:
    """The terms of documents numbered from zero, in segments that merge as they grow."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self.lengths: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)

    def add(self, documents: Iterable[NDArray[np.uint32]]) -> None:
        """Append documents, each given by the codes of its terms."""
        texts = list(documents)
        lengths = np.array([len(codes) for codes in texts], dtype=np.uint32)
        numbers = np.repeat(np.arange(len(texts), dtype=np.uint64) + len(self.lengths), lengths)
        self.lengths = np.concatenate([self.lengths, lengths])
        if not len(numbers):
            return
        keys = np.concatenate(texts).astype(np.uint64) << np.uint64(32) | numbers
        keys, counts = np.unique(keys, return_counts=True)
        self._push(_build_segment(keys, np.minimum(counts, MAX_TERM_COUNT).astype(np.uint8)))

    def find(self, code: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The documents with a term, and its count in each."""
        found = [(segment, segment.find(code)) for segment in self._segments]
        having = [(segment, where) for segment, where in found if where.stop]
        if len(having) == 1:
            ((segment, where),) = having
            return segment.documents[where], segment.counts[where]
        return (
            np.concatenate(
                [_NO_DOCUMENTS, *(segment.documents[where] for segment, where in having)]
            ),
            np.concatenate([_NO_COUNTS, *(segment.counts[where] for segment, where in having)]),
        )

    def count_documents(self, code: int) -> int:
        where = (segment.find(code) for segment in self._segments)
        return sum(some.stop - some.start for some in where)

    def fork(self) -> Postings:
        """An independent copy; segments are immutable and shared."""
        copy = Postings()
        copy._segments, copy.lengths = list(self._segments), self.lengths
        return copy

    view = fork

    def _push(self, segment: _Segment) -> None:
        """Merge segments of similar size, so that few remain."""
        while self._segments and len(self._segments[-1].documents) < 2 * len(segment.documents):
            older = self._segments.pop()
            keys = np.concatenate([older.keys(), segment.keys()])
            order = np.argsort(keys, kind="stable")
            counts = np.concatenate([older.counts, segment.counts])
            segment = _build_segment(keys[order], counts[order])
        self._segments.append(segment)


def inverse_document_frequency(matching: int, documents: int) -> float:
    """BM25's inverse document frequency, always positive."""
    return math.log1p((documents - matching + 0.5) / (matching + 0.5))


def compute_length_norms(lengths: NDArray[np.uint32] | NDArray[np.float32]) -> NDArray[np.float32]:
    """BM25's length normalisation, one value per document."""
    mean = float(lengths.mean()) if len(lengths) else 0.0
    share = np.float32(K1 * B / (mean or 1.0))
    found: NDArray[np.float32] = np.float32(K1 * (1 - B)) + share * lengths.astype(np.float32)
    return found


def score_term(
    counts: NDArray[Any], length_norms: NDArray[np.float32], weight: float
) -> NDArray[np.float32]:
    """The BM25 score of one term. Overwrites its second argument."""
    often = counts.astype(np.float32)
    length_norms += often
    often *= np.float32(weight * (K1 + 1))
    often /= length_norms
    return often


def _build_segment(keys: NDArray[np.uint64], counts: NDArray[np.uint8]) -> _Segment:
    codes, starts = np.unique((keys >> np.uint64(32)).astype(np.uint32), return_index=True)
    return _Segment(
        codes,
        np.append(starts, len(keys)),
        (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        counts,
    )


_NO_DOCUMENTS = np.zeros(0, dtype=np.uint32)
_NO_COUNTS = np.zeros(0, dtype=np.uint8)
