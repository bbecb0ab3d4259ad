"""Reads one owner's memories in SQL; the code is the same on both engines.

Every statement names the owner on every table, so that a sharded database can route it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    FromClause,
    Integer,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
)

from remembrancer.search.terms import decode_terms, encode_term, encode_terms
from remembrancer.store import tables
from remembrancer.store.columns import Moment, periods_since
from remembrancer.store.contract import (
    MUTABLE_FIELDS,
    AgeCount,
    ConfidenceRange,
    Embedding,
    Filter,
    Hit,
    Position,
    SessionFilter,
    Tally,
    from_json,
)
from remembrancer.store.index_cache import IndexCache
from remembrancer.store.prepared import PreparedStatement
from remembrancer.store.rows import (
    application_from_row,
    convert_values,
    event_from_row,
    link_from_row,
    record_from_row,
    rejection_from_row,
    session_from_row,
    state_from_row,
    turn_from_row,
)
from remembrancer.store.sql_filters import (
    filter_moments,
    is_over,
    is_past_version,
    matches_filter,
    select_tables,
    session_conditions,
)
from remembrancer.store.statements import BoundConnection
from remembrancer.types import (
    Action,
    Change,
    Event,
    Fact,
    Kind,
    Link,
    PastState,
    Permanence,
    Record,
    Rejection,
    Relation,
    RuleApplication,
    Session,
    Source,
    Status,
    Turn,
    kind_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.search.index import Index

EPOCH = datetime.fromtimestamp(0, UTC)
MAX_PACKED = 50
"""For more terms, the codes of a document are unpacked at once."""

MAX_IDS_PER_STATEMENT = 500


class SqlReader(BoundConnection, ABC):
    """A reader over one connection, bound to one owner."""

    key_column = "owner_id"

    def __init__(self, connection: Connection, owner_id: str, indexes: IndexCache) -> None:
        super().__init__(connection, owner_id)
        self._owner_id = owner_id
        self._indexes = indexes
        self._has_written = False

    # Differs between the engines.

    dialect: ClassVar[Dialect]

    @abstractmethod
    def nearest_outside_index(self, query: Embedding) -> list[Hit]: ...

    @abstractmethod
    def _fetch_vectors(self, statement: Select[Any]) -> Iterator[Any]: ...

    @staticmethod
    @abstractmethod
    def is_among_ids(table: FromClause) -> ColumnElement[bool]:
        """The condition that the id is among the parameter `ids`; its text does not depend on their
        number.
        """

    @staticmethod
    @abstractmethod
    def has_tag(table: FromClause, tag: str) -> ColumnElement[bool]: ...

    # Common to both engines.

    def get(self, memory_id: str) -> Record | None:
        return self.load([memory_id]).get(memory_id)

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        return {
            row.id: record_from_row(kind, row)
            for kind, chunk in chunk_by_kind(ids)
            for row in self._load_rows(tables.MEMORY_TABLES[kind], chunk)
        }

    def list_fact_keys(self, scope: str, *, elsewhere: bool = False) -> list[tuple[str, str, str]]:
        table = tables.facts
        query = select(table.c.scope, table.c.subject, table.c.predicate).where(
            self._own(table),
            table.c.scope != scope if elsewhere else table.c.scope == scope,
            table.c.status == literal(Status.ACTIVE.value, literal_execute=True),
            table.c.subject.is_not(None),
            table.c.predicate.is_not(None),
        )
        rows = self._connection.execute(query)
        return [(row.scope, row.subject, row.predicate) for row in rows]

    def active_fact(self, scope: str, subject: str, predicate: str) -> Fact | None:
        table = tables.facts
        matches = select(table).where(
            self._own(table),
            table.c.scope == scope,
            table.c.subject == subject,
            table.c.predicate == predicate,
        )
        # A literal, because the partial index over active facts serves no bound parameter.
        active = table.c.status == literal(Status.ACTIVE.value, literal_execute=True)
        expired = matches.where(table.c.status == Status.EXPIRED)
        last = expired.order_by(table.c.recorded_at.desc(), table.c.id.desc()).limit(1)
        for query in (matches.where(active), last):
            for row in self._connection.execute(query):
                found = record_from_row(Kind.FACT, row)
                assert isinstance(found, Fact)
                return found
        return None

    def matching(self, ids: Sequence[str], criteria: Filter) -> dict[str, Record]:
        found: dict[str, Record] = {}
        kinds = {kind for kind, _ in select_tables(criteria)}
        timeless = replace(
            criteria,
            now=EPOCH,
            known_at=EPOCH if criteria.known_at else None,
            true_at=EPOCH if criteria.true_at else None,
        )
        for kind, chunk in chunk_by_kind(ids):
            if kind in kinds:
                parameters = {"owner": self._owner_id, "ids": chunk, **filter_moments(criteria)}
                statement = _prepare_matching(type(self), kind, timeless)
                rows = statement.fetch_rows(self._connection, parameters)
                records = [record_from_row(kind, row, self.dialect) for row in rows]
                found |= {record.id: record for record in records}
        return found

    def load_index(self, model: str) -> Index:
        # Uncommitted rows of this transaction must not enter the shared index.
        shared = self._indexes.get(self._owner_id, model)
        with shared.lock:
            index = shared.fork() if self._has_written else shared
            self._indexes.refresh(
                index, self._connection, self.dialect, self._owner_id, self._fetch_vectors
            )
            return index.view()

    def compute_similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        best: dict[str, float] = {}
        for memory_id, vector in self._iter_vectors(query.model, ids):
            score = round(float(vector @ query.vector), 6)
            best[memory_id] = max(score, best.get(memory_id, score))
        return [Hit(memory_id, score) for memory_id, score in best.items()]

    def load_vectors(self, model: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return dict(self._iter_vectors(model, ids, tables.embeddings.c.part == 0))

    def _iter_vectors(
        self, model: str, ids: Sequence[str], *which: ColumnElement[bool]
    ) -> Iterator[Any]:
        table = tables.embeddings
        query = select(table.c.memory_id, table.c.vector)
        query = query.where(self._own(table), table.c.model == model, *which)
        for chunk in chunk_ids(ids):
            yield from self._fetch_vectors(query.where(table.c.memory_id.in_(chunk)))

    def find(
        self,
        criteria: Filter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Record]:
        found: list[Record] = []
        for kind, table in select_tables(criteria):
            query = select(table).where(self._matches(kind, table, criteria))
            if after is not None:
                key = tuple_(table.c.recorded_at, table.c.id)
                query = query.where(key < tuple_(_bind_moment(table, after.at), literal(after.id)))
            order = (table.c.recorded_at, table.c.id)
            query = query.order_by(*(order if oldest_first else (one.desc() for one in order)))
            found += [
                record_from_row(kind, row) for row in self._connection.execute(query.limit(limit))
            ]
        found.sort(key=lambda record: (record.recorded_at, record.id), reverse=not oldest_first)
        return found[:limit]

    def find_most_used(self, criteria: Filter, limit: int) -> list[Record]:
        found: list[Record] = []
        for kind, table in select_tables(criteria):
            order = (table.c.recall_count, table.c.recorded_at, table.c.id)
            query = select(table).where(self._matches(kind, table, criteria))
            query = query.order_by(*(one.desc() for one in order)).limit(limit)
            found += [record_from_row(kind, row) for row in self._connection.execute(query)]
        found.sort(key=lambda one: (one.recall_count, one.recorded_at, one.id), reverse=True)
        return found[:limit]

    def find_ids(self, criteria: Filter, limit: int) -> list[str]:
        found: list[str] = []
        for kind, table in select_tables(criteria):
            query = select(table.c.id).where(self._matches(kind, table, criteria))
            found += self._connection.execute(query.limit(limit - len(found))).scalars()
        return found

    def as_of(self, records: Sequence[Record], at: datetime) -> list[Record]:
        earlier: dict[str, dict[str, object]] = {one.id: {} for one in records}
        for ids in chunk_ids(list(earlier)):
            for change in self.list_changes_after(at, ids):
                if change.before and change.before.keys() <= MUTABLE_FIELDS:
                    earlier[change.memory_id] |= from_json(change.before)
        return [
            _clear_later_recall(replace(one, **convert_values(earlier[one.id])), at)
            for one in records
        ]

    def list_changes_after(
        self, at: datetime, memory_ids: Sequence[str] | None = None
    ) -> list[Change]:
        events, changes = tables.events, tables.changes
        query = (
            select(changes.c.memory_id, changes.c.before, changes.c.after)
            .join(events, and_(self._own(events), events.c.id == changes.c.event_id))
            .where(self._own(changes), events.c.at > at)
            .order_by(events.c.at.desc(), events.c.id.desc(), changes.c.number.desc())
        )
        if memory_ids is not None:
            query = query.where(changes.c.memory_id.in_(memory_ids))
        return [Change(*row) for row in self._connection.execute(query)]

    def last_moment(self) -> datetime | None:
        at = tables.events.c.at
        query = select(at).where(self._own(tables.events)).order_by(at.desc()).limit(1)
        return self._connection.execute(query).scalar()

    def get_session(self, session_id: str) -> Session | None:
        table = tables.sessions
        query = select(table).where(self._own(table), table.c.id == session_id)
        row = self._connection.execute(query).first()
        return session_from_row(row) if row else None

    def list_turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        table = tables.turns
        query = (
            select(table)
            .where(self._own(table), table.c.session_id == session_id, table.c.position > after)
            .order_by(table.c.position)
            .limit(limit)
        )
        return [turn_from_row(row) for row in self._connection.execute(query)]

    def list_latest_turns(self, session_id: str, limit: int) -> list[Turn]:
        table = tables.turns
        query = (
            select(table)
            .where(self._own(table), table.c.session_id == session_id)
            .order_by(table.c.position.desc())
            .limit(limit)
        )
        return [turn_from_row(row) for row in self._connection.execute(query)][::-1]

    def list_tainted_turns(self, session_id: str, limit: int) -> list[Turn]:
        table = tables.turns
        query = (
            select(table)
            .where(self._own(table), table.c.session_id == session_id, table.c.tainted)
            .order_by(table.c.position.desc())
            .limit(limit)
        )
        return [turn_from_row(row) for row in self._connection.execute(query)][::-1]

    def find_with_terms(self, term_sets: Sequence[frozenset[str]]) -> list[str]:
        wanted: dict[int, list[frozenset[int]]] = {}
        rarest = set()
        for terms in filter(None, term_sets):
            longest = max(terms, key=lambda one: (len(one), one))  # as far as words can tell
            rarest.add(longest)
            wanted.setdefault(encode_term(longest), []).append(frozenset(map(encode_term, terms)))
        if not wanted:
            return []
        table = tables.documents
        rows = self._connection.execute(select(table.c.id, table.c.codes).where(self._own(table)))
        packed = [encode_terms([one]) for one in rarest] if len(rarest) <= MAX_PACKED else [b""]
        return [
            row.id
            for row in rows
            if any(one in row.codes for one in packed)  # much faster than to unpack them
            for codes in (frozenset(decode_terms(row.codes)),)
            if any(some <= codes for code in codes & wanted.keys() for some in wanted[code])
        ]

    def list_past_versions(self, ids: Sequence[str], now: datetime) -> list[str]:
        found: list[str] = []
        for kind, chunk in chunk_by_kind(ids):
            if kind is Kind.TURN:
                continue
            table = tables.MEMORY_TABLES[kind]
            named = select(table.c.lineage).where(self._own(table), table.c.id.in_(chunk))
            query = select(table.c.id).where(
                self._own(table), table.c.lineage.in_(named), is_past_version(table, now)
            )
            found += self._connection.execute(query).scalars()
        return found

    def list_states(self, memory_id: str) -> list[PastState]:
        table = tables.states
        query = select(table).where(self._own(table), table.c.memory_id == memory_id)
        return [
            state_from_row(row) for row in self._connection.execute(query.order_by(table.c.number))
        ]

    def list_links(self, memory_id: str) -> list[Link]:
        table = tables.links
        touches = or_(table.c.source == memory_id, table.c.target == memory_id)
        query = select(table).where(self._own(table), touches)
        order = (table.c.created_at, table.c.source, table.c.target, table.c.relation)
        return [link_from_row(row) for row in self._connection.execute(query.order_by(*order))]

    def list_links_by_relation(self, relation: Relation) -> list[Link]:
        table = tables.links
        query = select(table).where(self._own(table), table.c.relation == relation)
        order = (table.c.created_at, table.c.source, table.c.target)
        return [link_from_row(row) for row in self._connection.execute(query.order_by(*order))]

    def get_event(self, event_id: str) -> Event | None:
        table = tables.events
        row = self._connection.execute(
            select(table).where(self._own(table), table.c.id == event_id)
        ).first()
        return (
            event_from_row(row, self._load_changes([event_id]).get(event_id, ())) if row else None
        )

    def list_events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        batch_id: str | None = None,
        actions: Sequence[Action] = (),
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        table = tables.events
        query = select(table).where(self._own(table))
        if actions:
            query = query.where(table.c.action.in_(actions))
        if batch_id is not None:
            query = query.where(table.c.batch_id == batch_id)
        if memory_ids is not None:
            query = query.where(self._touches(memory_ids))
        if after is not None:
            key = tuple_(table.c.at, table.c.id)
            query = query.where(
                key < tuple_(_bind_moment(table, after.at, "at"), literal(after.id))
            )
        query = query.order_by(table.c.at.desc(), table.c.id.desc()).limit(limit)
        rows = self._connection.execute(query).all()
        changes = self._load_changes([row.id for row in rows])
        return [event_from_row(row, changes.get(row.id, ())) for row in rows]

    def list_applications(
        self, rule_ids: Sequence[str], at: datetime | None = None
    ) -> list[RuleApplication]:
        table = tables.rule_applications
        query = select(table).where(self._own(table), table.c.rule_id.in_(rule_ids))
        if at is not None:
            query = query.where(table.c.applied_at <= at)
        rows = self._connection.execute(query.order_by(table.c.applied_at, table.c.id)).all()
        counted = {row.id: not row.withdrawn for row in rows}
        for change in self.list_changes_after(at, rule_ids) if at is not None else ():
            before, after = (change.before or {}), (change.after or {})
            if "application" in before:
                used = str(before["application"] or after["application"])
                counted[used] = before["application"] is not None
        return [application_from_row(row) for row in rows if counted[row.id]]

    def list_sessions(
        self,
        criteria: SessionFilter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Session]:
        table = tables.sessions
        conditions = [self._own(table), *session_conditions(self._owner_id, criteria)]
        if after is not None:
            conditions.append(tuple_(table.c.active_at, table.c.id) < (after.at, after.id))
        keys = (table.c.active_at, table.c.id)
        order = keys if oldest_first else [key.desc() for key in keys]
        query = select(table).where(*conditions).order_by(*order).limit(limit)
        return [session_from_row(row) for row in self._connection.execute(query)]

    def list_rejections(self, limit: int, after: Position | None = None) -> list[Rejection]:
        table = tables.rejections
        query = select(table).where(self._own(table)).limit(limit)
        if after is not None:
            query = query.where(tuple_(table.c.at, table.c.id) < (after.at, after.id))
        rows = self._connection.execute(query.order_by(table.c.at.desc(), table.c.id.desc()))
        return [rejection_from_row(row) for row in rows]

    def list_empty_sessions(self) -> list[Session]:
        table, turns = tables.sessions, tables.turns
        has_turns = exists().where(self._own(turns), turns.c.session_id == table.c.id)
        query = select(table).where(self._own(table), ~has_turns)
        rows = self._connection.execute(query.order_by(table.c.active_at, table.c.id))
        return [session_from_row(row) for row in rows]

    def list_unembedded(self, model: str, limit: int) -> list[Record]:
        documents, vectors = tables.documents, tables.embeddings
        known = exists().where(
            self._own(vectors), vectors.c.memory_id == documents.c.id, vectors.c.model == model
        )
        query = select(documents.c.id).where(self._own(documents), ~known)
        ids = self._connection.execute(query.order_by(documents.c.number).limit(limit)).scalars()
        return list(self.load(ids).values())

    def count_embedded(self) -> dict[str, int]:
        table = tables.embeddings
        count = func.count(table.c.memory_id.distinct())
        query = select(table.c.model, count).where(self._own(table)).group_by(table.c.model)
        return {row[0]: row[1] for row in self._connection.execute(query)}

    def count(self, criteria: Filter) -> int:
        return sum(
            self._connection.execute(
                select(func.count()).select_from(table).where(self._matches(kind, table, criteria))
            ).scalar_one()
            for kind, table in select_tables(criteria)
        )

    def tally(self, now: datetime, decayed: ConfidenceRange | None = None) -> list[Tally]:
        return [
            Tally(kind, Status(row.status_now), *row[1:])
            for kind, table in tables.MEMORY_TABLES.items()
            for row in self._connection.execute(self._build_tally(table, now, decayed))
        ]

    def count_by_age(
        self, criteria: Filter, since: Literal["recorded_at", "confirmed_at"], days: int = 1
    ) -> list[AgeCount]:
        now = bindparam("now", criteria.now, Moment())
        found: list[Any] = []
        for kind, table in select_tables(criteria):
            age = periods_since(table.c[since], now, days).label("age")
            percent = cast(func.round(table.c.confidence * 100), Integer).label("percent")
            groups = (table.c.permanence, table.c.source, percent, age)
            query = select(*groups, func.count().label("number"))
            query = query.where(self._matches(kind, table, criteria)).group_by(*groups)
            found += self._connection.execute(query).all()
        return [
            AgeCount(Permanence(one.permanence), Source(one.source), one.percent / 100, *one[3:])
            for one in found
        ]

    def count_events(self, until: datetime | None = None) -> int:
        table = tables.events
        return self._count(table, *(() if until is None else (table.c.at <= until,)))

    def find_last_event(self, action: Action, until: datetime) -> datetime | None:
        table = tables.events
        query = select(func.max(table.c.at)).where(
            self._own(table), table.c.action == action, table.c.at <= until
        )
        return self._connection.execute(query).scalar()

    # Building blocks of statements.

    def _load_rows(self, table: Table, ids: Sequence[str]) -> Sequence[Any]:
        query = select(table).where(self._own(table), table.c.id.in_(ids))
        return self._connection.execute(query).all()

    def _matches(self, kind: Kind, table: FromClause, criteria: Filter) -> ColumnElement[bool]:
        tags = [self.has_tag(table, tag) for tag in criteria.tags]
        return and_(matches_filter(self._owner_id, kind, table, criteria), *tags)

    def _touches(self, memory_ids: Sequence[str]) -> ColumnElement[bool]:
        table = tables.changes
        return tables.events.c.id.in_(
            select(table.c.event_id).where(self._own(table), table.c.memory_id.in_(memory_ids))
        )

    def _load_changes(self, event_ids: Sequence[str]) -> dict[str, tuple[Change, ...]]:
        table = tables.changes
        query = select(table).where(self._own(table), table.c.event_id.in_(event_ids))
        found: dict[str, tuple[Change, ...]] = {}
        for row in self._connection.execute(query.order_by(table.c.event_id, table.c.number)):
            change = Change(row.memory_id, row.before, row.after)
            found[row.event_id] = (*found.get(row.event_id, ()), change)
        return found

    def _build_tally(self, table: Table, now: datetime, decayed: ConfidenceRange | None) -> Any:
        over = is_over(table, decayed, bindparam("now", now, Moment()))
        expired = and_(table.c.status == Status.ACTIVE, over)
        status_now = case((expired, Status.EXPIRED), else_=table.c.status).label("status_now")
        category = table.c.category if "category" in table.c else literal(None).label("category")
        groups = [status_now, table.c.scope, table.c.agent, category, table.c.permanence]
        query = select(*groups, func.count()).where(self._own(table))
        return query.group_by(*(group.name for group in groups))


@lru_cache(maxsize=256)
def _prepare_matching(engine: type[SqlReader], kind: Kind, criteria: Filter) -> PreparedStatement:
    """Selects those of the memories `ids` that match.

    The ids come first in a CTE, because SQLite would otherwise scan all active memories.
    """
    table, owner = tables.MEMORY_TABLES[kind], bindparam("owner", "", Text())
    named = select(table).where(table.c.owner_id == owner, engine.is_among_ids(table)).cte("named")
    named = named.prefix_with("MATERIALIZED")
    tags = [engine.has_tag(named, tag) for tag in criteria.tags]
    statement = select(named).where(matches_filter(owner, kind, named, criteria), *tags)
    return PreparedStatement(statement, engine.dialect)


def _clear_later_recall(record: Record, at: datetime) -> Record:
    """Clears a recall that is later than `at`; the earlier one is not recorded."""
    if record.recalled_at is None or record.recalled_at <= at:
        return record
    return replace(record, recalled_at=None)


def chunk_ids(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """The ids in parts that are small enough for one statement."""
    for start in range(0, len(ids), MAX_IDS_PER_STATEMENT):
        yield ids[start : start + MAX_IDS_PER_STATEMENT]


def chunk_by_kind(ids: Iterable[str]) -> Iterator[tuple[Kind, Sequence[str]]]:
    """The ids in parts of one kind, small enough for one statement."""
    by_kind: dict[Kind, list[str]] = {}
    for memory_id in ids:
        by_kind.setdefault(kind_of(memory_id), []).append(memory_id)
    for kind, members in by_kind.items():
        for chunk in chunk_ids(members):
            yield kind, chunk


def _bind_moment(table: Table, at: datetime, column: str = "recorded_at") -> ColumnElement[Any]:
    return literal(at, table.c[column].type)
