"""Reads the data export of Claude: conversations and memories of the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from remembrancer.sessions.message_text import extract_text
from remembrancer.transfer.formats import markdown
from remembrancer.transfer.formats.conversation_tree import select_branch
from remembrancer.transfer.formats.files import ImportSource
from remembrancer.transfer.formats.items import (
    FileLocation,
    ImportItem,
    SkippedItem,
    TurnItem,
    build_conversation,
)
from remembrancer.transfer.formats.json_stream import first_text, read_array
from remembrancer.transfer.formats.timestamps import parse_timestamp

FILE_PATTERNS = ("conversations.json", "conversations-*.json")
ROLE_BY_SENDER = {"human": "user", "user": "user", "assistant": "assistant"}


def read(source: ImportSource) -> Iterator[ImportItem]:
    memories = [one for one in source.files if _is_memory_file(one.name)]
    for file in memories:
        for number, one in read_array(file):
            yield from _parse_memories(FileLocation(file.name, f"entry {number}"), one)
    conversations = source.find_files(*FILE_PATTERNS) or [
        one for one in source.find_files("*.json") if one not in memories
    ]
    for file in conversations:
        for number, one in read_array(file):
            yield from _parse_conversation(FileLocation(file.name, f"conversation {number}"), one)


def _is_memory_file(name: str) -> bool:
    *folders, file = name.split("/")
    return file == "memories.json" or (folders[-1:] == ["memories"] and file.endswith(".json"))


def _parse_memories(place: FileLocation, found: Any) -> Iterator[ImportItem]:
    if not isinstance(found, dict):
        yield SkippedItem(place, "not a Claude memory")
        return
    projects = found.get("project_memories")
    texts = {"conversations": found.get("conversations_memory")}
    texts |= projects if isinstance(projects, dict) else {}
    for name, text in texts.items():
        if isinstance(text, str):
            yield from markdown.parse_statements(place.at(str(name)), text, {"origin": "assistant"})


def _parse_conversation(place: FileLocation, found: Any) -> Iterable[ImportItem]:
    messages = found.get("chat_messages") if isinstance(found, dict) else None
    if not isinstance(messages, list):
        return [SkippedItem(place, "not a Claude conversation")]
    key = first_text(found, "uuid") or f"{found.get('name')} {found.get('created_at')}"
    shown = _select_messages(messages, first_text(found, "current_leaf_message_uuid"))
    turns = (_parse_message(place.at(f"message {number}"), one) for number, one in shown)
    return build_conversation(place, key, turns, title=found.get("name"))


def _select_messages(messages: list[Any], leaf: str | None) -> list[tuple[int, Any]]:
    """Return the numbered messages, or only the current branch if they name their parents."""
    numbered = list(enumerate(messages, 1))
    named = {name: one for one in messages if (name := first_text(one, "uuid")) is not None}
    parents = {name: first_text(one, "parent_message_uuid") for name, one in named.items()}
    if not any(parent in named for parent in parents.values()):
        return numbered
    selected = set(select_branch(parents, leaf))
    return [(number, one) for number, one in numbered if first_text(one, "uuid") in selected]


def _parse_message(place: FileLocation, message: Any) -> TurnItem | SkippedItem:
    role = ROLE_BY_SENDER.get(str(message.get("sender"))) if isinstance(message, dict) else None
    if role is None:
        return SkippedItem(place, "not by the user or the assistant")
    text = (
        extract_text(message.get("content")).strip() or (first_text(message, "text") or "").strip()
    )
    if not text:
        return SkippedItem(place, "without text: an image, a file, or a tool")
    key = first_text(message, "uuid") or place.where
    at = parse_timestamp(message.get("created_at"))
    return TurnItem(place, key, {"role": role, "content": text, "said_at": at})
