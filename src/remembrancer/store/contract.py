"""The contract of a store, and the rules that every engine keeps.

- A transaction is bound to one owner. No argument can reach another owner's rows: a foreign id
  behaves exactly like one that does not exist.
- `open_writer` lets one writer of an owner in at a time, across threads and processes, so what a
  writer reads stays true until it commits. Readers never wait for writers.
- Leaving the block commits; an exception rolls everything back, the event included. What was
  committed survives a power cut, unless the settings or the caller say that it need not.
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
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from remembrancer.types import (
    Action,
    Backlog,
    Change,
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
"""A row that any engine can store: the table's name and its columns as JSON."""

VALID_STATUSES = (Status.ACTIVE, Status.SUPERSEDED)
"""Statuses of memories that were true at some time; superseded facts were, until their successor.
"""

CURRENT_STATUSES = (Status.ACTIVE, Status.UNCONFIRMED, Status.QUARANTINED)
"""Statuses that only the current version of a memory has."""

MUTABLE_FIELDS = frozenset(
    "status valid_until retired_at expires_at confirmed_at confidence importance permanence tags "
    "maturity applied_count success_count harmful_count applied_at "
    "backlog attempts leased_until failure".split()
)
"""The fields of a memory that can change; its content never does."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """The scopes that a call can see: those listed, those below a path, or all if both are None.

    `excluded_scopes` are removed from either.
    """

    scopes: tuple[str, ...] | None = None
    path_prefix: str | None = None
    episode_scopes: tuple[str, ...] | None = None
    excluded_scopes: tuple[str, ...] = ()

    def contains(self, scope: str, kind: Kind | None = None) -> bool:
        """True if memories of this scope and kind are visible."""
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
    """Bounds on a memory's confidence after decay.

    `decays` and `renewed_by_use` come from the profile.
    """

    at_least: float = 0.0
    below: float = 2.0
    decays: Literal["all", "extracted", "none"] = "all"
    renewed_by_use: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Selects memories; `statuses` lists others than those in force.

    A memory within `decayed` counts as expired, whatever its row says. `overdue` selects memories
    that have expired although their row still says active. `hides_trash` leaves out the past
    versions of memories that are in the trash.
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
    agent: str | None = None
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
    hides_trash: bool = False
    backlogs: tuple[Backlog, ...] = ()
    never_used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Selects sessions.

    `trashed` selects the sessions whose turns are all in the trash, and no others. A session whose
    turns were all retracted is never listed. `due_by` selects the sessions that are due for
    learning by then and that no worker has leased.
    """

    visible: Visibility = Visibility()
    statuses: tuple[SessionStatus, ...] = ()
    trashed: bool = False
    quiet_since: datetime | None = None
    due_by: datetime | None = None


@dataclass(frozen=True, slots=True)
class Embedding:
    """A vector, the model that made it, and the part of the text that it stands for; 0 is the
    whole.
    """

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
    """A position in a listing that is ordered from newest to oldest."""

    at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Store a new memory with its embedding, or with one embedding for each part."""

    record: Record
    embedding: Embedding | None
    part_embeddings: tuple[Embedding, ...] = ()

    @property
    def embeddings(self) -> tuple[Embedding, ...]:
        return self.part_embeddings or ((self.embedding,) if self.embedding is not None else ())


@dataclass(frozen=True, slots=True)
class Patch:
    """Set fields of a memory; without values it only lists the memory in the event."""

    id: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Purge:
    """Delete a memory, everything that refers to it, and its words in the activity log."""

    id: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Mask words of a memory that were to be forgotten; the words of before are not kept.

    The values are of `content`, `evidence` and `metadata`. A memory with another content loses its
    vectors, which are computed again.
    """

    id: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class AddLink:
    link: Link


@dataclass(frozen=True, slots=True)
class DropLink:
    link: Link


@dataclass(frozen=True, slots=True)
class AddApplication:
    application: RuleApplication


@dataclass(frozen=True, slots=True)
class WithdrawApplication:
    """Stop counting the use of a rule, or count it again with `undo`."""

    rule_id: str
    application_id: str
    undo: bool = False


