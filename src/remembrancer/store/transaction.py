"""Writes one owner's memories in SQL, with the event that records each change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Table, and_, exists, func, literal, or_, select
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
    Rewrite,
    StoredResponse,
    WithdrawApplication,
    Write,
    to_json,
)
from remembrancer.store.index_cache import IndexCache
from remembrancer.store.moments import move_writes, next_moment
from remembrancer.store.reader import SqlReader, chunk_by_kind, chunk_ids
from remembrancer.store.rows import record_to_row, session_to_row
from remembrancer.store.statements import field_values
from remembrancer.types import (
    FORGOTTEN_MARK,
    Change,
    Event,
    Kind,
    Link,
    Record,
    Rejection,
    RuleApplication,
    Session,
    is_program_key,
    kind_of,
)

WORD_FIELDS = frozenset({"tags", "failure"})
"""The mutable fields of a memory that can hold words."""


class SqlTransaction(SqlReader):
    """A reader and writer over one connection, bound to one owner."""

    last_event_id: str | None = None

    def __init__(self, connection: Connection, owner_id: str, indexes: IndexCache) -> None:
        super().__init__(connection, owner_id, indexes)
        self.has_removed_words = False

    def apply(self, event: Event, writes: Sequence[Write]) -> Event:
        self._has_written = True
        moment = next_moment(event.at, self.last_moment())
        if moment != event.at:
            writes = move_writes(writes, event.at, moment)
            event = replace(event, at=moment)
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
        row = session_to_row(session)
        if not self._update(table, table.c.id == session.id, **row):
            self._insert_rows(table, [row])

    def save_rejections(self, rejections: Sequence[Rejection]) -> None:
        rows = [field_values(one) | {"turns": list(one.turns)} for one in rejections]
        self._insert_rows(tables.rejections, rows)

    def drop_rejections(self, before: datetime) -> int:
        return self._delete(tables.rejections, tables.rejections.c.at < before)

    def delete_rejections(self, ids: Sequence[str]) -> None:
        for chunk in chunk_ids(ids):
            self._delete(tables.rejections, tables.rejections.c.id.in_(chunk))

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
        self._update(tables.events, tables.events.c.id == event_id, undone_by=by)

    def count_recalls(
        self, counts: Mapping[str, int], at: datetime, *, extend_times: float | None = None
    ) -> None:
        alike: dict[tuple[Kind, int], list[str]] = {}
        for memory_id, count in counts.items():
            alike.setdefault((kind_of(memory_id), count), []).append(memory_id)
        for (kind, count), ids in alike.items():
            table = tables.MEMORY_TABLES[kind]
            for chunk in chunk_ids(ids):
                more = table.c.recall_count + count
                self._update(table, table.c.id.in_(chunk), recall_count=more, recalled_at=at)
                if extend_times is not None:
                    self._extend_expiry(table, chunk, at, extend_times)

    def _extend_expiry(self, table: Table, ids: Sequence[str], at: datetime, times: float) -> None:
        """Extend memories that would expire by their TTL, a program's own without a limit."""
        expiring = and_(table.c.expires_at > at, table.c.ttl_days.is_not(None))
        predicate = table.c.predicate if "predicate" in table.c else literal(None)
        query = select(
            table.c.id, table.c.expires_at, table.c.ttl_days, table.c.confirmed_at, predicate
        )
        rows = self._connection.execute(
            query.where(self._own(table), table.c.id.in_(ids), expiring)
        )
        for memory_id, expires_at, ttl_days, confirmed_at, key in rows.all():
            renewed = at + timedelta(days=ttl_days)
            if not (key and is_program_key(key)):
                renewed = min(renewed, confirmed_at + timedelta(days=ttl_days * times))
            if renewed > expires_at:
                self._update(table, table.c.id == memory_id, expires_at=renewed)

    def add_embeddings(self, vectors: Mapping[str, Sequence[Embedding]]) -> None:
        self._has_written = True
        pairs = [(memory_id, each) for memory_id, group in vectors.items() for each in group]
        _, first = self._reserve_numbers(0, len(pairs))
        self._insert_embeddings(pairs, first)

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
        if kind is Rewrite:
            return self._rewrite(writes)
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
        numbered = enumerate(records, documents)
        rows = [_document_row(record, number) for number, record in numbered]
        self._insert_rows(tables.documents, rows)
        for kind, table in tables.MEMORY_TABLES.items():
            self._insert_rows(table, [record_to_row(one) for one in records if one.kind is kind])
        self._insert_embeddings(vectors, embeddings)
        return [Change(record.id, None, {"status": record.status}) for record in records]

    def _reserve_numbers(self, documents: int, vectors: int) -> tuple[int, int]:
        """Reserve consecutive numbers for new documents and vectors; indexes in all processes rely
        on them.
        """
        table = tables.owners
        self._update(
            table,
            documents_added=table.c.documents_added + documents,
            vectors_added=table.c.vectors_added + vectors,
        )
        row = self._connection.execute(
            select(table.c.documents_added, table.c.vectors_added).where(self._own(table))
        ).one()
        return row.documents_added - documents + 1, row.vectors_added - vectors + 1

    def _insert_embeddings(self, pairs: Sequence[tuple[str, Embedding]], first: int) -> None:
        rows = [
            {
                "memory_id": memory_id,
                "model": embedding.model,
                "part": embedding.part,
                "number": number,
                "marks": embedding.marks,
                "crowded": number > self._indexes.max_vectors,
                "vector": embedding.vector,
            }
            for number, (memory_id, embedding) in enumerate(pairs, first)
        ]
        self._insert_rows(tables.embeddings, rows)

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
            for chunk in chunk_ids(ids):
                self._update(table, table.c.id.in_(chunk), **values)
        return [
            Change(one.id, to_json(before), to_json(one.values))
            for one, before in zip(patches, before_values, strict=True)
        ]

    def _load_patched_rows(self, patches: Sequence[Patch]) -> dict[str, Any]:
        rows: dict[str, Any] = {}
        names = {name for one in patches for name in one.values}
        assert names <= MUTABLE_FIELDS, f"not mutable: {names - MUTABLE_FIELDS}"
        ids = [one.id for one in patches]
        assert len(ids) == len(set(ids)), "a memory is patched at most once in an event"
        for kind, chunk in chunk_by_kind(ids):
            table = tables.MEMORY_TABLES[kind]
            columns = {"id", "status", "valid_until", "recorded_at"} | names & set(table.c.keys())
            query = select(*(table.c[name] for name in columns))
            query = query.where(self._own(table), table.c.id.in_(chunk))
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
        self._insert_bulk(tables.states, states)

    def _load_last_states(self, ids: Sequence[str]) -> dict[str, tuple[int, datetime]]:
        """For each memory with past states: their number, and the end of the last one."""
        table = tables.states
        found: dict[str, tuple[int, datetime]] = {}
        for chunk in chunk_ids(ids):
            query = select(table.c.memory_id, func.count(), func.max(table.c.until))
            query = query.where(self._own(table), table.c.memory_id.in_(chunk))
            for memory_id, *last in self._connection.execute(query.group_by(table.c.memory_id)):
                found[memory_id] = (last[0], last[1])
        return found

    def _purge(self, purges: Sequence[Purge]) -> list[Change]:
        ids = [one.id for one in purges]
        known = self._load_words(ids)
        for memory_id in ids:
            if memory_id not in known:
                raise NotFound(f"There is no memory {memory_id}.")
        for kind, chunk in chunk_by_kind(ids):
            self._destroy(kind, chunk)
        self._clear_changes(ids)
        self._purge_sessions({one.session_id for one in known.values() if one.session_id})
        texts = [row.content for row in known.values()]
        self.has_removed_words = True
        idempotency.drop_responses_naming(self._connection, self._owner_id, ids, texts)
        self._count_removals(len(ids))
        return [Change(memory_id, None, None) for memory_id in ids]

    def _rewrite(self, rewrites: Sequence[Rewrite]) -> list[Change]:
        """Mask words; a memory with another content gets other terms, and vectors later."""
        ids = [one.id for one in rewrites]
        records = self.load(ids)
        masked = [one for one in rewrites if "content" in one.values]
        for one in rewrites:
            table = tables.MEMORY_TABLES[records[one.id].kind]
            row = record_to_row(replace(records[one.id], **dict(one.values)))  # type: ignore[arg-type]
            changed = {*one.values, *(["fingerprint"] if "content" in one.values else [])}
            self._update(table, table.c.id == one.id, **{name: row[name] for name in changed})
        for one in masked:
            document = _document_row(replace(records[one.id], **dict(one.values)), 0)  # type: ignore[arg-type]
            terms = {name: document[name] for name in ("codes", "marks")}
            self._update(tables.documents, tables.documents.c.id == one.id, **terms)
        for chunk in chunk_ids([one.id for one in masked]):
            self._delete(tables.embeddings, tables.embeddings.c.memory_id.in_(chunk))
        self.has_removed_words = True
        self._count_removals(len(masked))
        return [Change(memory_id, {}, {}) for memory_id in ids]

    def _count_removals(self, number: int) -> None:
        """Make every process rebuild its index of this owner."""
        table = tables.owners
        self._update(table, documents_removed=table.c.documents_removed + number)

    def _load_words(self, ids: Sequence[str]) -> dict[str, Any]:
        """The content and the session of each memory that exists."""
        found: dict[str, Any] = {}
        for kind, chunk in chunk_by_kind(ids):
            table = tables.MEMORY_TABLES[kind]
            query = select(table.c.id, table.c.session_id, table.c.content)
            query = query.where(self._own(table), table.c.id.in_(chunk))
            found |= {row.id: row for row in self._connection.execute(query)}
        return found

    def _clear_changes(self, ids: Sequence[str]) -> None:
        """Remove the words of memories from the activity log; it still says what happened."""
        table = tables.changes
        for chunk in chunk_ids(ids):
            query = select(table.c.event_id, table.c.number, table.c.before, table.c.after)
            mine = query.where(self._own(table), table.c.memory_id.in_(chunk))
            for row in self._connection.execute(mine).all():
                values = {"before": row.before, "after": row.after}
                if any(WORD_FIELDS & set(value or ()) for value in values.values()):
                    which = (table.c.event_id == row.event_id, table.c.number == row.number)
                    self._update(table, *which, **{n: _without_words(v) for n, v in values.items()})

    def _destroy(self, kind: Kind, ids: Sequence[str]) -> None:
        """Delete memories of one kind and everything that refers to them."""
        table, links = tables.MEMORY_TABLES[kind], tables.links
        self._update(table, table.c.supersedes.in_(ids), supersedes=None)
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
        self._insert_rows(tables.links, [field_values(link)])
        return Change(link.source, {"link": None}, {"link": to_json(field_values(link))})

    def _drop_link(self, link: Link) -> Change:
        table = tables.links
        same = (table.c[name] == getattr(link, name) for name in ("source", "target", "relation"))
        self._delete(table, *same)
        return Change(link.source, {"link": to_json(field_values(link))}, {"link": None})

    def _add_application(self, application: RuleApplication) -> Change:
        row = field_values(application) | {"withdrawn": False}
        self._insert_rows(tables.rule_applications, [row])
        return Change(application.rule_id, {"application": None}, {"application": application.id})

    def _withdraw_application(self, rule_id: str, application_id: str, undo: bool) -> Change:
        table = tables.rule_applications
        which = (table.c.id == application_id, table.c.rule_id == rule_id)
        self._update(table, *which, withdrawn=not undo)
        counted, withdrawn = {"application": application_id}, {"application": None}
        return Change(rule_id, withdrawn, counted) if undo else Change(rule_id, counted, withdrawn)

    def _insert_event(self, event: Event, changes: Sequence[Change]) -> None:
        self.last_event_id = event.id
        columns = ("id", "at", "action", "agent", "surface", "note", "undoes", "batch_id")
        self._insert_rows(tables.events, [{name: getattr(event, name) for name in columns}])
        rows = [
            {"event_id": event.id, "number": number, **field_values(change)}
            for number, change in enumerate(changes)
        ]
        self._insert_bulk(tables.changes, rows)

    def _insert_bulk(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert many rows without bytes or vectors; an engine can have a faster way."""
        self._insert_rows(table, rows)


def _without_words(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    return {name: value for name, value in values.items() if name not in WORD_FIELDS}


def _document_row(record: Record, number: int) -> dict[str, object]:
    return {
        "id": record.id,
        "number": number,
        "kind": record.kind,
        "codes": encode_record_terms(record),
        "marks": detect_features(record.content),
    }


def encode_record_terms(record: Record) -> bytes:
    """The terms by which the index finds a memory, without the mark of forgotten words."""
    return encode_terms(extract_terms(record.search_text.replace(FORGOTTEN_MARK, " ")))


def _group_patches(patches: Sequence[Patch]) -> list[tuple[Table, dict[str, object], list[str]]]:
    """Group the patches that set the same values in the same table."""
    groups: dict[str, tuple[Table, dict[str, object], list[str]]] = {}
    for one in (one for one in patches if one.values):
        table = tables.MEMORY_TABLES[kind_of(one.id)]
        key = f"{table.name} {sorted(to_json(one.values).items())}"
        groups.setdefault(key, (table, _to_column_values(one.values), []))[2].append(one.id)
    return list(groups.values())


def _to_column_values(values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }
