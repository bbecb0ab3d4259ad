"""One person's documents in memory, as growable arrays; `signals` compares them with a query."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from remembrancer.ids import id_timestamp
from remembrancer.search.postings import Postings
from remembrancer.search.vectors import Vectors
from remembrancer.types import Kind

PASSAGE_TURNS = 8
"""Consecutive turns per passage of a session."""

KINDS = tuple(Kind)
GENERIC_SPEAKERS = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot"})
SECONDS_PER_DAY = 86_400.0


class DocumentRow(NamedTuple):
    """A document as the store has it; only turns have a position in a session."""

    number: int
    id: str
    kind: str
    codes: bytes
    marks: int
    session_id: str | None
    position: int | None
    role: str | None
    speaker: str | None
    said_at: datetime | None


class VectorRow(NamedTuple):
    """A vector of a document, or of a part of it."""

    number: int
    memory_id: str
    marks: int
    vector: NDArray[np.float32]


class GrowableArray:
    """An append-only array; slices taken before stay valid."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer: NDArray[Any] = np.zeros(64, dtype=dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        return self._buffer[: self.size]

    def extend(self, values: Sequence[Any] | NDArray[Any]) -> None:
        needed = self.size + len(values)
        if needed > len(self._buffer):
            room = np.zeros(needed + needed // 2, dtype=self._buffer.dtype)
            room[: self.size] = self.values
            self._buffer = room
        self._buffer[self.size : needed] = values
        self.size = needed

    def view(self) -> GrowableArray:
        copy = GrowableArray(self._buffer.dtype)
        copy._buffer, copy.size = self._buffer, self.size
        return copy

    def fork(self) -> GrowableArray:
        copy = GrowableArray(self._buffer.dtype)
        copy.extend(self.values)
        return copy


@dataclass(slots=True)
class SyncState:
    """How far the store's rows have been read, and how many removals were seen."""

    last_document: int = 0
    last_vector: int = 0
    removals: int = 0
    owner_created_at: object = None


class Index:
    """The searchable documents of one person, with the vectors of one model.

    Documents and vectors are numbered by the store in the order they were stored, and appended here
    in that order. The lock is held while the index is updated; a view, taken under the lock, can
    be read at any time. `derived` caches expensive results until something is added. An index
    back that would be too many for memory.
    """

    def __init__(self, embedding_model: str) -> None:
        self.embedding_model = embedding_model
        self.lock = threading.RLock()
        self.sync_state = SyncState()
        self.overflows = False
        self._clear()

    def _clear(self) -> None:
        self.ids: list[str] = []
        self.places: dict[str, int] = {}
        self.words, self.pairs = Postings(), Postings()
        self.vectors = Vectors()
        self.kinds, self.marks = GrowableArray(np.uint8), GrowableArray(np.uint8)
        self.sessions, self.passages = GrowableArray(np.int32), GrowableArray(np.int32)
        self.previous, self.following = GrowableArray(np.int32), GrowableArray(np.int32)
        self.speakers, self.by_user = GrowableArray(np.int32), GrowableArray(np.bool_)
        self.said_days = GrowableArray(np.float64)
        self.row_documents, self.row_marks = GrowableArray(np.int32), GrowableArray(np.uint8)
        self.cache: dict[str, Any] = {}
        self._view: Index | None = None
        self._numbering = _Numbering()

    def clear(self) -> None:
        """Clear the index, to be read again."""
        self.sync_state = SyncState()
        self._clear()

    def __len__(self) -> int:
        return self.kinds.size

    @property
    def speaker_names(self) -> list[str]:
        """Speakers by number; unnamed speakers have number 0."""
        return self._numbering.speakers

    def extend(self, entries: Sequence[DocumentRow], rows: Sequence[VectorRow]) -> None:
        """Add rows that are new since the last call."""
        self.cache = {}
        self._view = None
        if entries:
            self._add_documents(entries)
        known = [row for row in rows if row.memory_id in self.places]
        self.vectors.add([row.vector for row in known])
        self.row_documents.extend([self.places[row.memory_id] for row in known])
        self.row_marks.extend([row.marks for row in known])

    def _add_documents(self, entries: Sequence[DocumentRow]) -> None:
        first = len(self.ids)
        for place, entry in enumerate(entries, first):
            self.ids.append(entry.id)
            self.places[entry.id] = place
        texts = [np.frombuffer(entry.codes, dtype="<u4") for entry in entries]
        self.words.add(texts)
        self.pairs.add([pair_codes(codes) for codes in texts])
        self.kinds.extend([KINDS.index(Kind(entry.kind)) for entry in entries])
        self.marks.extend([entry.marks for entry in entries])
        self.said_days.extend(
            [(e.said_at or id_timestamp(e.id)).timestamp() / SECONDS_PER_DAY for e in entries]
        )
        self.by_user.extend([entry.role in (None, "user") for entry in entries])
        self.speakers.extend([self._numbering.number_speaker(entry) for entry in entries])
        self.sessions.extend([self._numbering.number_session(entry) for entry in entries])
        self.passages.extend([self._numbering.number_passage(entry) for entry in entries])
        self._chain_turns(entries, first)

    def _chain_turns(self, entries: Sequence[DocumentRow], first: int) -> None:
        """Link each turn to the previous and the following one."""
        self.previous.extend(np.full(len(entries), -1))
        self.following.extend(np.full(len(entries), -1))
        for place, entry in enumerate(entries, first):
            earlier = self._numbering.find_previous(entry)
            self._numbering.record_place(entry, place)
            if earlier >= 0:
                self.previous.values[place] = earlier
                self.following.values[earlier] = place

    def view(self) -> Index:
        """A read-only snapshot."""
        if self._view is None:
            view = Index.__new__(Index)
            for name, value in vars(self).items():
                setattr(view, name, value.view() if isinstance(value, _COPIED_TYPES) else value)
            self._view = view
        return self._view

    def fork(self) -> Index:
        """A copy to which one writer adds its uncommitted rows."""
        copy = Index(self.embedding_model)
        copy.sync_state = SyncState(
            self.sync_state.last_document, self.sync_state.last_vector, self.sync_state.removals
        )
        copy.overflows = self.overflows
        copy.ids, copy.places = self.ids.copy(), self.places.copy()
        copy._numbering = self._numbering.fork()
        for name, value in vars(self).items():
            if isinstance(value, _COPIED_TYPES):
                setattr(copy, name, value.fork())
        return copy


_COPIED_TYPES = (GrowableArray, Vectors, Postings)


@dataclass(slots=True)
class _Numbering:
    """Numbers sessions, passages and speakers, and keeps the last turns of each session."""

    sessions: dict[str, int] = field(default_factory=dict)
    passages: dict[tuple[int, int], int] = field(default_factory=dict)
    speakers: list[str] = field(default_factory=lambda: [""])
    _numbers: dict[str, int] = field(default_factory=dict)
    _latest: dict[str, tuple[int, int]] = field(default_factory=dict)

    def number_session(self, entry: DocumentRow) -> int:
        if entry.session_id is None or entry.position is None:
            return -1
        return self.sessions.setdefault(entry.session_id, len(self.sessions))

    def number_passage(self, entry: DocumentRow) -> int:
        if entry.position is None:
            return -1
        key = (self.number_session(entry), entry.position // PASSAGE_TURNS)
        return self.passages.setdefault(key, len(self.passages))

    def number_speaker(self, entry: DocumentRow) -> int:
        name = (entry.speaker or "").strip()
        if not name or name.casefold() in GENERIC_SPEAKERS:
            return 0
        if name not in self._numbers:
            self._numbers[name] = len(self.speakers)
            self.speakers.append(name)
        return self._numbers[name]

    def find_previous(self, entry: DocumentRow) -> int:
        """The place of the previous turn, if turns arrived in order."""
        if entry.session_id is None or entry.position is None:
            return -1
        position, place = self._latest.get(entry.session_id, (-1, -1))
        return place if position == entry.position - 1 else -1

    def record_place(self, entry: DocumentRow, place: int) -> None:
        if entry.session_id is not None and entry.position is not None:
            self._latest[entry.session_id] = (entry.position, place)

    def fork(self) -> _Numbering:
        return _Numbering(
            dict(self.sessions),
            dict(self.passages),
            list(self.speakers),
            dict(self._numbers),
            dict(self._latest),
        )


def pair_codes(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """One code per pair of consecutive terms."""
    return codes[:-1] * np.uint32(0x9E3779B1) ^ codes[1:]
