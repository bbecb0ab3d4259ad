"""Small parts of which the patterns for a page are made; each is linear in what it reads."""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.guard.secrets.ascii_view import compiled

# What may stand around a number that is complete: no letter, no digit, nothing that joins them.
NOT_IN_WORD = r"(?:^|[^0-9A-Za-z.,-])"
ENDS = r"(?:$|[^0-9A-Za-z-])"
OPENS = r"(?:^|[\s\"'(=:,`<>\[])"


def one_of(words: str) -> str:
    """Any of the words; an underscore in one stands for a blank in the text."""
    return "(?:" + "|".join(word.replace("_", "[ ]") for word in words.split()) + ")"


def has_any(page: bytes, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns stands in the page."""
    return any(compiled(pattern).search(page) for pattern in patterns)
