"""Reads mem0: the JSON of its API, its local vector store, or its history database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.store import external_db
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import FileLocation, ImportItem, MemoryItem, SkippedItem
from remembrancer.transfer.formats.json_stream import first_text, read_entries
from remembrancer.transfer.formats.langgraph import get_database_path
from remembrancer.transfer.formats.qdrant_pickle import read_payload
from remembrancer.transfer.formats.timestamps import parse_timestamp

POINTS_TABLE, HISTORY_TABLE = "points", "history"
CONTENT_KEYS = ("memory", "data", "text")
MAPPED_FIELDS = frozenset(
    "id memory data text hash created_at updated_at user_id categories metadata score "
    "text_lemmatized".split()
)
"""Fields that are mapped or dropped; all others become metadata."""


def read(source: ImportSource) -> Iterator[ImportItem]:
    """Yield the memories of a local store, or of JSON files if there is no store.

    The history has no users and no metadata, so it is read only if there is no vector store.
    """
    databases = [one for one in source.files if one.begins_with(external_db.SQLITE_HEADER)]
    tables = {one.name: external_db.list_tables(get_database_path(one)) for one in databases}
    vectors = [one for one in databases if POINTS_TABLE in tables[one.name]]
    for file in databases:
        file.was_read = file in vectors or not vectors
    for file in vectors:
        yield from _read_points(file)
    for file in databases if not vectors else ():
        yield from _read_history(file)
    for file in source.find_files("*.json", "*.jsonl"):
        if not databases:
            for where, one in read_entries(file, "results", "memories", "data"):
                yield _parse_memory(FileLocation(file.name, where), one)


def _read_points(file: SourceFile) -> Iterator[ImportItem]:
    rows = external_db.read_rows(get_database_path(file), POINTS_TABLE, ("id", "point"), ("rowid",))
    for number, (key, point) in enumerate(rows, 1):
        place = FileLocation(file.name, f"point {number}")
        payload = read_payload(point) if isinstance(point, bytes) else None
        if payload is None:
            yield SkippedItem(place, "a point that cannot be read")
        elif "linked_memory_ids" in payload:
            yield SkippedItem(place, "an entity, not a memory")
        else:
            yield _parse_memory(place, {"id": str(key), **payload})


def _read_history(file: SourceFile) -> Iterator[ImportItem]:
    """Yield the last version of each memory."""
    columns = ("memory_id", "new_memory", "event", "created_at", "updated_at")
    last: dict[str, tuple[int, Any]] = {}
    for number, row in enumerate(
        external_db.read_rows(get_database_path(file), HISTORY_TABLE, columns, ("rowid",)), 1
    ):
        last[str(row[0])] = number, dict(zip(columns, row, strict=True))
    for key, (number, row) in last.items():
        place = FileLocation(file.name, f"row {number}")
        if row["event"] == "DELETE":
            yield SkippedItem(place, "deleted in mem0")
        else:
            yield _parse_memory(place, {**row, "id": key, "memory": row["new_memory"]}, {})


def _parse_memory(
    place: FileLocation, found: Any, metadata: dict[str, Any] | None = None
) -> MemoryItem | SkippedItem:
    content = first_text(found, *CONTENT_KEYS)
    if content is None:
        return SkippedItem(place, "not a mem0 memory")
    at = parse_timestamp(found.get("updated_at")) or parse_timestamp(found.get("created_at"))
    categories = found.get("categories")
    if metadata is None:
        own = found.get("metadata")
        metadata = own if isinstance(own, dict) else {}
        metadata |= {
            key: one for key, one in found.items() if key not in MAPPED_FIELDS and one is not None
        }
    details: Any = {"origin": "assistant", "metadata": metadata}
    details |= {"valid_from": at} if at else {}
    if isinstance(categories, list):
        details["tags"] = [one for one in categories if isinstance(one, str)]
    key = first_text(found, "id", "hash") or place.where
    return MemoryItem(place, key, content, details, first_text(found, "user_id"))
