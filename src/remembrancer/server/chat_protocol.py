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

from remembrancer.guard.redaction import redact_text
from remembrancer.sessions.message_text import extract_text

Message = Mapping[str, Any]
Span = tuple[int, int]

_SPACE_PATTERN = re.compile(r"[ \t\n\r]*")
_decode_value = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model said, and whether it goes on after the call of a tool."""

    text: str
    calls_tools: bool


def find_last_user_text(messages: Sequence[Message]) -> str:
    """What the person said last; "" if nothing."""
    spoken = [one for one in messages if one.get("role") == "user"]
    return extract_text(spoken[-1].get("content")).strip() if spoken else ""


def derive_session_id(messages: Sequence[Message], agent: str | None) -> str:
    """A name for a conversation by how it opens, which every request of it repeats."""
    opening = [agent or ""]
    for one in messages:
        opening += [str(one.get("role")), redact_text(extract_text(one.get("content")))]
        if one.get("role") == "user":
            break
    return f"chat-{hashlib.sha256(json.dumps(opening).encode()).hexdigest()[:32]}"


def insert_note(request: str, note: str) -> str:
    """A request with a note at the end of what the person said last.

    All that a provider has cached of the conversation stands before that.
    """
    messages = _find_items(request, _find_members(request, _skip_space(request, 0))["messages"][0])
    for start, _ in reversed(messages):
        members = _find_members(request, start)
        if "role" in members and _decode_value(request, members["role"][0])[0] == "user":
            return _append_note(request, members.get("content", (0, 0)), note)
    return request


def _append_note(request: str, content: Span, note: str) -> str:
    start, end = content
    if request[start] == '"':
        more = json.dumps(f"\n\n{note}")[1:-1]
    elif request[start] == "[":
        comma = "," if _find_items(request, start) else ""
        more = comma + json.dumps({"type": "text", "text": note})
    else:
        return request
    return request[: end - 1] + more + request[end - 1 :]


def _find_members(text: str, start: int) -> dict[str, Span]:
    """Where the values of an object stand; of a name that is there twice, the last counts."""
    found = {}
    at = _skip_space(text, start + 1)
    while text[at] != "}":
        name, at = _decode_value(text, at)
        value = _skip_space(text, _skip_space(text, at) + 1)
        _, at = _decode_value(text, value)
        found[name] = (value, at)
        at = _skip_comma(text, at)
    return found


def _find_items(text: str, start: int) -> list[Span]:
    """Where the values of an array stand."""
    found = []
    at = _skip_space(text, start + 1)
    while text[at] != "]":
        _, end = _decode_value(text, at)
        found.append((at, end))
        at = _skip_comma(text, end)
    return found


def _skip_comma(text: str, at: int) -> int:
    at = _skip_space(text, at)
    return _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    found = _SPACE_PATTERN.match(text, at)
    return found.end() if found else at


def parse_reply(content: bytes, *, streamed: bool) -> ModelReply:
    """What an answer says, in the first of its choices; nothing where it cannot be read."""
    text, calls = "", False
    for choice in _iterate_choices(content, streamed):
        said = choice.get("delta") or choice.get("message")
        if choice.get("index", 0) == 0 and isinstance(said, dict):
            text += extract_text(said.get("content"))
            calls = calls or bool(said.get("tool_calls") or said.get("function_call"))
    return ModelReply(text.strip(), calls)


def _iterate_choices(content: bytes, streamed: bool) -> Iterator[dict[str, Any]]:
    lines = content.splitlines() if streamed else [content]
    for line in lines:
        try:
            event = json.loads(line.removeprefix(b"data:"))
        except (ValueError, RecursionError):
            continue
        choices = event.get("choices") if isinstance(event, dict) else None
        if isinstance(choices, list):
            yield from (one for one in choices if isinstance(one, dict))
