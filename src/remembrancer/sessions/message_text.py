"""Extracts the text of a message from the content formats of chat APIs. No I/O."""

from __future__ import annotations

TEXT_PART_TYPES = (None, "text", "input_text", "output_text")
"""Types of text parts; other parts are images, tool calls, tool results and reasoning."""


def extract_text(content: object) -> str:
    """Returns a string unchanged, or joins the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [one if isinstance(one, str) else _part_text(one) for one in parts]
    return "\n".join(one for one in texts if one.strip())


def _part_text(part: object) -> str:
    if not isinstance(part, dict) or part.get("type") not in TEXT_PART_TYPES:
        return ""
    found = part.get("text")
    return found if isinstance(found, str) else ""
