"""The vectors of one SQLite file in memory: exact search that others' writes refresh."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Label, literal_column, select

from remembrancer.store import tables
from remembrancer.store.contract import Hit

ROWID: Label[int] = literal_column("embeddings.rowid").label("rowid")


class VectorIndex:
    """All vectors of one model in one file, as the rows of a matrix.

    The owner's row counts vectors added and removed. Rows are only ever appended, so a higher count
    of additions means reading the new rows; any removal means reading everything again.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._ids: list[str] = []
        self._matrix: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)
        self._size = self._added = self._removed = self._last_row = 0

    def search(
        self, connection: Connection, owner_id: str, query: NDArray[np.float32], first: int
    ) -> Iterator[list[Hit]]:
        """Memories in order of similarity, in batches that grow from `first` until all are seen."""
        with self._lock:
            self._refresh(connection, owner_id)
            ids, matrix = self._ids[: self._size], self._matrix[: self._size]
        return _ranked(ids, matrix, query, first)

    def _refresh(self, connection: Connection, owner_id: str) -> None:
        owners = tables.owners
        counts = connection.execute(
            select(owners.c.vectors_added, owners.c.vectors_removed).where(
                owners.c.owner_id == owner_id
            )
        ).first()
        added, removed = counts if counts else (0, 0)
        if removed != self._removed:
            self._clear()
            self._removed = removed
        # A reader of an older snapshot finds more here than it may see; its filter drops the rest.
        if added > self._added:
            self._read_new(connection, owner_id)
            self._added = added

    def _read_new(self, connection: Connection, owner_id: str) -> None:
        table = tables.embeddings
        query = (
            select(ROWID, table.c.memory_id, table.c.vector)
            .where(table.c.owner_id == owner_id, table.c.model == self._model)
            .where(self._last_row < ROWID)
            .order_by(ROWID)
        )
        rows = connection.execute(query).all()
        if not rows:
            return
        self._grow(len(rows), len(rows[0].vector))
        for row in rows:
            self._matrix[self._size] = row.vector
            self._ids.append(row.memory_id)
            self._size += 1
        self._last_row = rows[-1].rowid

    def _grow(self, rows: int, dimensions: int) -> None:
        """Make room; the old matrix is left alone, as a search may still be reading it."""
        needed = self._size + rows
        if needed > len(self._matrix):
            grown = np.zeros((max(needed, 2 * len(self._matrix)), dimensions), dtype=np.float32)
            if self._size:
                grown[: self._size] = self._matrix[: self._size]
            self._matrix = grown

    def _clear(self) -> None:
        self._ids = []
        self._matrix = np.zeros((0, 0), dtype=np.float32)
        self._size = self._added = self._removed = self._last_row = 0


def _ranked(
    ids: list[str], matrix: NDArray[np.float32], query: NDArray[np.float32], first: int
) -> Iterator[list[Hit]]:
    if not ids:
        return
    scores = np.asarray(matrix @ query, dtype=np.float64).round(6)
    seen: set[str] = set()
    start, size = 0, first
    while start < len(ids):
        stop = min(start + size, len(ids))
        batch = {ids[i]: float(scores[i]) for i in reversed(_best(scores, stop)[start:])}
        yield [Hit(id_, score) for id_, score in reversed(batch.items()) if id_ not in seen]
        seen |= batch.keys()
        start, size = stop, size * 4


def _best(scores: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """The indexes of the `count` highest scores, best first; equal scores keep the order of age."""
    if count >= len(scores):
        return np.argsort(-scores, kind="stable")
    threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
    certain = np.flatnonzero(scores > threshold)
    tied = np.flatnonzero(scores == threshold)[: count - len(certain)]
    chosen = np.concatenate([certain, tied])
    return chosen[np.lexsort((chosen, -scores[chosen]))]
