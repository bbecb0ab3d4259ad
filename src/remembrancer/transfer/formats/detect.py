"""The formats there are, and which of them a file seems to be in."""

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
from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import Piece
from remembrancer.transfer.formats.json_stream import listed

OWN = "remembrancer"
FORMATS: dict[str, Callable[[Source], Iterator[Piece]]] = {
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

SIGNS: tuple[tuple[str, set[str]], ...] = (
    (OWN, {"format", "schema", "tenant", "user"}),
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
    *(("jsonl", {name}) for name in jsonl.CONTENT),
)
"""The keys by which the first object of a file tells what wrote it, the surest first."""

LISTS = ("results", "memories", "messages", "turns", "facts", "items")
LOOKED_AT, TRIED = 200, 20
"""How many files of a folder are looked at, and how many entries of a file."""


def reader_of(format: str) -> Callable[[Source], Iterator[Piece]]:
    """What reads a format, or an error that names them all."""
    if format not in FORMATS:
        raise InvalidInput(f"There is no format {format!r}; there are {', '.join(FORMATS)}.")
    return FORMATS[format]


def guessed(source: Source) -> str:
    """The format that a source seems to be in."""
    if source.address is not None:
        return "langgraph"
    for look in (_by_database, _by_content):
        found = {format for file in source.files[:LOOKED_AT] if (format := look(file))}
        if found:
            return next(format for format, _ in SIGNS if format in found)
    if source.named(*markdown.FILES):
        return "markdown"
    if source.named(*transcript.FILES):
        return "transcript"
    raise InvalidInput(
        f"{source.name}: what this is cannot be told; say --from {', '.join(FORMATS)}."
    )


def _by_database(file: File) -> str | None:
    if file.path is None or not file.begins_with(external_db.SQLITE):
        return None
    names = external_db.tables(file.path)
    if names & {mem0.POINTS, mem0.HISTORY}:
        return "mem0"
    return "langgraph" if langgraph.TABLE in names else None


def _by_content(file: File) -> str | None:
    if not file.name.lower().endswith((".json", ".jsonl", ".ndjson")):
        return None
    try:
        first = _first(file)
    except InvalidInput:
        return None
    finally:
        file.was_read = False
    keys = first.keys() if isinstance(first, dict) else set()
    return next((format for format, signs in SIGNS if signs <= keys), None)


def _first(file: File) -> Any:
    """The first object in a file; of one that holds a list of others, the first of these."""
    for _, one in islice(listed(file), TRIED):
        if isinstance(one, dict):
            lists = (one[key] for key in LISTS if isinstance(one.get(key), list))
            inner = next((some[0] for some in lists if some), None)
            return inner if isinstance(inner, dict) else one
    return None
