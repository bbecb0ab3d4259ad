"""The part of a text that an embedding model gets to see; knows no model."""

from __future__ import annotations


def visible(text: str, characters: int) -> str:
    """The beginning of a text in valid Unicode: lone surrogates cannot be tokenised or sent."""
    return text.strip()[:characters].encode("utf-8", "replace").decode("utf-8")
