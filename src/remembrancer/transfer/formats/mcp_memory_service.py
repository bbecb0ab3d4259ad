"""Reads the JSON export of mcp-memory-service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.transfer.formats.files import ImportSource
from remembrancer.transfer.formats.items import FileLocation, ImportItem, MemoryItem, SkippedItem
from remembrancer.transfer.formats.json_stream import first_text, read_array
from remembrancer.transfer.formats.timestamps import parse_timestamp


def read(source: ImportSource) -> Iterator[ImportItem]:
    for file in source.find_files("*.json") or source.files:
        for number, one in read_array(file, "memories"):
            yield _parse_memory(FileLocation(file.name, f"memory {number}"), one)


def _parse_memory(place: FileLocation, found: Any) -> MemoryItem | SkippedItem:
    content = first_text(found, "content")
    if content is None:
        return SkippedItem(place, "not an mcp-memory-service memory")
    tags = found.get("tags")
    details: Any = {
        "origin": "assistant",
        "tags": [one for one in tags if isinstance(one, str)] if isinstance(tags, list) else [],
    }
    if (at := parse_timestamp(found.get("created_at"))) is not None:
        details["valid_from"] = at
    if kind := first_text(found, "memory_type"):
        details["metadata"] = {"memory_type": kind}
    key = first_text(found, "content_hash") or place.where
    return MemoryItem(place, key, content, details, first_text(found, "store"))
