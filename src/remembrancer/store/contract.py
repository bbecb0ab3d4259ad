"""What the engine asks of a store, and the rules every store keeps.

- A transaction is bound to one owner. Nothing it is asked can reach another owner's rows: a foreign
  id behaves exactly like one that does not exist.
- `writing` lets one writer of an owner in at a time, across threads and processes, so what a writer
  reads stays true until it commits. Readers never wait for writers.
- Leaving the block commits; an exception rolls everything back, the event included.
- `apply` is the only way to change memories. It records what each write did in the event, and keeps
  the past state whenever status or validity change, so that `as_of` can be answered exactly.
- Vectors of different models are never compared. Similarities are rounded to six digits and ties
  are broken by id, so that both engines give the same order.
- Reading for an owner who has nothing creates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from remembrancer.types import (
    Action,
    Event,
    Json,
    Kind,
    Link,
    Owner,
    Record,
    Session,
    Source,
    State,
    Status,
    Turn,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.search.index import Index

HELD = (Status.ACTIVE, Status.SUPERSEDED)
"""What may be true at some moment; a superseded fact was true until its successor's time began."""

MUTABLE = frozenset(
    "status valid_until retired_at expires_at confirmed_at confidence importance permanence tags "
    "maturity applied_count success_count harmful_count applied_at "
    "backlog attempts leased_until failure".split()
)
"""The fields of a memory that may change; its words never do."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which scopes a call may see: those named, those below a path, or all when both are None."""

    scopes: tuple[str, ...] | None = None
    below: str | None = None
    episodes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories a read is about; `statuses` is for listings beyond what is in force."""

    now: datetime
    kinds: tuple[Kind, ...] = (Kind.FACT, Kind.RULE, Kind.EPISODE)
    visible: Visibility = Visibility()
    known_at: datetime | None = None
    true_at: datetime | None = None
    statuses: tuple[Status, ...] | None = None
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    minimum_importance: float = 0
    subject: str | None = None
    predicate: str | None = None
    source: Source | None = None
    fingerprint: str | None = None
    lineage: str | None = None
    retired_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class Embedding:
    """A vector, the model that made it, and the part of the text it is of; 0 is the whole."""

    model: str
    vector: NDArray[np.float32]
    part: int = 0
    marks: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found by one kind of search, with that search's score; higher is better."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a listing that goes from the newest to the oldest."""

    at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Store a new memory with its embedding, or with one for each of its parts."""

    record: Record
    embedding: Embedding | None
    parts: tuple[Embedding, ...] = ()

    @property
    def embeddings(self) -> tuple[Embedding, ...]:
        """All of them."""
        return self.parts or ((self.embedding,) if self.embedding is not None else ())


@dataclass(frozen=True, slots=True)
class Patch:
    """Change mutable fields of a memory."""

    id: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Purge:
    """Destroy a memory and every trace of its words."""

    id: str


@dataclass(frozen=True, slots=True)
class AddLink:
    """Relate two memories."""

    link: Link


@dataclass(frozen=True, slots=True)
class DropLink:
    """Take a relation away."""

    link: Link


Write = Insert | Patch | Purge | AddLink | DropLink


@dataclass(frozen=True, slots=True)
class Tally:
    """How many memories share a kind, status, scope, category and permanence."""

    kind: Kind
    status: Status
    scope: str
    category: str | None
    permanence: str
    count: int


class Reader(Protocol):
    """One owner's memories, at one moment."""

    def get(self, memory_id: str) -> Record | None:
        """The memory of that id, whatever its status."""
        ...

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        """The memories of those ids that exist."""
        ...

    def find(self, wanted: Filter, limit: int, after: Position | None = None) -> list[Record]:
        """Memories that pass the filter, newest first."""
        ...

    def passing(self, ids: Sequence[str], wanted: Filter) -> dict[str, Record]:
        """Those of these memories that pass the filter."""
        ...

    def index(self, model: str) -> Index:
        """All the owner's documents in memory with one model's vectors, as of now at least.

        It may know of documents that this transaction cannot see, never the other way round.
        """
        ...

    def beyond(self, query: Embedding) -> list[Hit]:
        """The most similar of the vectors that an index which overflows does not hold."""
        ...

    def similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        """The exact cosine of these memories to the query, by the best of their vectors."""
        ...

    def as_known(self, records: Sequence[Record], at: datetime) -> list[Record]:
        """The same memories with the state they had at a moment, told by the events since."""
        ...

    def session(self, session_id: str) -> Session | None:
        """One conversation."""
        ...

    def turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        """The turns of a conversation beyond a position, in order, whatever their status."""
        ...

    def states(self, memory_id: str) -> list[State]:
        """The past states of a memory, oldest first."""
        ...

    def links(self, memory_id: str) -> list[Link]:
        """All links from and to a memory."""
        ...

    def event(self, event_id: str) -> Event | None:
        """One event with its changes."""
        ...

    def events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        """Events, newest first; only those that touched the given memories, if any are given."""
        ...

    def tally(self) -> list[Tally]:
        """Counts of all memories."""
        ...

    def count_events(self) -> int:
        """How many events there are."""
        ...


class Writer(Reader, Protocol):
    """One owner's memories while nobody else writes to them."""

    def apply(self, event: Event, writes: Sequence[Write]) -> Event:
        """Carry out the writes and record them; the event comes back with its changes."""
        ...

    def keep_session(self, session: Session) -> None:
        """Store a conversation, or what has changed about it."""
        ...

    def next_position(self, session_id: str) -> int:
        """The position that the next turn of a conversation gets."""
        ...

    def mark_undone(self, event_id: str, by: str | None) -> None:
        """Say which event took this one back, or that it stands again."""
        ...

    def refer(self, counts: Mapping[str, int], at: datetime) -> None:
        """Count recalls; no event, as nothing that is believed changes."""
        ...


@dataclass(frozen=True, slots=True)
class Health:
    """What a store can say about itself."""

    engine: str
    place: str
    details: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Store(Protocol):
    """Where memories live. Safe to use from any thread; several processes may share one."""

    def reading(self, owner: Owner) -> AbstractContextManager[Reader]:
        """A consistent view of one owner's memories."""
        ...

    def writing(self, owner: Owner) -> AbstractContextManager[Writer]:
        """The only writer of one owner's memories, until the block is left."""
        ...

    def owners(self) -> list[Owner]:
        """Everyone who has ever stored something here."""
        ...

    def health(self) -> Health:
        """What `doctor` should know."""
        ...

    def close(self) -> None:
        """Give back all connections."""
        ...


def frozen(values: Mapping[str, object]) -> dict[str, Json]:
    """Field values as JSON, for an event."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else _plain(value)
        for name, value in values.items()
    }


def thawed(values: Mapping[str, Json]) -> dict[str, object]:
    """The field values that `frozen` wrote."""
    return {
        name: datetime.fromisoformat(value)
        if _is_moment(name) and isinstance(value, str)
        else value
        for name, value in values.items()
    }


def _is_moment(name: str) -> bool:
    return name.endswith(("_at", "_until"))


def _plain(value: object) -> Json:
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]


UNDOABLE = frozenset(Action) - {Action.DELETED}
"""Every kind of event but the one that destroys on purpose."""
