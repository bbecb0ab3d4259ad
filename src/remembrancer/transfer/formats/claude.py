"""Claude's data export: conversations, and what Claude keeps in mind of its user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from remembrancer.sessions.message_text import words_in
from remembrancer.transfer.formats import markdown
from remembrancer.transfer.formats.files import Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Spoken, conversation
from remembrancer.transfer.formats.json_stream import entries, words
from remembrancer.transfer.formats.roles import branch, last_leaf
from remembrancer.transfer.formats.timestamps import moment

FILES = ("conversations.json", "conversations-*.json")
SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}


def read(source: Source) -> Iterator[Piece]:
    """The conversations in an export, and what is told of the user."""
    memories = [one for one in source.files if _tells_memories(one.name)]
    for file in memories:
        for number, one in entries(file):
            yield from _memories(Place(file.name, f"entry {number}"), one)
    talks = source.named(*FILES) or [one for one in source.named("*.json") if one not in memories]
    for file in talks:
        for number, one in entries(file):
            yield from _conversation(Place(file.name, f"conversation {number}"), one)


def _tells_memories(name: str) -> bool:
    *folders, file = name.split("/")
    return file == "memories.json" or (folders[-1:] == ["memories"] and file.endswith(".json"))


def _memories(place: Place, found: Any) -> Iterator[Piece]:
    if not isinstance(found, dict):
        yield LeftOut(place, "no memory of Claude")
        return
    projects = found.get("project_memories")
    texts = {"conversations": found.get("conversations_memory")}
    texts |= projects if isinstance(projects, dict) else {}
    for name, text in texts.items():
        if isinstance(text, str):
            yield from markdown.statements(place.at(str(name)), text, {"origin": "assistant"})


def _conversation(place: Place, found: Any) -> Iterable[Piece]:
    messages = found.get("chat_messages") if isinstance(found, dict) else None
    if not isinstance(messages, list):
        return [LeftOut(place, "no conversation of Claude")]
    key = words(found, "uuid") or f"{found.get('name')} {found.get('created_at')}"
    shown = _shown(messages, words(found, "current_leaf_message_uuid"))
    turns = (_message(place.at(f"message {number}"), one) for number, one in shown)
    return conversation(place, key, turns, title=found.get("name"))


def _shown(messages: list[Any], leaf: str | None) -> list[tuple[int, Any]]:
    """The messages with their numbers; where they tell what they answer, only the last branch."""
    numbered = list(enumerate(messages, 1))
    named = {name: one for one in messages if (name := words(one, "uuid")) is not None}
    parents = {name: words(one, "parent_message_uuid") for name, one in named.items()}
    if not any(parent in named for parent in parents.values()):
        return numbered
    way = set(branch(parents, leaf) or branch(parents, last_leaf(parents)))
    return [(number, one) for number, one in numbered if words(one, "uuid") in way]


def _message(place: Place, message: Any) -> Spoken | LeftOut:
    role = SENDERS.get(str(message.get("sender"))) if isinstance(message, dict) else None
    if role is None:
        return LeftOut(place, "not by the user or the assistant")
    said = words_in(message.get("content")).strip() or (words(message, "text") or "").strip()
    if not said:
        return LeftOut(place, "without words: an image, a file, or a tool")
    key = words(message, "uuid") or place.where
    at = moment(message.get("created_at"))
    return Spoken(place, key, {"role": role, "content": said, "said_at": at})
