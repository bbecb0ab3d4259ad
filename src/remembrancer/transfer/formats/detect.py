"""Lists the import formats and detects the format of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.store import external_db
from remembrancer.transfer.formats import (
    chatgpt,
    claude,
    jsonl,
    langgraph,
    markdown,
    mcp_graph,
    mcp_memory_service,
    mem0,
    transcript,
)
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import ImportItem
from remembrancer.transfer.formats.json_stream import read_entries

OWN_FORMAT = "remembrancer"
FORMATS: dict[str, Callable[[ImportSource], Iterator[ImportItem]]] = {
    "chatgpt": chatgpt.read,
    "claude": claude.read,
    "mem0": mem0.read,
    "langgraph": langgraph.read,
    "mcp-graph": mcp_graph.read,
    "mcp-memory-service": mcp_memory_service.read,
    "markdown": markdown.read,
    "jsonl": jsonl.read,
    "transcript": transcript.read,
}

SIGNATURE_KEYS: tuple[tuple[str, set[str]], ...] = (
    (OWN_FORMAT, {"format", "schema", "tenant", "user"}),
    ("chatgpt", {"mapping"}),
    ("claude", {"chat_messages"}),
    ("claude", {"conversations_memory"}),
    ("langgraph", {"namespace", "key", "value"}),
    ("mcp-memory-service", {"content", "content_hash"}),
    ("mcp-graph", {"type", "name", "observations"}),
    ("mcp-graph", {"type", "from", "to"}),
    ("mcp-graph", {"entities", "relations"}),
    ("mem0", {"id", "memory"}),
    ("mem0", {"memory", "user_id"}),
    *(("jsonl", {name}) for name in jsonl.CONTENT_KEYS),
)
"""Keys of the first object in a file that identify a format, the most specific first."""

LIST_KEYS = ("results", "memories", "messages", "turns", "facts", "items")
MAX_FILES_CHECKED, MAX_ENTRIES_CHECKED = 200, 20


def get_reader(format: str) -> Callable[[ImportSource], Iterator[ImportItem]]:
    if format not in FORMATS:
        raise InvalidInput(f"There is no format {format!r}; use one of {', '.join(FORMATS)}.")
    return FORMATS[format]


def detect_format(source: ImportSource) -> str:
    """Return the format of a source; raises `InvalidInput` if it is not recognised."""
    if source.database_url is not None:
        return "langgraph"
    for detect in (_detect_by_database, _detect_by_content):
        found = {format for file in source.files[:MAX_FILES_CHECKED] if (format := detect(file))}
        if found:
            return next(format for format, _ in SIGNATURE_KEYS if format in found)
    if source.find_files(*markdown.FILE_PATTERNS):
        return "markdown"
    if source.find_files(*transcript.FILE_PATTERNS):
        return "transcript"
    raise InvalidInput(
        f"{source.name}: the format is not recognised; give --from {', '.join(FORMATS)}."
    )


def _detect_by_database(file: SourceFile) -> str | None:
    if file.path is None or not file.begins_with(external_db.SQLITE_HEADER):
        return None
    names = external_db.list_tables(file.path)
    if names & {mem0.POINTS_TABLE, mem0.HISTORY_TABLE}:
        return "mem0"
    return "langgraph" if langgraph.TABLE in names else None


def _detect_by_content(file: SourceFile) -> str | None:
    if not file.name.lower().endswith((".json", ".jsonl", ".ndjson")):
        return None
    try:
        first = _read_first_object(file)
    except InvalidInput:
        return None
    finally:
        file.was_read = False
    keys = first.keys() if isinstance(first, dict) else set()
    return next((format for format, signature in SIGNATURE_KEYS if signature <= keys), None)


def _read_first_object(file: SourceFile) -> Any:
    """Return the first object in a file, or the first in the list that this object holds."""
    for _, one in islice(read_entries(file), MAX_ENTRIES_CHECKED):
        if isinstance(one, dict):
            lists = (one[key] for key in LIST_KEYS if isinstance(one.get(key), list))
            inner = next((some[0] for some in lists if some), None)
            return inner if isinstance(inner, dict) else one
    return None
