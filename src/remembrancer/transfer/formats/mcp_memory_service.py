"""The JSON that mcp-memory-service exports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.transfer.formats.files import Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Stated
from remembrancer.transfer.formats.json_stream import entries, words
from remembrancer.transfer.formats.timestamps import moment


def read(source: Source) -> Iterator[Piece]:
    """Its memories, with their tags and times."""
    for file in source.named("*.json") or source.files:
        for number, one in entries(file, "memories"):
            yield _memory(Place(file.name, f"memory {number}"), one)


def _memory(place: Place, found: Any) -> Stated | LeftOut:
    content = words(found, "content")
    if content is None:
        return LeftOut(place, "no memory of mcp-memory-service")
    tags = found.get("tags")
    details: Any = {
        "origin": "assistant",
        "tags": [one for one in tags if isinstance(one, str)] if isinstance(tags, list) else [],
    }
    if (at := moment(found.get("created_at"))) is not None:
        details["valid_from"] = at
    if kind := words(found, "memory_type"):
        details["metadata"] = {"memory_type": kind}
    store = words(found, "store")
    return Stated(place, words(found, "content_hash") or place.where, content, details, store)
