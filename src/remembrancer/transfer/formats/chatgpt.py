"""ChatGPT's data export: conversations as trees, of which the branch shown last is brought in.

The export has no list of saved memories, but the conversations tell them: in what was said to the
tool that saves them, and in what a conversation was given to begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from remembrancer.sessions.message_text import words_in
from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Spoken, Stated, conversation
from remembrancer.transfer.formats.json_stream import entries, words
from remembrancer.transfer.formats.roles import branch, last_leaf
from remembrancer.transfer.formats.timestamps import moment

FILES = ("conversations.json", "conversations-*.json")
SPEAKING = ("text", "multimodal_text")
MEMORY_TOOL = "bio"
_CITATION = re.compile("[ \t]*\ue200[^\ue201]*\ue201|\u3010[^\u3011\n]*\u2020[^\u3011\n]*\u3011")
_SAVED = re.compile(r"^\s*\d+\.\s*(?:\[([^\]]*)\]\.?)?\s*(.+)$", re.MULTILINE)


def read(source: Source) -> Iterator[Piece]:
    """The conversations in an export, and the memories that they tell of."""
    for file in _files(source):
        for number, one in entries(file):
            yield from _conversation(Place(file.name, f"conversation {number}"), one)


def _files(source: Source) -> list[File]:
    return source.named(*FILES) or source.named("*.json")


def _conversation(place: Place, found: Any) -> Iterable[Piece]:
    tree = found.get("mapping") if isinstance(found, dict) else None
    if not isinstance(tree, dict):
        return [LeftOut(place, "no conversation of ChatGPT")]
    key = (
        words(found, "conversation_id", "id") or f"{found.get('title')} {found.get('create_time')}"
    )
    nodes = {name: node for name, node in tree.items() if isinstance(node, dict)}
    parents = {name: words(node, "parent") for name, node in nodes.items()}
    way = branch(parents, words(found, "current_node")) or branch(parents, last_leaf(parents))
    messages = (
        piece
        for number, name in enumerate(way, 1)
        for piece in _message(place.at(f"message {number}"), key, name, nodes[name].get("message"))
    )
    return conversation(place, key, messages, title=found.get("title"))


def _message(
    place: Place, conversation_key: str, key: str, message: Any
) -> Iterator[Spoken | Stated | LeftOut]:
    """A turn, or the memories that it saved; the root of a tree has no message at all."""
    if not isinstance(message, dict):
        return
    author, content = _object(message, "author"), _object(message, "content")
    role, form = author.get("role"), content.get("content_type")
    said = _said(content)
    if form == "model_editable_context":
        yield from _saved(place, words(content, "model_set_context") or "")
    elif role == "assistant" and message.get("recipient") == MEMORY_TOOL and said:
        yield _memory(place, said, message.get("create_time"))
    elif _object(message, "metadata").get("is_visually_hidden_from_conversation"):
        yield LeftOut(place, "hidden from the conversation")
    elif role not in ("user", "assistant") or message.get("recipient", "all") != "all":
        yield LeftOut(place, "between the assistant and its tools")
    elif form not in SPEAKING or not said:
        yield LeftOut(place, "without words: an image, a file, or reasoning")
    else:
        at = moment(message.get("create_time"))
        yield Spoken(place, key, {"role": role, "content": said, "said_at": at})


def _said(content: Mapping[str, Any]) -> str:
    return _CITATION.sub("", words_in(content.get("parts"))).strip()


def _saved(place: Place, listed: str) -> Iterator[Stated]:
    """The memories that a conversation was given: `1. [2025-05-01]. Likes tea.`"""
    for line in _SAVED.finditer(listed):
        yield _memory(place, line[2].strip(), line[1])


def _memory(place: Place, content: str, at: object) -> Stated:
    saved = moment(at)
    details: Any = {"origin": "assistant", **({"valid_from": saved} if saved else {})}
    return Stated(place, "saved memory", content, details)


def _object(holder: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}
