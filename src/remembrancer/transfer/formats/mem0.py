"""mem0: the JSON of its API, its local vector store, or the history that it keeps beside that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.store import external_db
from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Stated
from remembrancer.transfer.formats.json_stream import listed, words
from remembrancer.transfer.formats.langgraph import database
from remembrancer.transfer.formats.qdrant_pickle import payload
from remembrancer.transfer.formats.timestamps import moment

POINTS, HISTORY = "points", "history"
CONTENT = ("memory", "data", "text")
OURS = frozenset(
    "id memory data text hash created_at updated_at user_id categories metadata score "
    "text_lemmatized".split()
)
"""What is told by other means, or by nothing at all; the rest becomes metadata."""


def read(source: Source) -> Iterator[Piece]:
    """The memories in JSON files, and those in a local store: of its vectors, or else its history.

    The history has neither users nor metadata, so it is read only where there are no vectors.
    """
    databases = [one for one in source.files if one.begins_with(external_db.SQLITE)]
    tables = {one.name: external_db.tables(database(one)) for one in databases}
    vectors = [one for one in databases if POINTS in tables[one.name]]
    for file in databases:
        file.was_read = file in vectors or not vectors
    for file in vectors:
        yield from _points(file)
    for file in databases if not vectors else ():
        yield from _history(file)
    for file in source.named("*.json", "*.jsonl"):
        if not databases:
            for where, one in listed(file, "results", "memories", "data"):
                yield _memory(Place(file.name, where), one)


def _points(file: File) -> Iterator[Piece]:
    rows = external_db.rows(database(file), POINTS, ("id", "point"), ("rowid",))
    for number, (key, point) in enumerate(rows, 1):
        place = Place(file.name, f"point {number}")
        held = payload(point) if isinstance(point, bytes) else None
        if held is None:
            yield LeftOut(place, "a point that cannot be read")
        elif "linked_memory_ids" in held:
            yield LeftOut(place, "the name of something, not a memory")
        else:
            yield _memory(place, {"id": str(key), **held})


def _history(file: File) -> Iterator[Piece]:
    """What each memory was in the end."""
    columns = ("memory_id", "new_memory", "event", "created_at", "updated_at")
    last: dict[str, tuple[int, Any]] = {}
    for number, row in enumerate(external_db.rows(database(file), HISTORY, columns, ("rowid",)), 1):
        last[str(row[0])] = number, dict(zip(columns, row, strict=True))
    for key, (number, row) in last.items():
        place = Place(file.name, f"row {number}")
        if row["event"] == "DELETE":
            yield LeftOut(place, "deleted in mem0")
        else:
            yield _memory(place, {**row, "id": key, "memory": row["new_memory"]}, {})


def _memory(place: Place, found: Any, metadata: dict[str, Any] | None = None) -> Stated | LeftOut:
    content = words(found, *CONTENT)
    if content is None:
        return LeftOut(place, "no memory of mem0")
    at = moment(found.get("updated_at")) or moment(found.get("created_at"))
    categories = found.get("categories")
    if metadata is None:
        own = found.get("metadata")
        metadata = own if isinstance(own, dict) else {}
        metadata |= {key: one for key, one in found.items() if key not in OURS and one is not None}
    details: Any = {"origin": "assistant", "metadata": metadata}
    details |= {"valid_from": at} if at else {}
    if isinstance(categories, list):
        details["tags"] = [one for one in categories if isinstance(one, str)]
    key = words(found, "id", "hash") or place.where
    return Stated(place, key, content, details, words(found, "user_id"))
