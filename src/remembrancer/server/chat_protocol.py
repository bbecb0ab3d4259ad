"""OpenAI's chat protocol as far as memory must understand it: who said what, where a note goes.

Pure. What a client sent is never written anew: a note is put between two of its bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembrancer.guard.redaction import without_secrets
from remembrancer.sessions.message_text import words_in

Message = Mapping[str, Any]
Span = tuple[int, int]

_SPACE = re.compile(r"[ \t\n\r]*")
_read = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and whether it goes on after the call of a tool."""

    text: str
    calls: bool


def said_last(messages: Sequence[Message]) -> str:
    """What the person said last; "" if nothing."""
    spoken = [one for one in messages if one.get("role") == "user"]
    return words_in(spoken[-1].get("content")).strip() if spoken else ""


def conversation(messages: Sequence[Message], agent: str | None) -> str:
    """A name for a conversation by how it opens, which every request of it repeats."""
    opening = [agent or ""]
    for one in messages:
        opening += [str(one.get("role")), without_secrets(words_in(one.get("content")))]
        if one.get("role") == "user":
            break
    return f"chat-{hashlib.sha256(json.dumps(opening).encode()).hexdigest()[:32]}"


def with_note(request: str, note: str) -> str:
    """A request with a note at the end of what the person said last.

    All that a provider has cached of the conversation stands before that.
    """
    messages = _items(request, _members(request, _after_space(request, 0))["messages"][0])
    for start, _ in reversed(messages):
        members = _members(request, start)
        if "role" in members and _read(request, members["role"][0])[0] == "user":
            return _extended(request, members.get("content", (0, 0)), note)
    return request


def _extended(request: str, content: Span, note: str) -> str:
    start, end = content
    if request[start] == '"':
        more = json.dumps(f"\n\n{note}")[1:-1]
    elif request[start] == "[":
        comma = "," if _items(request, start) else ""
        more = comma + json.dumps({"type": "text", "text": note})
    else:
        return request
    return request[: end - 1] + more + request[end - 1 :]


def _members(text: str, start: int) -> dict[str, Span]:
    """Where the values of an object stand; of a name that is there twice, the last counts."""
    found = {}
    at = _after_space(text, start + 1)
    while text[at] != "}":
        name, at = _read(text, at)
        value = _after_space(text, _after_space(text, at) + 1)
        _, at = _read(text, value)
        found[name] = (value, at)
        at = _after_comma(text, at)
    return found


def _items(text: str, start: int) -> list[Span]:
    """Where the values of an array stand."""
    found = []
    at = _after_space(text, start + 1)
    while text[at] != "]":
        _, end = _read(text, at)
        found.append((at, end))
        at = _after_comma(text, end)
    return found


def _after_comma(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def reply(content: bytes, *, streamed: bool) -> Reply:
    """What an answer says, in the first of its choices; nothing where it cannot be read."""
    text, calls = "", False
    for choice in _choices(content, streamed):
        said = choice.get("delta") or choice.get("message")
        if choice.get("index", 0) == 0 and isinstance(said, dict):
            text += words_in(said.get("content"))
            calls = calls or bool(said.get("tool_calls") or said.get("function_call"))
    return Reply(text.strip(), calls)


def _choices(content: bytes, streamed: bool) -> Iterator[dict[str, Any]]:
    lines = content.splitlines() if streamed else [content]
    for line in lines:
        try:
            event = json.loads(line.removeprefix(b"data:"))
        except (ValueError, RecursionError):
            continue
        choices = event.get("choices") if isinstance(event, dict) else None
        if isinstance(choices, list):
            yield from (one for one in choices if isinstance(one, dict))
