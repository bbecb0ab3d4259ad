"""One owner's transaction in SQL: everything that is the same on both engines.

Every statement names the owner on every table it touches, so that a sharded database can route it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    FromClause,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from remembrancer.errors import Conflict, NotFound
from remembrancer.search.marks import marks
from remembrancer.store import tables
from remembrancer.store.conditions import moments_of, passes, tables_of
from remembrancer.store.contract import (
    MUTABLE,
    AddLink,
    DropLink,
    Embedding,
    Filter,
    Hit,
    Insert,
    Patch,
    Position,
    Purge,
    Tally,
    Write,
    frozen,
    thawed,
)
from remembrancer.store.indexes import Indexes
from remembrancer.store.prepared import Prepared
from remembrancer.store.rows import (
    event_of,
    link_of,
    read,
    record_of,
    row_of,
    session_of,
    session_row,
    state_of,
    turn_of,
)
from remembrancer.text import codes, terms
from remembrancer.types import (
    Change,
    Event,
    Kind,
    Link,
    Record,
    Session,
    State,
    Status,
    Turn,
    kind_of,
)

if TYPE_CHECKING:
    from remembrancer.search.index import Index

EPOCH = datetime.fromtimestamp(0, UTC)
CHUNK = 500
"""How many ids one statement names at most."""


class SqlTransaction(ABC):
    """A reader and writer over one connection, bound to one owner."""

    def __init__(self, connection: Connection, owner_id: str, indexes: Indexes) -> None:
        self._connection = connection
        self._owner_id = owner_id
        self._indexes = indexes
        self._has_written = False

    # What differs between the engines.

    dialect: ClassVar[Dialect]

    @abstractmethod
    def beyond(self, query: Embedding) -> list[Hit]: ...

    @abstractmethod
    def _vectors(self, statement: Select[Any]) -> Iterator[Any]: ...

    @staticmethod
    @abstractmethod
    def is_named(table: FromClause) -> ColumnElement[bool]:
        """Whether a memory's id is among the parameter `ids`, in a statement of constant text."""
        ...

    @staticmethod
    @abstractmethod
    def has_tag(table: FromClause, tag: str) -> ColumnElement[bool]:
        """Whether a memory has a tag."""
        ...

    # Reading.

    def get(self, memory_id: str) -> Record | None:
        return self.load([memory_id]).get(memory_id)

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        return {
            row.id: record_of(kind, row)
            for kind, members in _by_kind(ids).items()
            for start in range(0, len(members), CHUNK)
            for row in self._rows(tables.MEMORY_TABLES[kind], members[start : start + CHUNK])
        }

    def passing(self, ids: Sequence[str], wanted: Filter) -> dict[str, Record]:
        found: dict[str, Record] = {}
        by_kind = _by_kind(ids)
        timeless = replace(
            wanted,
            now=EPOCH,
            known_at=EPOCH if wanted.known_at else None,
            true_at=EPOCH if wanted.true_at else None,
        )
        for kind, _ in tables_of(wanted):
            for start in range(0, len(by_kind.get(kind, ())), CHUNK):
                some = by_kind[kind][start : start + CHUNK]
                given = {"owner": self._owner_id, "ids": some, **moments_of(wanted)}
                rows = _passing(type(self), kind, timeless).rows(self._connection, given)
                records = [record_of(kind, row, self.dialect) for row in rows]
                found |= {record.id: record for record in records}
        return found

    def index(self, model: str) -> Index:
        # What this transaction has not committed must not enter the index that others share.
        shared = self._indexes.of(self._owner_id, model)
        with shared.lock:
            index = shared.fork() if self._has_written else shared
            self._indexes.refresh(
                index, self._connection, self.dialect, self._owner_id, self._vectors
            )
            return index.view()

    def similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        table = tables.embeddings
        best: dict[str, float] = {}
        for start in range(0, len(ids), CHUNK):
            statement = select(table.c.memory_id, table.c.vector).where(
                self._own(table),
                table.c.model == query.model,
                table.c.memory_id.in_(ids[start : start + CHUNK]),
            )
            for memory_id, vector in self._vectors(statement):
                score = round(float(vector @ query.vector), 6)
                best[memory_id] = max(score, best.get(memory_id, score))
        return [Hit(memory_id, score) for memory_id, score in best.items()]

    def find(self, wanted: Filter, limit: int, after: Position | None = None) -> list[Record]:
        found: list[Record] = []
        for kind, table in tables_of(wanted):
            query = select(table).where(self._passes(kind, table, wanted))
            if after is not None:
                place = tuple_(table.c.recorded_at, table.c.id)
                query = query.where(place < tuple_(_moment(table, after.at), literal(after.id)))
            query = query.order_by(table.c.recorded_at.desc(), table.c.id.desc()).limit(limit)
            found += [record_of(kind, row) for row in self._connection.execute(query)]
        found.sort(key=lambda record: (record.recorded_at, record.id), reverse=True)
        return found[:limit]

    def as_known(self, records: Sequence[Record], at: datetime) -> list[Record]:
        events, changes = tables.events, tables.changes
        query = (
            select(changes.c.memory_id, changes.c.before)
            .join(events, and_(self._own(events), events.c.id == changes.c.event_id))
            .where(self._own(changes), changes.c.memory_id.in_([one.id for one in records]))
            .where(events.c.at > at)
            .order_by(events.c.at.desc(), events.c.id.desc(), changes.c.number.desc())
        )
        earlier: dict[str, dict[str, object]] = {one.id: {} for one in records}
        for memory_id, before in self._connection.execute(query):
            if before and "link" not in before:
                earlier[memory_id] |= thawed(before)
        return [_unrecalled(replace(one, **read(earlier[one.id])), at) for one in records]

    def session(self, session_id: str) -> Session | None:
        table = tables.sessions
        query = select(table).where(self._own(table), table.c.id == session_id)
        row = self._connection.execute(query).first()
        return session_of(row) if row else None

    def turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        table = tables.turns
        query = (
            select(table)
            .where(self._own(table), table.c.session_id == session_id, table.c.position > after)
            .order_by(table.c.position)
            .limit(limit)
        )
        return [turn_of(row) for row in self._connection.execute(query)]

    def states(self, memory_id: str) -> list[State]:
        table = tables.states
        query = select(table).where(self._own(table), table.c.memory_id == memory_id)
        return [state_of(row) for row in self._connection.execute(query.order_by(table.c.number))]

    def links(self, memory_id: str) -> list[Link]:
        table = tables.links
        touches = or_(table.c.source == memory_id, table.c.target == memory_id)
        query = select(table).where(self._own(table), touches)
        order = (table.c.created_at, table.c.source, table.c.target, table.c.relation)
        return [link_of(row) for row in self._connection.execute(query.order_by(*order))]

    def event(self, event_id: str) -> Event | None:
        table = tables.events
        row = self._connection.execute(
            select(table).where(self._own(table), table.c.id == event_id)
        ).first()
        return event_of(row, self._changes([event_id]).get(event_id, ())) if row else None

    def events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        table = tables.events
        query = select(table).where(self._own(table))
        if memory_ids is not None:
            query = query.where(self._touched(memory_ids))
        if after is not None:
            place = tuple_(table.c.at, table.c.id)
            query = query.where(place < tuple_(_moment(table, after.at, "at"), literal(after.id)))
        query = query.order_by(table.c.at.desc(), table.c.id.desc()).limit(limit)
        rows = self._connection.execute(query).all()
        changes = self._changes([row.id for row in rows])
        return [event_of(row, changes.get(row.id, ())) for row in rows]

    def tally(self) -> list[Tally]:
        return [
            Tally(kind, Status(row.status), row.scope, row.category, row.permanence, row.number)
            for kind, table in tables.MEMORY_TABLES.items()
            for row in self._connection.execute(self._tally_of(table))
        ]

    def count_events(self) -> int:
        table = tables.events
        query = select(func.count()).select_from(table).where(self._own(table))
        return int(self._connection.execute(query).scalar_one())

    # Writing.

    def apply(self, event: Event, writes: Sequence[Write]) -> Event:
        self._has_written = True
        try:
            changes = tuple(
                change
                for is_insert, some in groupby(writes, lambda write: isinstance(write, Insert))
                for change in self._carry_out_all(is_insert, list(some), event.at)
            )
        except IntegrityError as error:
            raise Conflict(
                "Another memory holds this place by now; look at its history and try again."
            ) from error
        self._record(event, changes)
        return Event(
            id=event.id,
            at=event.at,
            action=event.action,
            agent=event.agent,
            surface=event.surface,
            note=event.note,
            undoes=event.undoes,
            changes=changes,
        )

    def keep_session(self, session: Session) -> None:
        table = tables.sessions
        row = session_row(session, self._owner_id)
        updated = update(table).where(self._own(table), table.c.id == session.id).values(row)
        if not self._connection.execute(updated).rowcount:
            self._connection.execute(table.insert(), {**row, "attempts": 0})

    def next_position(self, session_id: str) -> int:
        table = tables.turns
        last = select(func.max(table.c.position)).where(
            self._own(table), table.c.session_id == session_id
        )
        position = self._connection.execute(last).scalar()
        return 0 if position is None else int(position) + 1

    def mark_undone(self, event_id: str, by: str | None) -> None:
        table = tables.events
        self._connection.execute(
            update(table).where(self._own(table), table.c.id == event_id).values(undone_by=by)
        )

    def refer(self, counts: Mapping[str, int], at: datetime) -> None:
        alike: dict[tuple[Kind, int], list[str]] = {}
        for memory_id, count in counts.items():
            alike.setdefault((kind_of(memory_id), count), []).append(memory_id)
        for (kind, count), ids in alike.items():
            table = tables.MEMORY_TABLES[kind]
            for start in range(0, len(ids), CHUNK):
                self._connection.execute(
                    update(table)
                    .where(self._own(table), table.c.id.in_(ids[start : start + CHUNK]))
                    .values(recall_count=table.c.recall_count + count, recalled_at=at)
                )

    def _carry_out_all(
        self, inserts: bool, writes: Sequence[Write], at: datetime
    ) -> Iterable[Change]:
        if inserts:
            return self._insert([write for write in writes if isinstance(write, Insert)])
        return [self._carry_out(write, at) for write in writes]

    def _carry_out(self, write: Write, at: datetime) -> Change:
        match write:
            case Insert():
                return self._insert([write])[0]
            case Patch(memory_id, values):
                return self._patch(memory_id, values, at)
            case Purge(memory_id):
                return self._purge(memory_id)
            case AddLink(link):
                return self._add_link(link)
            case DropLink(link):
                return self._drop_link(link)

    def _insert(self, inserts: Sequence[Insert]) -> list[Change]:
        records = [insert.record for insert in inserts]
        vectors = [(one.record.id, each) for one in inserts for each in one.embeddings]
        documents, embeddings = self._numbered(len(records), len(vectors))
        rows = [self._document(record, number) for number, record in enumerate(records, documents)]
        self._connection.execute(tables.documents.insert(), rows)
        for kind, some in _grouped(records).items():
            memories = [row_of(record, self._owner_id) for record in some]
            self._connection.execute(tables.MEMORY_TABLES[kind].insert(), memories)
        if vectors:
            rows = [
                self._embedding(memory_id, each, number)
                for number, (memory_id, each) in enumerate(vectors, embeddings)
            ]
            self._connection.execute(tables.embeddings.insert(), rows)
        return [Change(record.id, None, {"status": record.status}) for record in records]

    def _numbered(self, documents: int, vectors: int) -> tuple[int, int]:
        """The first numbers of new documents and vectors; all processes' indexes go by them."""
        table = tables.owners
        self._connection.execute(
            update(table)
            .where(self._own(table))
            .values(
                documents_added=table.c.documents_added + documents,
                vectors_added=table.c.vectors_added + vectors,
            )
        )
        row = self._connection.execute(
            select(table.c.documents_added, table.c.vectors_added).where(self._own(table))
        ).one()
        return row.documents_added - documents + 1, row.vectors_added - vectors + 1

    def _document(self, record: Record, number: int) -> dict[str, object]:
        return {
            "owner_id": self._owner_id,
            "id": record.id,
            "number": number,
            "kind": record.kind,
            "codes": codes(terms(record.searchable)),
            "marks": marks(record.content),
        }

    def _embedding(self, memory_id: str, embedding: Embedding, number: int) -> dict[str, object]:
        return {
            "owner_id": self._owner_id,
            "memory_id": memory_id,
            "model": embedding.model,
            "part": embedding.part,
            "number": number,
            "marks": embedding.marks,
            "crowded": number > self._indexes.most_vectors,
            "vector": embedding.vector,
        }

    def _patch(self, memory_id: str, values: Mapping[str, object], at: datetime) -> Change:
        assert values.keys() <= MUTABLE, f"not mutable: {values.keys() - MUTABLE}"
        table = tables.MEMORY_TABLES[kind_of(memory_id)]
        row = next(iter(self._rows(table, [memory_id])), None)
        if row is None:
            raise NotFound(f"There is no memory {memory_id}.")
        before = {name: getattr(row, name) for name in values}
        if before.get("status") != values.get("status") or "valid_until" in values:
            self._keep_state(row, at)
        self._connection.execute(
            update(table).where(self._own(table), table.c.id == memory_id).values(**_stored(values))
        )
        return Change(memory_id, frozen(before), frozen(values))

    def _keep_state(self, row: Any, at: datetime) -> None:
        past = self.states(row.id)
        state = {
            "owner_id": self._owner_id,
            "memory_id": row.id,
            "number": len(past),
            "status": row.status,
            "valid_until": row.valid_until,
            "since": past[-1].until if past else row.recorded_at,
            "until": at,
        }
        self._connection.execute(tables.states.insert(), state)

    def _purge(self, memory_id: str) -> Change:
        table = tables.MEMORY_TABLES[kind_of(memory_id)]
        if self.get(memory_id) is None:
            raise NotFound(f"There is no memory {memory_id}.")
        self._connection.execute(
            update(table)
            .where(self._own(table), table.c.supersedes == memory_id)
            .values(supersedes=None)
        )
        links = tables.links
        self._delete(links, or_(links.c.source == memory_id, links.c.target == memory_id))
        self._delete(tables.states, tables.states.c.memory_id == memory_id)
        if table is tables.rules:
            applications = tables.rule_applications
            self._delete(applications, applications.c.rule_id == memory_id)
        embeddings, documents = tables.embeddings, tables.documents
        self._delete(embeddings, embeddings.c.memory_id == memory_id)
        self._delete(table, table.c.id == memory_id)
        self._delete(documents, documents.c.id == memory_id)
        owners = tables.owners
        removed = owners.c.documents_removed + 1
        self._connection.execute(
            update(owners).where(self._own(owners)).values(documents_removed=removed)
        )
        return Change(memory_id, None, None)

    def _add_link(self, link: Link) -> Change:
        row = {
            "owner_id": self._owner_id,
            "source": link.source,
            "target": link.target,
            "relation": link.relation,
            "created_at": link.created_at,
        }
        self._connection.execute(tables.links.insert(), row)
        return Change(link.source, {"link": None}, {"link": _as_json(link)})

    def _drop_link(self, link: Link) -> Change:
        table = tables.links
        same = and_(
            table.c.source == link.source,
            table.c.target == link.target,
            table.c.relation == link.relation,
        )
        self._delete(table, same)
        return Change(link.source, {"link": _as_json(link)}, {"link": None})

    def _record(self, event: Event, changes: Sequence[Change]) -> None:
        own: dict[str, object] = {"owner_id": self._owner_id}
        columns = ("id", "at", "action", "agent", "surface", "note", "undoes")
        self._connection.execute(
            tables.events.insert(), own | {name: getattr(event, name) for name in columns}
        )
        rows = [
            own
            | {
                "event_id": event.id,
                "number": number,
                "memory_id": change.memory_id,
                "before": change.before,
                "after": change.after,
            }
            for number, change in enumerate(changes)
        ]
        if rows:
            self._connection.execute(tables.changes.insert(), rows)

    def _delete(self, table: Table, which: ColumnElement[bool]) -> int:
        return self._connection.execute(table.delete().where(self._own(table), which)).rowcount

    # Parts of statements.

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.owner_id == self._owner_id

    def _rows(self, table: Table, ids: Sequence[str]) -> Sequence[Any]:
        query = select(table).where(self._own(table), table.c.id.in_(ids))
        return self._connection.execute(query).all()

    def _passes(self, kind: Kind, table: FromClause, wanted: Filter) -> ColumnElement[bool]:
        tags = [self.has_tag(table, tag) for tag in wanted.tags]
        return and_(passes(self._owner_id, kind, table, wanted), *tags)

    def _touched(self, memory_ids: Sequence[str]) -> ColumnElement[bool]:
        table = tables.changes
        return tables.events.c.id.in_(
            select(table.c.event_id).where(self._own(table), table.c.memory_id.in_(memory_ids))
        )

    def _changes(self, event_ids: Sequence[str]) -> dict[str, tuple[Change, ...]]:
        table = tables.changes
        query = select(table).where(self._own(table), table.c.event_id.in_(event_ids))
        found: dict[str, tuple[Change, ...]] = {}
        for row in self._connection.execute(query.order_by(table.c.event_id, table.c.number)):
            change = Change(row.memory_id, row.before, row.after)
            found[row.event_id] = (*found.get(row.event_id, ()), change)
        return found

    def _tally_of(self, table: Table) -> Any:
        category = table.c.category if "category" in table.c else literal(None)
        groups = (table.c.status, table.c.scope, category.label("category"), table.c.permanence)
        return (
            select(*groups, func.count().label("number"))
            .where(self._own(table))
            .group_by(
                *(group for group in groups if group.name != "category" or "category" in table.c)
            )
        )


