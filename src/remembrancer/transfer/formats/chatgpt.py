"""Reads the data export of ChatGPT: the current branch of each conversation tree.

The export has no list of saved memories. They are taken from the messages to the memory tool and
from the context that a conversation began with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from remembrancer.sessions.message_text import extract_text
from remembrancer.transfer.formats.conversation_tree import select_branch
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import (
    FileLocation,
    ImportItem,
    MemoryItem,
    SkippedItem,
    TurnItem,
    build_conversation,
)
from remembrancer.transfer.formats.json_stream import first_text, read_array
from remembrancer.transfer.formats.timestamps import parse_timestamp

FILE_PATTERNS = ("conversations.json", "conversations-*.json")
TEXT_CONTENT_TYPES = ("text", "multimodal_text")
MEMORY_TOOL = "bio"
_CITATION = re.compile("[ \t]*\ue200[^\ue201]*\ue201|\u3010[^\u3011\n]*\u2020[^\u3011\n]*\u3011")
_SAVED_MEMORY_PATTERN = re.compile(r"^\s*\d+\.\s*(?:\[([^\]]*)\]\.?)?\s*(.+)$", re.MULTILINE)


def read(source: ImportSource) -> Iterator[ImportItem]:
    for file in _find_files(source):
        for number, one in read_array(file):
            yield from _parse_conversation(FileLocation(file.name, f"conversation {number}"), one)


def _find_files(source: ImportSource) -> list[SourceFile]:
    return source.find_files(*FILE_PATTERNS) or source.find_files("*.json")


def _parse_conversation(place: FileLocation, found: Any) -> Iterable[ImportItem]:
    tree = found.get("mapping") if isinstance(found, dict) else None
    if not isinstance(tree, dict):
        return [SkippedItem(place, "not a ChatGPT conversation")]
    key = (
        first_text(found, "conversation_id", "id")
        or f"{found.get('title')} {found.get('create_time')}"
    )
    nodes = {name: node for name, node in tree.items() if isinstance(node, dict)}
    parents = {name: first_text(node, "parent") for name, node in nodes.items()}
    selected = select_branch(parents, first_text(found, "current_node"))
    messages = (
        item
        for number, name in enumerate(selected, 1)
        for item in _parse_message(
            place.at(f"message {number}"), key, name, nodes[name].get("message")
        )
    )
    return build_conversation(place, key, messages, title=found.get("title"))


def _parse_message(
    place: FileLocation, conversation_key: str, key: str, message: Any
) -> Iterator[TurnItem | MemoryItem | SkippedItem]:
    """Yield a turn, or the memories that it saved; the root of a tree has no message."""
    if not isinstance(message, dict):
        return
    author, content = _get_object(message, "author"), _get_object(message, "content")
    role, content_type = author.get("role"), content.get("content_type")
    text = _message_text(content)
    if content_type == "model_editable_context":
        yield from _parse_saved_memories(place, first_text(content, "model_set_context") or "")
    elif role == "assistant" and message.get("recipient") == MEMORY_TOOL and text:
        yield _build_memory(place, text, message.get("create_time"))
    elif _get_object(message, "metadata").get("is_visually_hidden_from_conversation"):
        yield SkippedItem(place, "hidden from the conversation")
    elif role not in ("user", "assistant") or message.get("recipient", "all") != "all":
        yield SkippedItem(place, "between the assistant and its tools")
    elif content_type not in TEXT_CONTENT_TYPES or not text:
        yield SkippedItem(place, "without text: an image, a file, or reasoning")
    else:
        at = parse_timestamp(message.get("create_time"))
        yield TurnItem(place, key, {"role": role, "content": text, "said_at": at})


def _message_text(content: Mapping[str, Any]) -> str:
    return _CITATION.sub("", extract_text(content.get("parts"))).strip()


def _parse_saved_memories(place: FileLocation, text: str) -> Iterator[MemoryItem]:
    """Yield the memories of a numbered list such as `1. [2025-05-01]. Likes tea.`"""
    for line in _SAVED_MEMORY_PATTERN.finditer(text):
        yield _build_memory(place, line[2].strip(), line[1])


def _build_memory(place: FileLocation, content: str, at: object) -> MemoryItem:
    saved = parse_timestamp(at)
    details: Any = {"origin": "assistant", **({"valid_from": saved} if saved else {})}
    return MemoryItem(place, "saved memory", content, details)


def _get_object(holder: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}
