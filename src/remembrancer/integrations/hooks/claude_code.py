"""Parses a transcript of Claude Code into turns.

The transcript has tool results as messages of the user, and text that the client added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from remembrancer.sessions.message_text import extract_text

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput

MAX_TURN_CHARS = 100_000
MAX_TOOL_TURN_CHARS = 2_000

SKIP_FLAGS = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
"""Flags of lines by the client, by a subagent, or with a summary."""

_CLIENT_MARKUP = re.compile(
    r"<(system-reminder|task-notification|teammate-message|user-prompt-submit-hook"
    r"|command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)"
    r"|bash-(?:input|stdout|stderr)|ide_(?:opened_file|selection|diagnostics))>.*?</\1>"
    r"|\[Request interrupted by user[^\]\n]*\]",
    re.DOTALL,
)
"""What the client adds to the messages of the user."""


def parse_turns(lines: Iterable[str]) -> Iterator[TurnInput]:
    """Yield the turns in order; lines that cannot be read are skipped."""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and _is_message(entry):
            yield from _parse_entry(entry)


def _is_message(entry: Mapping[str, Any]) -> bool:
    origin = entry.get("origin")
    by_human = not isinstance(origin, dict) or origin.get("kind", "human") == "human"
    return (
        entry.get("type") in ("user", "assistant")
        and isinstance(entry.get("message"), dict)
        and not any(entry.get(flag) for flag in SKIP_FLAGS)
        and by_human
    )


def _parse_entry(entry: Mapping[str, Any]) -> Iterator[TurnInput]:
    role = entry["type"]
    content = entry["message"].get("content")
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "tool_result":
            yield from _build_turn(
                "tool", extract_text(part.get("content"))[:MAX_TOOL_TURN_CHARS], entry
            )
        elif part.get("type") == "text":
            yield from _build_turn(role, str(part.get("text", ""))[:MAX_TURN_CHARS], entry)


def _build_turn(role: str, text: str, entry: Mapping[str, Any]) -> Iterator[TurnInput]:
    if role == "user":
        text = _CLIENT_MARKUP.sub("", text)
    text = text.replace("\0", "").encode("utf-8", "replace").decode().strip()
    if text:
        turn: TurnInput = {"role": role, "content": text}
        if isinstance(timestamp := entry.get("timestamp"), str):
            turn["said_at"] = datetime.fromisoformat(timestamp)
        yield turn
