"""The part of a text that an embedding model gets to see; knows no model."""

from __future__ import annotations


def truncate_text(text: str, max_chars: int) -> str:
    """The beginning of a text in valid Unicode: lone surrogates cannot be tokenised or sent."""
    return text.strip()[:max_chars].encode("utf-8", "replace").decode("utf-8")
