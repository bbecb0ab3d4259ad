"""Reads OpenAI's chat protocol: the user's last text, the session, and where a note goes.

Pure. A note is inserted into the client's bytes, which are never serialised again.
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
    """A model's reply; `calls_tools` is true if the model waits for tool results."""

    text: str
    calls_tools: bool


def find_last_user_text(messages: Sequence[Message]) -> str:
    """Return the text of the last user message, or "" if there is none."""
    user_messages = [one for one in messages if one.get("role") == "user"]
    return extract_text(user_messages[-1].get("content")).strip() if user_messages else ""


def find_earlier_user_text(messages: Sequence[Message]) -> str:
    """Return the text of the user message before the last one, or "" if there is none."""
    texts = list_user_texts(messages)
    return texts[-2].strip() if len(texts) > 1 else ""


def list_outside_texts(messages: Sequence[Message]) -> list[str]:
    """Return the texts of the messages that neither the user nor the assistant wrote."""
    others = (one for one in messages if one.get("role") not in ("user", "assistant"))
    return [text for one in others if (text := extract_text(one.get("content")).strip())]


def list_user_texts(messages: Sequence[Message]) -> list[str]:
    return [extract_text(one.get("content")) for one in messages if one.get("role") == "user"]


def list_texts_before_last_user(messages: Sequence[Message]) -> list[str]:
    """Return the texts of the messages before the last one of the user."""
    last = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=0)
    return [extract_text(one.get("content")) for one in messages[:last]]


def derive_session_id(messages: Sequence[Message], agent: str | None) -> str:
    """Derive a session id from the first messages, which every request of a chat repeats."""
    opening = [agent or ""]
    for one in messages:
        opening += [str(one.get("role")), redact_text(extract_text(one.get("content")))]
        if one.get("role") == "user":
            break
    return f"chat-{hashlib.sha256(json.dumps(opening).encode()).hexdigest()[:32]}"


def insert_note(request: str, note: str) -> str:
    """Return the request with a note at the end of the last user message.

    Everything before it stays as it is, so that providers can reuse their prompt cache.
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
        inserted = json.dumps(f"\n\n{note}")[1:-1]
    elif request[start] == "[":
        comma = "," if _find_items(request, start) else ""
        inserted = comma + json.dumps({"type": "text", "text": note})
    else:
        return request
    return request[: end - 1] + inserted + request[end - 1 :]


def _find_members(text: str, start: int) -> dict[str, Span]:
    """Return the spans of an object's values; of duplicate names the last counts."""
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
    """Return the spans of an array's values."""
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
    """Return the reply in the first choice; empty if the response cannot be parsed."""
    text, calls_tools = "", False
    for choice in _iterate_choices(content, streamed):
        message = choice.get("delta") or choice.get("message")
        if choice.get("index", 0) == 0 and isinstance(message, dict):
            text += extract_text(message.get("content"))
            calls_tools |= bool(message.get("tool_calls") or message.get("function_call"))
    return ModelReply(text.strip(), calls_tools)


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
