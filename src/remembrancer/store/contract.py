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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from remembrancer.types import (
    Action,
    Backlog,
    Event,
    Fact,
    Json,
    Kind,
    Link,
    Maturity,
    Owner,
    PastState,
    Permanence,
    Record,
    Rejection,
    Relation,
    RuleApplication,
    Session,
    SessionStatus,
    Source,
    Status,
    Turn,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.search.index import Index
    from remembrancer.store.system_tables import SystemTables
    from remembrancer.store.team_contract import TeamReader, TeamWriter
    from remembrancer.types import Tenant

DumpRow = tuple[str, Mapping[str, Json]]
"""A row that any engine can store: the table's name, and its columns as JSON."""

VALID_STATUSES = (Status.ACTIVE, Status.SUPERSEDED)
"""What may be true at some moment; a superseded fact was true until its successor's time began."""

MUTABLE_FIELDS = frozenset(
    "status valid_until retired_at expires_at confirmed_at confidence importance permanence tags "
    "maturity applied_count success_count harmful_count applied_at "
    "backlog attempts leased_until failure".split()
)
"""The fields of a memory that may change; its words never do."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which scopes a call may see: those named, those below a path, or all when both are None.

    `without` takes some out again.
    """

    scopes: tuple[str, ...] | None = None
    path_prefix: str | None = None
    episode_scopes: tuple[str, ...] | None = None
    excluded_scopes: tuple[str, ...] = ()

    def contains(self, scope: str, kind: Kind | None = None) -> bool:
        """Whether memories of a scope, and of that kind, are among them."""
        if scope in self.excluded_scopes:
            return False
        if self.path_prefix is not None:
            return f"{scope}/".startswith(f"{self.path_prefix}/")
        scopes = (
            self.episode_scopes if kind is Kind.EPISODE and self.episode_scopes else self.scopes
        )
        return scopes is None or scope in scopes


@dataclass(frozen=True, slots=True)
class ConfidenceRange:
    """How far a memory must be believed: its confidence, as it has decayed by now.

    What decays and what renews it are a profile's choices, in plain values.
    """

    at_least: float = 0.0
    below: float = 2.0
    decays: Literal["all", "extracted", "none"] = "all"
    renewed_by_use: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories a read is about; `statuses` is for listings beyond what is in force.

    What is `decayed` counts as expired, whatever its row says; `overdue` are the memories that are
    still active by their row although they have expired.
    """

    now: datetime
    kinds: tuple[Kind, ...] = (Kind.FACT, Kind.RULE, Kind.EPISODE)
    visible: Visibility = Visibility()
    known_at: datetime | None = None
    true_at: datetime | None = None
    statuses: tuple[Status, ...] | None = None
    categories: tuple[str, ...] = ()
    maturities: tuple[Maturity, ...] = ()
    permanences: tuple[Permanence, ...] = ()
    tags: tuple[str, ...] = ()
    minimum_importance: float = 0
    subject: str | None = None
    predicate: str | None = None
    source: Source | None = None
    fingerprint: str | None = None
    lineage: str | None = None
    session_id: str | None = None
    recorded_from: datetime | None = None
    recorded_before: datetime | None = None
    retired_after: datetime | None = None
    retired_before: datetime | None = None
    expires_before: datetime | None = None
    confidence: ConfidenceRange | None = None
    decayed: ConfidenceRange | None = None
    overdue: bool = False
    backlogs: tuple[Backlog, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which conversations a read is about.

    `trashed` are those of which every turn is in the trash; others are never told with them. One of
    which every turn was taken back is not told at all.
    `due_by` are those from which something is to be learned by then, and nobody is at it.
    """

    visible: Visibility = Visibility()
    statuses: tuple[SessionStatus, ...] = ()
    trashed: bool = False
    quiet_since: datetime | None = None
    due_by: datetime | None = None


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
    part_embeddings: tuple[Embedding, ...] = ()

    @property
    def embeddings(self) -> tuple[Embedding, ...]:
        """All of them."""
        return self.part_embeddings or ((self.embedding,) if self.embedding is not None else ())


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


@dataclass(frozen=True, slots=True)
class AddApplication:
    """Enter the use of a rule into its ledger."""

    application: RuleApplication


@dataclass(frozen=True, slots=True)
class WithdrawApplication:
    """Take the use of a rule out of account, or back into it."""

    rule_id: str
    application_id: str
    undo: bool = False


Write = Insert | Patch | Purge | AddLink | DropLink | AddApplication | WithdrawApplication


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What was answered to a request that may come again; no status while someone is at it."""

    key: str
    request: str
    at: datetime
    status: int | None = None
    headers: Mapping[str, Json] = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many memories share a kind, status, scope, category and permanence."""

    kind: Kind
    status: Status
    scope: str
    category: str | None
    permanence: str
    count: int


@dataclass(frozen=True, slots=True)
class AgeCount:
    """How many memories share a permanence, a source, a confidence in 20ths, and an age."""

    permanence: Permanence
    source: Source
    confidence: float
    age: int
    count: int


class Reader(Protocol):
    """One owner's memories, at one moment."""

    def get(self, memory_id: str) -> Record | None:
        """The memory of that id, whatever its status."""
        ...

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        """The memories of those ids that exist."""
        ...

    def find(
        self,
        wanted: Filter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Record]:
        """Memories that pass the filter, newest first, or oldest first from the beginning."""
        ...

    def find_ids(self, wanted: Filter, limit: int) -> list[str]:
        """The ids of memories that pass the filter, in no order that matters."""
        ...

    def active_fact(self, scope: str, subject: str, predicate: str) -> Fact | None:
        """The fact that has the place of a subject and predicate, though its time may be over.

        The active one by its row, or else the one of the expired that came last.
        """
        ...

    def matching(self, ids: Sequence[str], wanted: Filter) -> dict[str, Record]:
        """Those of these memories that pass the filter."""
        ...

    def load_index(self, model: str) -> Index:
        """All the owner's documents in memory with one model's vectors, as of now at least.

        It may know of documents that this transaction cannot see, never the other way round.
        """
        ...

    def nearest_outside_index(self, query: Embedding) -> list[Hit]:
        """The most similar of the vectors that an index which overflows does not hold."""
        ...

    def compute_similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        """The exact cosine of these memories to the query, by the best of their vectors."""
        ...

    def load_vectors(self, model: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The exact vector, as a whole, of each of these memories that has one of this model."""
        ...

    def as_of(self, records: Sequence[Record], at: datetime) -> list[Record]:
        """The same memories with the state they had at a moment, told by the events since."""
        ...

    def get_session(self, session_id: str) -> Session | None:
        """One conversation."""
        ...

    def list_turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        """The turns of a conversation beyond a position, in order, whatever their status."""
        ...

    def list_states(self, memory_id: str) -> list[PastState]:
        """The past states of a memory, oldest first."""
        ...

    def list_links(self, memory_id: str) -> list[Link]:
        """All links from and to a memory."""
        ...

    def list_links_by_relation(self, relation: Relation) -> list[Link]:
        """All links of one relation, oldest first."""
        ...

    def get_event(self, event_id: str) -> Event | None:
        """One event with its changes."""
        ...

    def list_events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        batch_id: str | None = None,
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        """Events, newest first; if given, only those of some memories or of one batch."""
        ...

    def list_applications(self, rule_ids: Sequence[str]) -> list[RuleApplication]:
        """The uses of some rules that count, oldest first."""
        ...

    def list_sessions(
        self,
        wanted: SessionFilter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Session]:
        """Conversations that pass the filter, those active last first, or last of all."""
        ...

    def list_empty_sessions(self) -> list[Session]:
        """Conversations without a turn, oldest first."""
        ...

    def list_rejections(self, limit: int, after: Position | None = None) -> list[Rejection]:
        """What was not remembered, newest first."""
        ...

    def list_unembedded(self, model: str, limit: int) -> list[Record]:
        """Memories that have no vector of this model, in the order they were stored."""
        ...

    def count_embedded(self) -> dict[str, int]:
        """How many memories have vectors of which model."""
        ...

    def count(self, wanted: Filter) -> int:
        """How many memories pass the filter."""
        ...

    def tally(self, now: datetime) -> list[Tally]:
        """Counts of all memories; what has had its time by now counts as expired."""
        ...

    def count_by_age(
        self, wanted: Filter, since: Literal["recorded_at", "confirmed_at"], days: int = 1
    ) -> list[AgeCount]:
        """Counts of what passes the filter by age: how many times so many days since a moment."""
        ...

    def count_events(self) -> int:
        """How many events there are."""
        ...


class Writer(Reader, Protocol):
    """One owner's memories while nobody else writes to them."""

    def apply(self, event: Event, writes: Sequence[Write]) -> Event:
        """Carry out the writes and record them; the event comes back with its changes."""
        ...

    def save_session(self, session: Session) -> None:
        """Store a conversation, or what has changed about it."""
        ...

    def save_rejections(self, rejections: Sequence[Rejection]) -> None:
        """Keep what was not remembered, for a while."""
        ...

    def drop_rejections(self, before: datetime) -> int:
        """Destroy what was rejected before a moment; how much it was."""
        ...

    def get_response(self, key: str) -> StoredResponse | None:
        """What was answered to a request of that key."""
        ...

    def save_response(self, response: StoredResponse) -> None:
        """Keep an answer, in place of any of the same key; it goes when a memory in it does."""
        ...

    def drop_response(self, key: str) -> None:
        """Let a request be made anew."""
        ...

    def drop_responses(self, before: datetime) -> int:
        """Destroy the answers given before a moment; how many they were."""
        ...

    def next_position(self, session_id: str) -> int:
        """The position that the next turn of a conversation gets."""
        ...

    def mark_undone(self, event_id: str, by: str | None) -> None:
        """Say which event took this one back, or that it stands again."""
        ...

    def count_recalls(
        self, counts: Mapping[str, int], at: datetime, *, extend_expiry: bool = False
    ) -> None:
        """Count recalls and, if wanted, let those that would expire live as long again.

        No event, as nothing that is believed changes.
        """
        ...

    def add_embeddings(self, vectors: Mapping[str, Sequence[Embedding]]) -> None:
        """Give memories the vectors of a model that they have none of."""
        ...

    def drop_vectors(self, keep_model: str) -> int:
        """Remove the vectors of all models but one; how many memories had any."""
        ...


@dataclass(frozen=True, slots=True)
class Lease:
    """Who is at a job until when, and when it was done last."""

    holder: str | None = None
    held_until: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """What a store can say about itself."""

    engine: str
    place: str
    details: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasure:
    """What is known of an erasure: until it is finished whom it is about, afterwards only a mark.

    `traces` are ids that nobody else has, to be searched for in the end; `removed` is how much of
    what was found.
    """

    id: str
    tenant: str
    mark: str
    begun_at: datetime
    contributions_only: bool = False
    user: str | None = None
    traces: tuple[str, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TraceTerms:
    """What a search after an erasure looks for: ids that are theirs alone, and words they used."""

    ids: tuple[str, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanResult:
    """A place that was searched, how much of it, and how many traces were found there."""

    place: str
    bytes: int
    found: int


class Store(Protocol):
    """Where memories live. Safe to use from any thread; several processes may share one."""

    @property
    def system(self) -> SystemTables:
        """The tables that all owners share: tenants, users, settings, keys, leases, erasures."""
        ...

    def open_reader(self, owner: Owner) -> AbstractContextManager[Reader]:
        """A consistent view of one owner's memories."""
        ...

    def open_writer(self, owner: Owner, *, create: bool = True) -> AbstractContextManager[Writer]:
        """The only writer of one owner's memories, until the block is left.

        Someone who has no memory here gets one, or is NotFound if they may not be a newcomer.
        """
        ...

    def cpu_slot(self) -> AbstractContextManager[object]:
        """Held while memories are compared: a thread waits here if it would be in the way."""
        ...

    def open_team_reader(self, tenant: Tenant) -> AbstractContextManager[TeamReader]:
        """What a team knows, where who said it cannot be read at all."""
        ...

    def open_team_writer(self, tenant: Tenant) -> AbstractContextManager[TeamWriter]:
        """The only one to change what a team knows, until the block is left."""
        ...

    def dump(self, owner: Owner) -> AbstractContextManager[Iterator[DumpRow]]:
        """Everything of one person as it is at one moment, in an order all engines share."""
        ...

    def load(self, owner: Owner, rows: Iterable[DumpRow], *, replace: bool = False) -> None:
        """Store everything of one person, all of it or nothing.

        Whoever has memories here keeps them, and it is a Conflict, unless they are to be replaced.
        """
        ...

    def list_teams(self) -> list[Tenant]:
        """The tenants whose team knows something here."""
        ...

    def dump_team(self, tenant: Tenant) -> AbstractContextManager[Iterator[DumpRow]]:
        """Everything of one team as it is at one moment, in an order all engines share."""
        ...

    def load_team(self, tenant: Tenant, rows: Iterable[DumpRow], *, replace: bool = False) -> int:
        """Store everything of one team, all of it or nothing; how many facts it has then.

        A team that has memories here keeps them, and it is a Conflict, unless they are to be
        replaced. Whoever recalls, in any process, looks again.
        """
        ...

    def dump_system(self) -> AbstractContextManager[Iterator[DumpRow]]:
        """The tenants, users, settings and keys."""
        ...

    def load_system(self, rows: Iterable[DumpRow]) -> None:
        """Add the tenants, users, settings and keys that are missing; none that is here changes."""
        ...

    def delete_owner(self, owner: Owner) -> None:
        """Destroy everything of one person, who is then nobody here; again is the same as once."""
        ...

    def scrub(self) -> tuple[str, ...]:
        """Leave no byte of what was removed in the shared files or tables; what kept it from that.

        Of whoever was erased by another process, nothing stays in this one's memory either.
        """
        ...

    def scan_traces(self, owner: Owner | None, traces: TraceTerms) -> list[ScanResult]:
        """Look for traces in everything that the store has, and for any row of an owner."""
        ...

    def evict_erased(self) -> bool:
        """Drop what this process holds in memory of people who are gone; whether there were any."""
        ...

    def tidy(self) -> int:
        """Do what the database needs now and then; how many files or tables were tidied."""
        ...

    def check_health(self) -> Health:
        """What `doctor` should know."""
        ...

    def close(self) -> None:
        """Give back all connections."""
        ...


def to_json(values: Mapping[str, object]) -> dict[str, Json]:
    """Field values as JSON, for an event."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else _to_json_value(value)
        for name, value in values.items()
    }


def from_json(values: Mapping[str, Json]) -> dict[str, object]:
    """The field values that `frozen` wrote."""
    return {
        name: datetime.fromisoformat(value)
        if _is_moment_field(name) and isinstance(value, str)
        else value
        for name, value in values.items()
    }


def _is_moment_field(name: str) -> bool:
    return name.endswith(("_at", "_until"))


def _to_json_value(value: object) -> Json:
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]


UNDOABLE_ACTIONS = frozenset(Action) - {
    Action.DELETED,
    Action.PURGED,
    Action.CLOSED,
    Action.LEARNED,
    Action.VIEWED,
}
"""Every kind of event but those that destroy on purpose, or change no memory."""
