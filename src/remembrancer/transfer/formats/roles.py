"""Who speaks, and in which order, in whatever form a conversation was written down."""

from __future__ import annotations

import re
from collections.abc import Mapping

ROLE_BY_SPEAKER = {
    **dict.fromkeys(("user", "you", "me", "human"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "bot", "model", "chatgpt", "claude", "gemini"), "assistant"
    ),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Whom a role or the beginning of a line names, in small letters."""

SPEAKER_PATTERN = re.compile(
    rf"(?:\*\*)?({'|'.join(ROLE_BY_SPEAKER)})(?: said)?(?::\*\*|\*\*:|:)(?:\s+|$)", re.I
)


def branch(parents: Mapping[str, str | None], leaf: str | None) -> list[str]:
    """The way to a leaf of a tree, from its root; a tree that goes round in circles ends there."""
    way: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in way:
        way[leaf] = None
        leaf = parents[leaf]
    return list(reversed(way))


def last_leaf(parents: Mapping[str, str | None]) -> str | None:
    """The last that is nobody's parent."""
    inner = set(parents.values())
    return next((one for one in reversed(list(parents)) if one not in inner), None)
