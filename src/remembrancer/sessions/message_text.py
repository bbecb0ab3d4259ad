"""The words of a message, in whatever form a chat protocol writes it down. Pure."""

from __future__ import annotations

TEXT_PART_TYPES = (None, "text", "input_text", "output_text")
"""The types of parts that are words; others are images, calls and results of tools, reasoning."""


def extract_text(content: object) -> str:
    """A text as it is, or the texts among the parts of a message."""
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