@lru_cache(maxsize=256)
def _passing(engine: type[SqlTransaction], kind: Kind, wanted: Filter) -> Prepared:
    """Which of the memories `ids` pass.

    By the ids first: SQLite would rather go through everything that is active.
    """
    table, owner = tables.MEMORY_TABLES[kind], bindparam("owner", "", Text())
    named = select(table).where(table.c.owner_id == owner, engine.is_named(table)).cte("named")
    named = named.prefix_with("MATERIALIZED")
    tags = [engine.has_tag(named, tag) for tag in wanted.tags]
    passing = select(named).where(passes(owner, kind, named, wanted), *tags)
    return Prepared(passing, engine.dialect)


def _unrecalled(record: Record, at: datetime) -> Record:
    """As if it had not been recalled since; how often it had been by then is not known."""
    if record.recalled_at is None or record.recalled_at <= at:
        return record
    return replace(record, recalled_at=None)


def _by_kind(ids: Iterable[str]) -> dict[Kind, list[str]]:
    found: dict[Kind, list[str]] = {}
    for memory_id in ids:
        found.setdefault(kind_of(memory_id), []).append(memory_id)
    return found


def _grouped(records: Iterable[Record]) -> dict[Kind, list[Record]]:
    found: dict[Kind, list[Record]] = {}
    for record in records:
        found.setdefault(record.kind, []).append(record)
    return found


def _moment(table: Table, at: datetime, column: str = "recorded_at") -> ColumnElement[Any]:
    return literal(at, table.c[column].type)


def _stored(values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _as_json(link: Link) -> dict[str, Any]:
    return {
        "source": link.source,
        "target": link.target,
        "relation": link.relation,
        "created_at": link.created_at.isoformat(),
    }
