"""A transcript of Claude Code as turns: who said what, in lines of JSON. Pure.

What tools answered stands in it as the user's; what the client itself put in stands there too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from remembrancer.sessions.message_text import words_in

if TYPE_CHECKING:
    from remembrancer.sessions.turns import Said

LONGEST = 100_000
LONGEST_OF_TOOLS = 2_000
"""How many characters of a turn are kept: of a tool's, enough to know it again."""

BESIDES = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
"""What marks a line as the client's own, a subagent's, or a summary of what was said."""

_INSERTED = re.compile(
    r"<(system-reminder|task-notification|teammate-message|user-prompt-submit-hook"
    r"|command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)"
    r"|bash-(?:input|stdout|stderr)|ide_(?:opened_file|selection|diagnostics))>.*?</\1>",
    re.DOTALL,
)
"""What the client writes into a user's message."""


def turns(lines: Iterable[str]) -> Iterator[Said]:
    """What was said, in order; a line that cannot be read says nothing."""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and _is_said(entry):
            yield from _turns(entry)


def _is_said(entry: Mapping[str, Any]) -> bool:
    origin = entry.get("origin")
    by_hand = not isinstance(origin, dict) or origin.get("kind", "human") == "human"
    return (
        entry.get("type") in ("user", "assistant")
        and isinstance(entry.get("message"), dict)
        and not any(entry.get(mark) for mark in BESIDES)
        and by_hand
    )


def _turns(entry: Mapping[str, Any]) -> Iterator[Said]:
    role = entry["type"]
    content = entry["message"].get("content")
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "tool_result":
            yield from _turn("tool", words_in(part.get("content"))[:LONGEST_OF_TOOLS], entry)
        elif part.get("type") == "text":
            yield from _turn(role, str(part.get("text", ""))[:LONGEST], entry)


def _turn(role: str, text: str, entry: Mapping[str, Any]) -> Iterator[Said]:
    if role == "user":
        text = _INSERTED.sub("", text)
    text = text.replace("\0", "").encode("utf-8", "replace").decode().strip()
    if text:
        said: Said = {"role": role, "content": text}
        if isinstance(moment := entry.get("timestamp"), str):
            said["said_at"] = datetime.fromisoformat(moment)
        yield said
