"""Vectors in memory, a quarter of their size, found by their main directions first.

The nearest found this way are those of the exact product in 99 of 100 cases: the measurements are
in docs/decisions/search-in-memory.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096
"""Rows per block: growing adds a block and never copies what is there."""

SKETCHED_FROM = 2 * BLOCK
"""From how many rows on a sketch is worth its memory."""

DIRECTIONS = 80
REFINED_LEAST, REFINED_SHARE = 330, 0.015
SAMPLED = 8

Floats = NDArray[np.float32]


def dots(rows: Floats, query: Floats) -> Floats:
    """The product of each row with a query.

    Row by row: a product with the whole matrix is shared among cores whose threads then wait for
    more by spinning, which doubles what a recall costs and makes it no faster.
    """
    products: Floats = np.vecdot(rows, query)
    return products


class Vectors:
    """Rows of length one, kept as bytes with a scale each; appended, never changed."""

    def __init__(self) -> None:
        self._blocks: list[NDArray[np.int8]] = []
        self._scales: list[Floats] = []
        self._sketch: _Sketch | None = None
        self.size = 0

    def add(self, rows: Sequence[Floats]) -> None:
        """Append rows."""
        if not len(rows):
            return
        matrix = np.asarray(rows, dtype=np.float32)
        scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / 127
        coarse = np.rint(matrix / scales[:, None]).astype(np.int8)
        for start in _pieces(self.size, len(rows)):
            self._fill(coarse[start], scales[start])
        if self._sketch is None and self.size >= SKETCHED_FROM:
            self._sketch = _Sketch(self._restored(range(0, self.size, self.size // BLOCK)))
            matrix = self._restored(range(self.size))
        if self._sketch is not None:
            self._sketch.add(matrix)

    def view(self) -> Vectors:
        """The rows there are now, whatever is added later."""
        copy = Vectors()
        copy._blocks, copy._scales = list(self._blocks), list(self._scales)
        copy._sketch, copy.size = self._sketch, self.size
        return copy

    def fork(self) -> Vectors:
        """A copy that can grow on its own."""
        copy = Vectors()
        copy._blocks = [*self._blocks[:-1], *(block.copy() for block in self._blocks[-1:])]
        copy._scales = [*self._scales[:-1], *(scales.copy() for scales in self._scales[-1:])]
        copy._sketch = self._sketch.fork() if self._sketch else None
        copy.size = self.size
        return copy

    def similarities(self, query: Floats) -> Floats:
        """The cosine of each row to the query: close for all, closer for those that matter."""
        if self._sketch is None:
            return self._products(query)
        found = self._sketch.products(query)[: self.size]
        count = max(REFINED_LEAST, int(REFINED_SHARE * self.size))
        for number, inside, where in _by_block(_highest(found, count)):
            block, scales = self._blocks[number], self._scales[number]
            found[where] = dots(block[inside].astype(np.float32), query) * scales[inside]
        return found

    def _products(self, query: Floats) -> Floats:
        found = np.empty(self.size, dtype=np.float32)
        for number, (block, scales) in enumerate(zip(self._blocks, self._scales, strict=True)):
            here = found[number * BLOCK : (number + 1) * BLOCK]
            coarse = block[: len(here)].astype(np.float32)
            here[:] = dots(coarse, query) * scales[: len(here)]
        return found

    def _restored(self, rows: Sequence[int]) -> Floats:
        """Rows as numbers again, in their order."""
        pieces = [
            self._blocks[number][inside] * self._scales[number][inside, None]
            for number, inside, _ in _by_block(np.asarray(rows, dtype=np.int64))
        ]
        return np.concatenate(pieces)

    def _fill(self, coarse: NDArray[np.int8], scales: Floats) -> None:
        used = self.size % BLOCK
        if not used:
            self._blocks.append(np.empty((BLOCK, coarse.shape[1]), dtype=np.int8))
            self._scales.append(np.empty(BLOCK, dtype=np.float32))
        self._blocks[-1][used : used + len(coarse)] = coarse
        self._scales[-1][used : used + len(coarse)] = scales
        self.size += len(coarse)


class _Sketch:
    """The rows along the directions in which they differ most."""

    def __init__(self, sample: Floats) -> None:
        _, directions = np.linalg.eigh(sample.T @ sample)
        self._directions = np.ascontiguousarray(directions.T[::-1][:DIRECTIONS], np.float32)
        self._blocks: list[Floats] = []
        self._size = 0

    def add(self, rows: Floats) -> None:
        drawn = rows @ self._directions.T
        for start in _pieces(self._size, len(rows)):
            used = self._size % BLOCK
            if not used:
                self._blocks.append(np.empty((BLOCK, drawn.shape[1]), dtype=np.float32))
            part = drawn[start]
            self._blocks[-1][used : used + len(part)] = part
            self._size += len(part)

    def fork(self) -> _Sketch:
        copy = object.__new__(_Sketch)
        copy._directions, copy._size = self._directions, self._size
        copy._blocks = [*self._blocks[:-1], *(block.copy() for block in self._blocks[-1:])]
        return copy

    def products(self, query: Floats) -> Floats:
        drawn = dots(self._directions, query)
        found = np.empty(self._size, dtype=np.float32)
        for number, block in enumerate(self._blocks):
            here = found[number * BLOCK : (number + 1) * BLOCK]
            here[:] = dots(block[: len(here)], drawn)
        return found


def _highest(scores: Floats, count: int) -> NDArray[np.int64]:
    """Where about so many of the highest scores are, in order; a sample tells how high."""
    some = scores[::SAMPLED]
    least = np.partition(some, -count // SAMPLED)[-count // SAMPLED]
    return np.flatnonzero(scores >= least)


def _by_block(
    rows: NDArray[np.int64],
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Ascending rows, block by block: its number, the rows within it, and the rows themselves."""
    for some in np.split(rows, np.flatnonzero(np.diff(rows // BLOCK)) + 1):
        yield int(some[0] // BLOCK), some % BLOCK, some


def _pieces(size: int, rows: int) -> list[slice]:
    """Where new rows are cut so that each piece fits into the block it goes to."""
    first = min(BLOCK - size % BLOCK, rows)
    starts = [0, *range(first, rows, BLOCK)]
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], rows], strict=True) if a < b]
