"""Cuts a text to the part that an embedding model reads."""

from __future__ import annotations


def truncate_text(text: str, max_chars: int) -> str:
    """The first `max_chars` characters in valid Unicode; lone surrogates cannot be encoded."""
    return text.strip()[:max_chars].encode("utf-8", "replace").decode("utf-8")
