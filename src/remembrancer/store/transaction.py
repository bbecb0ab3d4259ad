"""One owner's transaction in SQL: everything that is the same on both engines.

Every statement names the owner on every table it touches, so that a sharded database can route it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from remembrancer.errors import Conflict, NotFound
from remembrancer.store import tables
from remembrancer.store.conditions import passes, tables_of
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
from remembrancer.store.rows import event_of, link_of, read, record_of, row_of, state_of
from remembrancer.types import Change, Event, Kind, Link, Record, State, Status, kind_of

CHUNK = 500
"""How many ids one statement names at most."""


class SqlTransaction(ABC):
    """A reader and writer over one connection, bound to one owner."""

    def __init__(self, connection: Connection, owner_id: str) -> None:
        self._connection = connection
        self._owner_id = owner_id
        self._vectors_added = 0
        self._vectors_removed = 0

    # What differs between the engines.

    @abstractmethod
    def semantic(self, query: Embedding, wanted: Filter, limit: int) -> list[Hit]: ...

    @abstractmethod
    def keyword(self, terms: Sequence[str], wanted: Filter, limit: int) -> list[Hit]: ...

    @abstractmethod
    def _index(self, record: Record) -> None: ...

    @abstractmethod
    def _unindex(self, memory_id: str) -> None: ...

    @abstractmethod
    def _has_tag(self, table: Table, tag: str) -> ColumnElement[bool]: ...

    # Reading.

    def get(self, memory_id: str) -> Record | None:
        return self.load([memory_id]).get(memory_id)

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        by_kind: dict[Kind, list[str]] = {}
        for memory_id in ids:
            by_kind.setdefault(kind_of(memory_id), []).append(memory_id)
        return {
            row.id: record_of(kind, row)
            for kind, members in by_kind.items()
            if kind in tables.MEMORY_TABLES
            for start in range(0, len(members), CHUNK)
            for row in self._rows(tables.MEMORY_TABLES[kind], members[start : start + CHUNK])
        }

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
        return [replace(one, **read(earlier[one.id])) for one in records]

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
        try:
            changes = tuple(self._carry_out(write, event.at) for write in writes)
        except IntegrityError as error:
            raise Conflict(
                "Another memory holds this place by now; look at its history and try again."
            ) from error
        self._record(event, changes)
        self._count_vectors()
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

    def _carry_out(self, write: Write, at: datetime) -> Change:
        match write:
            case Insert(record, embedding):
                return self._insert(record, embedding)
            case Patch(memory_id, values):
                return self._patch(memory_id, values, at)
            case Purge(memory_id):
                return self._purge(memory_id)
            case AddLink(link):
                return self._add_link(link)
            case DropLink(link):
                return self._drop_link(link)

    def _insert(self, record: Record, embedding: Embedding | None) -> Change:
        self._index(record)
        table = tables.MEMORY_TABLES[record.kind]
        self._connection.execute(table.insert(), row_of(record, self._owner_id))
        if embedding is not None:
            self._embed(record.id, embedding)
        return Change(record.id, None, {"status": record.status})

    def _embed(self, memory_id: str, embedding: Embedding) -> None:
        row = {
            "owner_id": self._owner_id,
            "memory_id": memory_id,
            "model": embedding.model,
            "part": 0,
            "kind": kind_of(memory_id),
            "vector": embedding.vector,
        }
        self._connection.execute(tables.embeddings.insert(), row)
        self._vectors_added += 1

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
        embeddings = tables.embeddings
        self._vectors_removed += self._delete(embeddings, embeddings.c.memory_id == memory_id)
        self._delete(table, table.c.id == memory_id)
        self._unindex(memory_id)
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

    def _count_vectors(self) -> None:
        """Tell other processes' caches that the vectors have changed."""
        table = tables.owners
        if self._vectors_added or self._vectors_removed:
            self._connection.execute(
                update(table)
                .where(self._own(table))
                .values(
                    vectors_added=table.c.vectors_added + self._vectors_added,
                    vectors_removed=table.c.vectors_removed + self._vectors_removed,
                )
            )
        self._vectors_added = self._vectors_removed = 0

    def _delete(self, table: Table, which: ColumnElement[bool]) -> int:
        return self._connection.execute(table.delete().where(self._own(table), which)).rowcount

    # Parts of statements.

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.owner_id == self._owner_id

    def _rows(self, table: Table, ids: Sequence[str]) -> Sequence[Any]:
        query = select(table).where(self._own(table), table.c.id.in_(ids))
        return self._connection.execute(query).all()

    def _passes(self, kind: Kind, table: Table, wanted: Filter) -> ColumnElement[bool]:
        tags = [self._has_tag(table, tag) for tag in wanted.tags]
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
