"""Leaves out of an export what was forgotten, deleted or undone, as if it had been purged."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from remembrancer.remember.purge import REMOVED_STATUSES, PurgePlan, plan_purge
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import DumpRow, Filter, Reader
from remembrancer.store.nearest import iter_records
from remembrancer.store.transaction import encode_record_terms
from remembrancer.types import Evidence, Json, Kind, Record, Session, Turn

Columns = Mapping[str, Json]

OWNER_COLUMNS = {
    "documents": "id",
    "embeddings": "memory_id",
    "states": "memory_id",
    "changes": "memory_id",
    "rule_applications": "rule_id",
}
"""The column that names the memory to which a row belongs."""

MEMORY_TABLES = frozenset({"facts", "rules", "episodes", "turns"})


@dataclass(frozen=True, slots=True)
class TrashFilter:
    """What a purge of everything removed would do to the rows of a person."""

    gone: frozenset[str] = frozenset()
    masked: Mapping[str, Record] = field(default_factory=dict)
    rewrites: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    sessions: Mapping[str, Session] = field(default_factory=dict)
    emptied: frozenset[str] = frozenset()
    rejections: frozenset[str] = frozenset()

    def select(self, rows: Iterable[DumpRow]) -> Iterator[DumpRow]:
        """The rows of what stays, with words masked."""
        for table, columns in rows:
            kept = self._filter_row(table, columns)
            if kept is not None:
                yield table, kept

    def _filter_row(self, table: str, columns: Columns) -> Columns | None:
        if table in MEMORY_TABLES:
            return self._filter_memory(columns)
        if table in OWNER_COLUMNS:
            return self._filter_part(table, columns)
        if table == "links":
            return None if self.gone & {columns["source"], columns["target"]} else columns
        if table == "rejections":
            is_gone = columns["id"] in self.rejections or columns["session_id"] in self.emptied
            return None if is_gone else columns
        return self._filter_session(columns) if table == "sessions" else columns

    def _filter_memory(self, columns: Columns) -> Columns | None:
        if columns["id"] in self.gone:
            return None
        older = columns.get("supersedes")
        kept = {**columns, "supersedes": None if older in self.gone else older}
        values = self.rewrites.get(str(columns["id"]), {})
        if "content" in values:
            content = str(values["content"])
            kept |= {"content": content, "fingerprint": fingerprint(content)}
        if "evidence" in values:
            kept["evidence"] = _list_evidence(values["evidence"])
        if "metadata" in values:
            kept["metadata"] = {**_as_dict(columns["metadata"]), **_as_dict(values["metadata"])}
        return kept

    def _filter_part(self, table: str, columns: Columns) -> Columns | None:
        memory_id = str(columns[OWNER_COLUMNS[table]])
        if memory_id in self.gone:
            return None
        if "content" not in self.rewrites.get(memory_id, {}):
            return columns
        if table == "embeddings":
            return None
        if table == "documents":
            terms = encode_record_terms(self.masked[memory_id])
            return {**columns, "codes": base64.b64encode(terms).decode("ascii")}
        return columns

    def _filter_session(self, columns: Columns) -> Columns | None:
        name = str(columns["id"])
        if name in self.emptied:
            return None
        session = self.sessions.get(name)
        if session is None:
            return columns
        metadata = dict(session.metadata)
        texts = {"title": session.title, "summary": session.summary, "metadata": metadata}
        return {**columns, **texts, "summarised": session.summarised}


def build_trash_filter(reader: Reader, now: datetime) -> TrashFilter:
    removed = Filter(now=now, kinds=tuple(Kind), statuses=REMOVED_STATUSES)
    ids = [one.id for one in iter_records(reader, removed)]
    plan = plan_purge(reader, ids, now, is_asked=False) if ids else PurgePlan()
    rewrites = {one.id: one.values for one in plan.rewrites}
    records = reader.load(rewrites)
    apply: Callable[..., Record] = replace
    return TrashFilter(
        gone=frozenset(one.id for one in plan.records),
        masked={id: apply(records[id], **values) for id, values in rewrites.items()},
        rewrites=rewrites,
        sessions={one.id: one for one in plan.sessions},
        emptied=_find_emptied(reader, plan),
        rejections=frozenset(plan.rejections),
    )


def _find_emptied(reader: Reader, plan: PurgePlan) -> frozenset[str]:
    """The sessions of which no turn stays."""
    gone = {one.id for one in plan.records}
    names = {one.session_id for one in plan.records if isinstance(one, Turn)}
    return frozenset(
        name for name in names if name is not None and not _has_turns(reader, name, gone)
    )


def _has_turns(reader: Reader, session_id: str, gone: set[str]) -> bool:
    last = -1
    while page := reader.list_turns(session_id, after=last):
        if any(one.id not in gone for one in page):
            return True
        last = page[-1].position
    return False


def _list_evidence(evidence: Any) -> list[Json]:
    return [asdict(one) for one in evidence if isinstance(one, Evidence)]


def _as_dict(value: Any) -> dict[str, Json]:
    return dict(value)