Write = Insert | Patch | Purge | Rewrite | AddLink | DropLink | AddApplication | WithdrawApplication


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to a request with an Idempotency-Key; no status while the request is running."""

    key: str
    request: str
    at: datetime
    status: int | None = None
    headers: Mapping[str, Json] = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of memories that share a kind, status, scope, agent, category and permanence."""

    kind: Kind
    status: Status
    scope: str
    agent: str | None
    category: str | None
    permanence: str
    count: int


@dataclass(frozen=True, slots=True)
class AgeCount:
    """The number of memories that share a permanence, source, confidence in percent and age."""

    permanence: Permanence
    source: Source
    confidence: float
    age: int
    count: int


class Reader(Protocol):
    """One owner's memories in one transaction."""

    def get(self, memory_id: str) -> Record | None:
        """The memory with this id, whatever its status."""

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        """The memories with these ids that exist, whatever their status."""

    def find(
        self,
        criteria: Filter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Record]:
        """Memories that match, newest first by default; `after` continues a listing."""

    def find_most_used(self, criteria: Filter, limit: int) -> list[Record]:
        """Memories that match, the most recalled first, then the newest."""

    def find_ids(self, criteria: Filter, limit: int) -> list[str]:
        """The ids of memories that match, in any order."""

    def find_with_terms(self, term_sets: Sequence[frozenset[str]]) -> list[str]:
        """The ids of the memories of any kind that have all terms of one of these sets."""
        ...

    def list_fact_keys(self, scope: str, *, elsewhere: bool = False) -> list[tuple[str, str, str]]:
        """The key of each active fact in a scope that has one, or in all others."""
        ...

    def active_fact(self, scope: str, subject: str, predicate: str) -> Fact | None:
        """The active fact about a subject and predicate, or else the one that expired last.

        A fact is active by its row here, even if its time is over.
        """

    def matching(self, ids: Sequence[str], criteria: Filter) -> dict[str, Record]:
        """The memories with these ids that match."""

    def load_index(self, model: str) -> Index:
        """The owner's documents and one model's vectors in memory, at least as new as this
        transaction.

        The index can hold documents that this transaction cannot see, never the reverse.
        """

    def nearest_outside_index(self, query: Embedding) -> list[Hit]:
        """The nearest vectors that are not in the in-memory index."""

    def compute_similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        """The exact cosine similarity of these memories to the query, by their best vector."""

    def load_vectors(self, model: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vector of the whole text for each of these memories that has one of this model."""

    def as_of(self, records: Sequence[Record], at: datetime) -> list[Record]:
        """The same memories with the state they had at a moment, restored from later events."""

    def list_changes_after(
        self, at: datetime, memory_ids: Sequence[str] | None = None
    ) -> list[Change]:
        """The changes of the events after a moment, newest first; optionally of these memories."""

    def get_session(self, session_id: str) -> Session | None:
        """The session with this id, or None."""

    def list_turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        """The turns of a session after a position, in order, whatever their status."""

    def list_latest_turns(self, session_id: str, limit: int) -> list[Turn]:
        """The last turns of a session, in order, whatever their status."""

    def list_tainted_turns(self, session_id: str, limit: int) -> list[Turn]:
        """The last turns of a session from tools and documents, in order, whatever their status."""

    def list_past_versions(self, ids: Sequence[str], now: datetime) -> list[str]:
        """The ids of all versions of these memories that are neither current nor in force."""
        ...

    def last_moment(self) -> datetime | None:
        """The moment of the last event; after the clock was set back it is still to come."""

    def list_states(self, memory_id: str) -> list[PastState]:
        """The past states of a memory, oldest first."""

    def list_links(self, memory_id: str) -> list[Link]:
        """All links from and to a memory."""

    def list_links_by_relation(self, relation: Relation) -> list[Link]:
        """All links of one relation, oldest first."""

    def get_event(self, event_id: str) -> Event | None:
        """The event with its changes, or None."""

    def list_events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        batch_id: str | None = None,
        actions: Sequence[Action] = (),
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        """Events, newest first; optionally only those that changed these memories, those of one
        batch, or those of some actions.
        """

    def list_applications(
        self, rule_ids: Sequence[str], at: datetime | None = None
    ) -> list[RuleApplication]:
        """The uses of these rules that count, or counted at a moment, oldest first."""

    def list_sessions(
        self,
        criteria: SessionFilter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Session]:
        """Sessions that match, by their last activity, most recent first by default."""

    def list_empty_sessions(self) -> list[Session]:
        """Sessions without a turn, oldest first."""

    def list_rejections(self, limit: int, after: Position | None = None) -> list[Rejection]:
        """Candidate memories that were rejected, newest first."""

    def list_unembedded(self, model: str, limit: int) -> list[Record]:
        """Memories without a vector of this model, in the order in which they were stored."""

    def count_embedded(self) -> dict[str, int]:
        """The number of memories with vectors, by model."""

    def count(self, criteria: Filter) -> int:
        """The number of memories that match."""

    def tally(self, now: datetime, decayed: ConfidenceRange | None = None) -> list[Tally]:
        """Counts of all memories; those that are over, or have `decayed`, count as expired."""

    def count_by_age(
        self, criteria: Filter, since: Literal["recorded_at", "confirmed_at"], days: int = 1
    ) -> list[AgeCount]:
        """Counts of matching memories by age, in periods of `days` since `since`."""

    def count_events(self, until: datetime | None = None) -> int:
        """The number of events, optionally of those until a moment."""

    def find_last_event(self, action: Action, until: datetime) -> datetime | None:
        """The time of the last event with this action until a moment, or None."""


class Writer(Reader, Protocol):
    """One owner's memories while no one else can write them."""

    def apply(self, event: Event, writes: Sequence[Write]) -> Event:
        """Carry out the writes and record them; returns the event with its changes.

        Its moment is never before that of the last event: if the clock went back, the event and
        what it stores get the next moment.
        """

    def save_session(self, session: Session) -> None:
        """Insert or update a session."""

    def save_rejections(self, rejections: Sequence[Rejection]) -> None:
        """Store rejected candidates, so that a person can review them."""

    def drop_rejections(self, before: datetime) -> int:
        """Delete the rejections from before a moment; returns their number."""

    def delete_rejections(self, ids: Sequence[str]) -> None:
        """Delete these rejections."""

    def get_response(self, key: str) -> StoredResponse | None:
        """The stored response for this Idempotency-Key, or None."""

    def save_response(self, response: StoredResponse) -> None:
        """Insert or replace the response for its key; it is deleted with the memories it names."""

    def drop_response(self, key: str) -> None:
        """Delete a response, so that the request can run again."""

    def drop_responses(self, before: datetime) -> int:
        """Delete the responses from before a moment; returns their number."""

    def next_position(self, session_id: str) -> int:
        """The position of the next turn of a session."""

    def mark_undone(self, event_id: str, by: str | None) -> None:
        """Record which event undid this one; None if it is in effect again."""

    def count_recalls(
        self, counts: Mapping[str, int], at: datetime, *, extend_times: float | None = None
    ) -> None:
        """Count recalls and, with `extend_times`, extend memories that would expire by their TTL.

        So many times its TTL after it was stored or confirmed, a memory expires all the same,
        unless it is a program's own.

        Records no event, because no memory's status or validity changes.
        """

    def add_embeddings(self, vectors: Mapping[str, Sequence[Embedding]]) -> None:
        """Store vectors of a model for memories that have none of it."""

    def drop_vectors(self, keep_model: str) -> int:
        """Delete the vectors of all other models; returns the number of memories that had any."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The current holder of a job, until when, and when the job finished last."""

    holder: str | None = None
    held_until: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Engine, place, versions and warnings of a store."""

    engine: str
    place: str
    details: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class ErasureExtent(StrEnum):
    """What an erasure removes of a person; everything but the account, and the contributions to the
    team alone, leave them who they are.
    """

    PERSON = "person"
    MEMORIES = "memories"
    CONTRIBUTIONS = "contributions"


@dataclass(frozen=True, slots=True)
class Erasure:
    """The record of an erasure. It names the person until the erasure is finished, then only a
    mark.

    `traces` are ids that only this person's rows have; the final scan searches for them. `removed`
    is the number of rows removed, by table.
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
    """The search terms of the scan after an erasure: the person's own ids, and words they used."""

    ids: tuple[str, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanResult:
    """A place that was scanned, its size in bytes, and the number of traces found there."""

    place: str
    bytes: int
    found: int


class Store(Protocol):
    """Storage for memories. Safe to use from any thread; several processes can share one."""

    @property
    def system(self) -> SystemTables:
        """The tables that all owners share: tenants, users, settings, keys, leases, erasures."""

    def open_reader(self, owner: Owner) -> AbstractContextManager[Reader]:
        """Open a consistent view of one owner's memories."""

    def open_writer(
        self, owner: Owner, *, create: bool = True, alone: bool = False, durable: bool = True
    ) -> AbstractContextManager[Writer]:
        """Open the only writer of one owner's memories, until the block is left.

        An unknown owner is registered; with `create=False`, UnknownPerson is raised instead. Open
        it `alone` for what takes long, so that no other writer waits for it to be committed. What
        need not be `durable` can be lost in a power cut.
        """

    def cpu_slot(self) -> AbstractContextManager[object]:
        """A slot to hold while comparing memories; limits how many threads compete for the CPU."""

    def open_team_reader(self, tenant: Tenant) -> AbstractContextManager[TeamReader]:
        """Open a team's memory for recall, with contributors out of reach."""

    def open_team_writer(
        self, tenant: Tenant, *, durable: bool = True
    ) -> AbstractContextManager[TeamWriter]:
        """Open the only writer of a team's memory, until the block is left."""

    def dump(self, owner: Owner) -> AbstractContextManager[Iterator[DumpRow]]:
        """All rows of one owner as of one moment, in an order that all engines share."""

    def load(self, owner: Owner, rows: Iterable[DumpRow], *, replace: bool = False) -> None:
        """Store all rows of one owner, all or nothing.

        Raises Conflict if the owner has memories here, unless `replace` is set.
        """

    def list_teams(self) -> list[Tenant]:
        """The tenants whose team has facts here."""

    def dump_team(self, tenant: Tenant) -> AbstractContextManager[Iterator[DumpRow]]:
        """All rows of one team as of one moment, in an order that all engines share."""

    def load_team(self, tenant: Tenant, rows: Iterable[DumpRow], *, replace: bool = False) -> int:
        """Store all rows of one team, all or nothing; returns the number of its facts.

        Raises Conflict if the team has facts here, unless `replace` is set. Every process reloads
        the team's index.
        """

    def dump_system(self) -> AbstractContextManager[Iterator[DumpRow]]:
        """The rows of tenants, users, settings and keys."""

    def load_system(self, rows: Iterable[DumpRow]) -> None:
        """Insert the tenants, users, settings and keys that are missing; existing rows do not
        change.
        """

    def delete_owner(self, owner: Owner, *, keep_account: bool = False) -> None:
        """Delete every row of one owner and, unless `keep_account` is set, their registration and
        keys; idempotent.
        """

    def scrub(self, owners: Sequence[Owner] = ()) -> tuple[str, ...]:
        """Vacuum removed data, with that of some owners.

        Returns the reasons for anything that could not be vacuumed.

        Also drops the in-memory data of owners whom another process erased.
        """

    def scrub_deleted(self) -> tuple[str, ...]:
        """Overwrite what was deleted for good, where an engine does not do so as it deletes.

        Returns the reasons for anything that remains.
        """
        ...

    def scan_traces(self, owner: Owner | None, traces: TraceTerms) -> list[ScanResult]:
        """Scan everything that the store holds for traces, and for any row of an owner."""

    def evict_erased(self) -> bool:
        """Drop in-memory data of owners who no longer exist. True if there was any."""

    def tidy(self) -> int:
        """Run the database's housekeeping; returns the number of files or tables processed."""

    def check_health(self) -> Health:
        """Report engine, versions and warnings, for `rem doctor`."""

    def check_writable(self) -> None:
        """Raise StoreUnavailable, with the reason, if a write would fail; nothing is stored."""

    def find_damage(self) -> list[str]:
        """Read all files to the end; returns a sentence about each one that is damaged."""

    def close(self) -> None:
        """Close all connections."""


def to_json(values: Mapping[str, object]) -> dict[str, Json]:
    """Field values as JSON, for an event."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else _to_json_value(value)
        for name, value in values.items()
    }


def from_json(values: Mapping[str, Json]) -> dict[str, object]:
    """Inverse of `to_json`."""
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
    Action.FADED,
    Action.VIEWED,
}
"""All actions except those that destroy data on purpose or change no memory."""
