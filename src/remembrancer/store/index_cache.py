"""Caches the search indexes of recently searched owners and keeps them up to date."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Dialect, Select, Text, and_, bindparam, select

from remembrancer.store import tables
from remembrancer.store.prepared import PreparedStatement

if TYPE_CHECKING:
    from remembrancer.search.index import Index

DOCUMENT_BATCH_SIZE, VECTOR_BATCH_SIZE = 25_000, 2000
"""Read in batches, so that building an index needs no more memory than the index itself."""


@cache
def _prepare_counters(dialect: Dialect) -> PreparedStatement:
    table = tables.owners
    counters = (
        table.c.documents_added,
        table.c.documents_removed,
        table.c.vectors_added,
        table.c.created_at,
    )
    owner = bindparam("owner", "", Text())
    return PreparedStatement(select(*counters).where(table.c.owner_id == owner), dialect)


class IndexCache:
    """One index per owner and model; the least recently used are evicted."""

    def __init__(self, *, max_vectors: int, max_indexes: int = 64) -> None:
        self.max_vectors = max_vectors
        self._max_indexes = max_indexes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[tuple[str, str], Index] = OrderedDict()

    def get(self, owner_id: str, model: str) -> Index:
        """The owner's index, created if needed; call `refresh` before searching it."""
        from remembrancer.search.index import Index

        with self._lock:
            index = self._indexes.setdefault((owner_id, model), Index(model))
            self._indexes.move_to_end((owner_id, model))
            while len(self._indexes) > self._max_indexes:
                self._indexes.popitem(last=False)
            return index

    def list_owner_ids(self) -> set[str]:
        with self._lock:
            return {owner_id for owner_id, _ in self._indexes}

    def clear(self) -> None:
        with self._lock:
            self._indexes.clear()

    def invalidate(self) -> None:
        """Have all indexes read again: they may hold rows of a transaction that was rolled back."""
        with self._lock:
            known = list(self._indexes.values())
        for index in known:
            with index.lock:
                index.clear()

    def drop(self, owner_id: str) -> None:
        with self._lock:
            for key in [one for one in self._indexes if one[0] == owner_id]:
                del self._indexes[key]

    def refresh(
        self,
        index: Index,
        connection: Connection,
        dialect: Dialect,
        owner_id: str,
        fetch_vectors: Callable[[Select[Any]], Iterator[Any]],
    ) -> None:
        """Add what was stored since the last refresh; rebuild after removals. Hold the lock."""
        counters = _prepare_counters(dialect).fetch_rows(connection, {"owner": owner_id})
        documents, removed, rows, created_at = counters[0] if counters else (0, 0, 0, None)
        if created_at != index.sync_state.owner_created_at:  # erased, and perhaps created again
            index.clear()
            index.sync_state.owner_created_at = created_at
        # A reader of an older snapshot finds more here than it can see; its filter drops the rest.
        if removed > index.sync_state.removals:
            index.clear()
            index.sync_state.removals, index.sync_state.owner_created_at = removed, created_at
        if documents > index.sync_state.last_document or rows > index.sync_state.last_vector:
            # Rows committed between these statements are added by the next refresh.
            found = connection.execute(_select_documents(owner_id, index, documents))
            _extend_index(index, found, fetch_vectors(_select_vectors(owner_id, index, rows)))
            index.sync_state.last_document, index.sync_state.last_vector = documents, rows
            index.overflows = rows > self.max_vectors


def _extend_index(index: Index, documents: Iterable[Any], rows: Iterable[Any]) -> None:
    from remembrancer.search.index import DocumentRow, VectorRow

    entries = map(DocumentRow._make, documents)
    while batch := list(islice(entries, DOCUMENT_BATCH_SIZE)):
        index.extend(batch, [])
    vectors = map(VectorRow._make, rows)
    while vector_batch := list(islice(vectors, VECTOR_BATCH_SIZE)):
        index.extend([], vector_batch)


def _select_documents(owner_id: str, index: Index, last: int) -> Select[Any]:
    documents, turns = tables.documents, tables.turns
    unseen = documents.c.number > index.sync_state.last_document
    placed = and_(turns.c.owner_id == owner_id, turns.c.id == documents.c.id)
    return (
        select(
            documents.c.number,
            documents.c.id,
            documents.c.kind,
            documents.c.codes,
            documents.c.marks,
            turns.c.session_id,
            turns.c.position,
            turns.c.role,
            turns.c.speaker,
            turns.c.valid_from,
        )
        .join_from(documents, turns, placed, isouter=True)
        .where(documents.c.owner_id == owner_id, unseen, documents.c.number <= last)
        .order_by(documents.c.number)
    )


def _select_vectors(owner_id: str, index: Index, last: int) -> Select[Any]:
    table = tables.embeddings
    unseen = table.c.number > index.sync_state.last_vector
    return (
        select(table.c.number, table.c.memory_id, table.c.marks, table.c.vector)
        .where(table.c.owner_id == owner_id, table.c.model == index.embedding_model)
        .where(unseen, table.c.number <= last, ~table.c.crowded)
        .order_by(table.c.number)
    )
