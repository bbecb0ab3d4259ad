"""Writes one owner's memories in SQL, with the event that records each change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from remembrancer.errors import Conflict, NotFound
from remembrancer.search.features import detect_features
from remembrancer.search.terms import encode_terms, extract_terms
from remembrancer.store import idempotency, tables
from remembrancer.store.contract import (
    MUTABLE_FIELDS,
    AddApplication,
    AddLink,
    DropLink,
    Embedding,
    Insert,
    Patch,
    Purge,
    StoredResponse,
    WithdrawApplication,
    Write,
    to_json,
)
from remembrancer.store.reader import MAX_IDS_PER_STATEMENT, SqlReader, group_ids_by_kind
from remembrancer.store.rows import record_to_row, session_to_row
from remembrancer.types import (
    Change,
    Event,
    Kind,
    Link,
    Record,
    Rejection,
    RuleApplication,
    Session,
    kind_of,
)


class SqlTransaction(SqlReader):
    """A reader and writer over one connection, bound to one owner."""

    def apply(self, event: Event, writes: Sequence[Write]) -> Event:
        self._has_written = True
        try:
            changes = tuple(
                change
                for kind, group in groupby(writes, type)
                for change in self._write_group(kind, list(group), event.at)
            )
        except IntegrityError as error:
            raise Conflict(
                "Another active memory has the same key now. Check its history and try again."
            ) from error
        self._insert_event(event, changes)
        return replace(event, changes=changes)

    def save_session(self, session: Session) -> None:
        table = tables.sessions
        row = session_to_row(session, self._owner_id)
        updated = update(table).where(self._own(table), table.c.id == session.id).values(row)
        if not self._connection.execute(updated).rowcount:
            self._connection.execute(table.insert(), row)

    def save_rejections(self, rejections: Sequence[Rejection]) -> None:
        rows = [
            {"owner_id": self._owner_id, **asdict(one), "turns": list(one.turns)}
            for one in rejections
        ]
        if rows:
            self._connection.execute(tables.rejections.insert(), rows)

    def drop_rejections(self, before: datetime) -> int:
        return self._delete(tables.rejections, tables.rejections.c.at < before)

    def get_response(self, key: str) -> StoredResponse | None:
        return idempotency.read_response(self._connection, self._owner_id, key)

    def save_response(self, response: StoredResponse) -> None:
        idempotency.save_response(self._connection, self._owner_id, response)

    def drop_response(self, key: str) -> None:
        idempotency.drop_response(self._connection, self._owner_id, key)

    def drop_responses(self, before: datetime) -> int:
        return idempotency.drop_responses(self._connection, self._owner_id, before)

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

    def count_recalls(
        self, counts: Mapping[str, int], at: datetime, *, extend_expiry: bool = False
    ) -> None:
        alike: dict[tuple[Kind, int], list[str]] = {}
        for memory_id, count in counts.items():
            alike.setdefault((kind_of(memory_id), count), []).append(memory_id)
        for (kind, count), ids in alike.items():
            table = tables.MEMORY_TABLES[kind]
            for start in range(0, len(ids), MAX_IDS_PER_STATEMENT):
                chunk = ids[start : start + MAX_IDS_PER_STATEMENT]
                self._connection.execute(
                    update(table)
                    .where(self._own(table), table.c.id.in_(chunk))
                    .values(recall_count=table.c.recall_count + count, recalled_at=at)
                )
                if extend_expiry:
                    self._extend_expiry(table, chunk, at)

    def _extend_expiry(self, table: Table, ids: Sequence[str], at: datetime) -> None:
        """Extend memories that would expire by the time they were first given."""
        expiring = and_(table.c.expires_at > at, table.c.ttl_days.is_not(None))
        query = select(table.c.id, table.c.expires_at, table.c.ttl_days)
        rows = self._connection.execute(
            query.where(self._own(table), table.c.id.in_(ids), expiring)
        )
        for memory_id, expires_at, ttl_days in rows.all():
            renewed = at + timedelta(days=ttl_days)
            if renewed > expires_at:
                self._connection.execute(
                    update(table)
                    .where(self._own(table), table.c.id == memory_id)
                    .values(expires_at=renewed)
                )

    def add_embeddings(self, vectors: Mapping[str, Sequence[Embedding]]) -> None:
        self._has_written = True
        pairs = [(memory_id, each) for memory_id, group in vectors.items() for each in group]
        _, first = self._reserve_numbers(0, len(pairs))
        rows = [
            self._embedding_row(memory_id, each, number)
            for number, (memory_id, each) in enumerate(pairs, first)
        ]
        if rows:
            self._connection.execute(tables.embeddings.insert(), rows)

    def drop_vectors(self, keep_model: str) -> int:
        table = tables.embeddings
        others = table.c.model != keep_model
        count = select(func.count(table.c.memory_id.distinct())).where(self._own(table), others)
        dropped = int(self._connection.execute(count).scalar_one())
        self._delete(table, others)
        return dropped

    def _write_group(
        self, kind: type[Write], writes: Sequence[Any], at: datetime
    ) -> Iterable[Change]:
        """Carry out writes of one type, in bulk where that is faster."""
        if kind is Insert:
            return self._insert(writes)
        if kind is Patch:
            return self._patch(writes, at)
        if kind is Purge:
            return self._purge(writes)
        return [self._write_one(write) for write in writes]

    def _write_one(self, write: Write) -> Change:
        match write:
            case AddLink(link):
                return self._add_link(link)
            case DropLink(link):
                return self._drop_link(link)
            case AddApplication(application):
                return self._add_application(application)
            case WithdrawApplication(rule_id, application_id, back):
                return self._withdraw_application(rule_id, application_id, back)
            case _:
                raise AssertionError(f"{write} is written in bulk")

    def _insert(self, inserts: Sequence[Insert]) -> list[Change]:
        records = [insert.record for insert in inserts]
        vectors = [(one.record.id, each) for one in inserts for each in one.embeddings]
        documents, embeddings = self._reserve_numbers(len(records), len(vectors))
        rows = [
            self._document_row(record, number) for number, record in enumerate(records, documents)
        ]
        self._connection.execute(tables.documents.insert(), rows)
        for kind, group in _group_by_kind(records).items():
            memories = [record_to_row(record, self._owner_id) for record in group]
            self._connection.execute(tables.MEMORY_TABLES[kind].insert(), memories)
        if vectors:
            rows = [
                self._embedding_row(memory_id, each, number)
                for number, (memory_id, each) in enumerate(vectors, embeddings)
            ]
            self._connection.execute(tables.embeddings.insert(), rows)
        return [Change(record.id, None, {"status": record.status}) for record in records]

    def _reserve_numbers(self, documents: int, vectors: int) -> tuple[int, int]:
        """Reserve consecutive numbers for new documents and vectors; indexes in all processes rely
        on them.
        """
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

    def _document_row(self, record: Record, number: int) -> dict[str, object]:
        return {
            "owner_id": self._owner_id,
            "id": record.id,
            "number": number,
            "kind": record.kind,
            "codes": encode_terms(extract_terms(record.search_text)),
            "marks": detect_features(record.content),
        }

    def _embedding_row(
        self, memory_id: str, embedding: Embedding, number: int
    ) -> dict[str, object]:
        return {
            "owner_id": self._owner_id,
            "memory_id": memory_id,
            "model": embedding.model,
            "part": embedding.part,
            "number": number,
            "marks": embedding.marks,
            "crowded": number > self._indexes.max_vectors,
            "vector": embedding.vector,
        }

    def _patch(self, patches: Sequence[Patch], at: datetime) -> list[Change]:
        rows = self._load_patched_rows(patches)
        before_values = [
            {name: getattr(rows[one.id], name) for name in one.values} for one in patches
        ]
        self._save_states(
            [
                rows[one.id]
                for one, before in zip(patches, before_values, strict=True)
                if before.get("status") != one.values.get("status") or "valid_until" in one.values
            ],
            at,
        )
        for table, values, ids in _group_patches(patches):
            for start in range(0, len(ids), MAX_IDS_PER_STATEMENT):
                chunk = table.c.id.in_(ids[start : start + MAX_IDS_PER_STATEMENT])
                self._connection.execute(
                    update(table).where(self._own(table), chunk).values(values)
                )
        return [
            Change(one.id, to_json(before), to_json(one.values))
            for one, before in zip(patches, before_values, strict=True)
        ]

    def _load_patched_rows(self, patches: Sequence[Patch]) -> dict[str, Any]:
        """The current rows of the memories to be patched."""
        rows: dict[str, Any] = {}
        names = {name for one in patches for name in one.values}
        assert names <= MUTABLE_FIELDS, f"not mutable: {names - MUTABLE_FIELDS}"
        for kind, ids in group_ids_by_kind(one.id for one in patches).items():
            assert len(ids) == len(set(ids)), "a memory is patched at most once in an event"
            table = tables.MEMORY_TABLES[kind]
            columns = {"id", "status", "valid_until", "recorded_at"} | names & set(table.c.keys())
            for start in range(0, len(ids), MAX_IDS_PER_STATEMENT):
                chunk = table.c.id.in_(ids[start : start + MAX_IDS_PER_STATEMENT])
                query = select(*(table.c[name] for name in columns)).where(self._own(table), chunk)
                rows |= {row.id: row for row in self._connection.execute(query)}
        for one in patches:
            if one.id not in rows:
                raise NotFound(f"There is no memory {one.id}.")
        return rows

    def _save_states(self, rows: Sequence[Any], at: datetime) -> None:
        """Record the states that end now."""
        past = self._load_last_states([row.id for row in rows])
        states = [
            {
                "owner_id": self._owner_id,
                "memory_id": row.id,
                "number": number,
                "status": row.status,
                "valid_until": row.valid_until,
                "since": since or row.recorded_at,
                "until": at,
            }
            for row in rows
            for number, since in (past.get(row.id, (0, None)),)
        ]
        if states:
            self._insert_rows(tables.states, states)

    def _load_last_states(self, ids: Sequence[str]) -> dict[str, tuple[int, datetime]]:
        """For each memory with past states: their number, and the end of the last one."""
        table = tables.states
        found: dict[str, tuple[int, datetime]] = {}
        for start in range(0, len(ids), MAX_IDS_PER_STATEMENT):
            query = (
                select(table.c.memory_id, func.count(), func.max(table.c.until))
                .where(
                    self._own(table),
                    table.c.memory_id.in_(ids[start : start + MAX_IDS_PER_STATEMENT]),
                )
                .group_by(table.c.memory_id)
            )
            for memory_id, count, until in self._connection.execute(query):
                found[memory_id] = (count, until)
        return found

    def _purge(self, purges: Sequence[Purge]) -> list[Change]:
        ids = [one.id for one in purges]
        known = self._load_session_ids(ids)
        for memory_id in ids:
            if memory_id not in known:
                raise NotFound(f"There is no memory {memory_id}.")
        for kind, members in group_ids_by_kind(ids).items():
            for start in range(0, len(members), MAX_IDS_PER_STATEMENT):
                self._destroy(kind, members[start : start + MAX_IDS_PER_STATEMENT])
        self._purge_sessions({session for session in known.values() if session is not None})
        idempotency.drop_responses_naming(self._connection, self._owner_id, ids)
        owners = tables.owners
        removed = owners.c.documents_removed + len(ids)
        self._connection.execute(
            update(owners).where(self._own(owners)).values(documents_removed=removed)
        )
        return [Change(memory_id, None, None) for memory_id in ids]

    def _load_session_ids(self, ids: Sequence[str]) -> dict[str, str | None]:
        """The session of each memory that exists."""
        found: dict[str, str | None] = {}
        for kind, members in group_ids_by_kind(ids).items():
            table = tables.MEMORY_TABLES[kind]
            for start in range(0, len(members), MAX_IDS_PER_STATEMENT):
                chunk = table.c.id.in_(members[start : start + MAX_IDS_PER_STATEMENT])
                query = select(table.c.id, table.c.session_id).where(self._own(table), chunk)
                found |= {row.id: row.session_id for row in self._connection.execute(query)}
        return found

    def _destroy(self, kind: Kind, ids: Sequence[str]) -> None:
        """Delete memories of one kind and everything that refers to them."""
        table, links = tables.MEMORY_TABLES[kind], tables.links
        self._connection.execute(
            update(table)
            .where(self._own(table), table.c.supersedes.in_(ids))
            .values(supersedes=None)
        )
        self._delete(links, or_(links.c.source.in_(ids), links.c.target.in_(ids)))
        self._delete(tables.states, tables.states.c.memory_id.in_(ids))
        if kind is Kind.RULE:
            applications = tables.rule_applications
            self._delete(applications, applications.c.rule_id.in_(ids))
        self._delete(tables.embeddings, tables.embeddings.c.memory_id.in_(ids))
        self._delete(table, table.c.id.in_(ids))
        self._delete(tables.documents, tables.documents.c.id.in_(ids))

    def _purge_sessions(self, sessions: Iterable[str]) -> None:
        """Delete what sessions still reveal about deleted turns.

        A session without turns is deleted with its title and summary.
        """
        table, turns, rejected = tables.sessions, tables.turns, tables.rejections
        has_turns = exists().where(self._own(turns), turns.c.session_id == table.c.id)
        for session_id in sessions:
            self._delete(rejected, rejected.c.session_id == session_id)
            self._delete(table, and_(table.c.id == session_id, ~has_turns))

    def _add_link(self, link: Link) -> Change:
        row = {
            "owner_id": self._owner_id,
            "source": link.source,
            "target": link.target,
            "relation": link.relation,
            "created_at": link.created_at,
        }
        self._connection.execute(tables.links.insert(), row)
        return Change(link.source, {"link": None}, {"link": _link_to_json(link)})

    def _drop_link(self, link: Link) -> Change:
        table = tables.links
        same = and_(
            table.c.source == link.source,
            table.c.target == link.target,
            table.c.relation == link.relation,
        )
        self._delete(table, same)
        return Change(link.source, {"link": _link_to_json(link)}, {"link": None})

    def _add_application(self, application: RuleApplication) -> Change:
        row = {field.name: getattr(application, field.name) for field in fields(application)}
        own: dict[str, object] = {"owner_id": self._owner_id, "withdrawn": False}
        self._connection.execute(tables.rule_applications.insert(), own | row)
        return Change(application.rule_id, {"application": None}, {"application": application.id})

    def _withdraw_application(self, rule_id: str, application_id: str, undo: bool) -> Change:
        table = tables.rule_applications
        self._connection.execute(
            update(table)
            .where(self._own(table), table.c.id == application_id, table.c.rule_id == rule_id)
            .values(withdrawn=not undo)
        )
        counted, withdrawn = {"application": application_id}, {"application": None}
        return Change(rule_id, withdrawn, counted) if undo else Change(rule_id, counted, withdrawn)

    def _insert_event(self, event: Event, changes: Sequence[Change]) -> None:
        own: dict[str, object] = {"owner_id": self._owner_id}
        columns = ("id", "at", "action", "agent", "surface", "note", "undoes", "batch_id")
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
            self._insert_rows(tables.changes, rows)

    def _insert_rows(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        self._connection.execute(table.insert(), rows)

    def _delete(self, table: Table, which: ColumnElement[bool]) -> int:
        return self._connection.execute(table.delete().where(self._own(table), which)).rowcount


def _group_by_kind(records: Iterable[Record]) -> dict[Kind, list[Record]]:
    found: dict[Kind, list[Record]] = {}
    for record in records:
        found.setdefault(record.kind, []).append(record)
    return found


def _group_patches(patches: Sequence[Patch]) -> list[tuple[Table, dict[str, object], list[str]]]:
    """Group the patches that set the same values in the same table."""
    groups: dict[str, tuple[Table, dict[str, object], list[str]]] = {}
    for one in patches:
        table = tables.MEMORY_TABLES[kind_of(one.id)]
        key = f"{table.name} {sorted(to_json(one.values).items())}"
        groups.setdefault(key, (table, _to_column_values(one.values), []))[2].append(one.id)
    return list(groups.values())


def _to_column_values(values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _link_to_json(link: Link) -> dict[str, Any]:
    return {
        "source": link.source,
        "target": link.target,
        "relation": link.relation,
        "created_at": link.created_at.isoformat(),
    }
