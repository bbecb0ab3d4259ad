"""JSON of no product in particular: an object for each memory, or for each message.

A message has a role and a content; an object with a list of messages is a conversation; whatever
else has a content is a memory, and may say about itself what `remember` takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.sessions.conversation_file import TIME_KEYS, parse_message
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import (
    FileLocation,
    ImportItem,
    MemoryItem,
    SkippedItem,
    TurnItem,
    build_conversation,
)
from remembrancer.transfer.formats.json_stream import first_text, read_entries
from remembrancer.transfer.formats.timestamps import parse_timestamp
from remembrancer.types import Status

FILE_PATTERNS = ("*.jsonl", "*.ndjson", "*.json")
CONTENT_KEYS = ("content", "memory", "text", "fact")
CONVERSATION_KEYS = ("session", "session_id", "conversation", "conversation_id", "thread_id")
LIST_KEYS = ("messages", "turns", "memories", "facts")
TEXT_FIELDS = "kind category subject predicate permanence origin summary body".split()
NUMBER_FIELDS = "importance confidence ttl_days".split()

TurnsByConversation = dict[str, list[TurnItem | SkippedItem]]


def read(source: ImportSource) -> Iterator[ImportItem]:
    """The memories and conversations in each file."""
    for file in source.find_files(*FILE_PATTERNS) or source.files:
        yield from _read_file(file, source.zone)


def _read_file(file: SourceFile, zone: tzinfo) -> Iterator[ImportItem]:
    talks: TurnsByConversation = {}
    for where, talk, one in _flatten_entries(read_entries(file)):
        place = FileLocation(file.name, where)
        if isinstance(one, dict) and isinstance(one.get("role"), str):
            talks.setdefault(first_text(one, *CONVERSATION_KEYS) or talk, []).append(
                _parse_message(place, one, zone)
            )
        else:
            yield _parse_memory(place, one)
    for name, turns in talks.items():
        first = next((one.turn["content"] for one in turns if isinstance(one, TurnItem)), "")
        key = f"{file.name}\n{name or first}"
        yield from build_conversation(turns[0].place, key, turns, title=name or None)


def _flatten_entries(entries: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """What is in a list within an entry, as one that holds a whole conversation, or the entry."""
    for where, one in entries:
        lists = [one[key] for key in LIST_KEYS if _is_list(one, key)]
        if not lists:
            yield where, "", one
            continue
        talk = first_text(one, *CONVERSATION_KEYS, "id", "title") or where
        for number, inner in enumerate(lists[0], 1):
            yield f"{where}, number {number}", talk, inner


def _is_list(one: Any, key: str) -> bool:
    return isinstance(one, dict) and isinstance(one.get(key), list)


def _parse_message(
    place: FileLocation, message: dict[str, Any], zone: tzinfo
) -> TurnItem | SkippedItem:
    try:
        turn = parse_message(message, zone)
    except InvalidInput as error:
        return SkippedItem(place, str(error))
    if turn is None:
        return SkippedItem(place, "without words")
    key = first_text(message, "id", "uuid") or f"{place.where} {turn['content']}"
    return TurnItem(place, key, turn)


def _parse_memory(place: FileLocation, found: Any) -> MemoryItem | SkippedItem:
    content = first_text(found, *CONTENT_KEYS)
    if content is None:
        return SkippedItem(place, "neither a memory nor a message")
    if found.get("status") == Status.UNCONFIRMED:
        return SkippedItem(place, "not confirmed")
    details: Any = {
        name: text for name in TEXT_FIELDS if (text := first_text(found, name)) is not None
    }
    details |= {name: found[name] for name in NUMBER_FIELDS if _is_number(found.get(name))}
    if isinstance(tags := found.get("tags"), list):
        details["tags"] = [one for one in tags if isinstance(one, str)]
    if isinstance(metadata := found.get("metadata"), dict):
        details["metadata"] = metadata
    since = next(
        (found[name] for name in ("valid_from", "said_at", *TIME_KEYS) if found.get(name)), None
    )
    for name, value in (("valid_from", since), ("valid_until", found.get("valid_until"))):
        if (at := parse_timestamp(value)) is not None:
            details[name] = at
    return MemoryItem(place, first_text(found, "id") or place.file, content, details)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
