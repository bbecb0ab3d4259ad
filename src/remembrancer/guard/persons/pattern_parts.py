"""Small parts of which the patterns for a page are made; each is linear in what it reads."""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.guard.ascii_view import compile_pattern

# What may stand around a number that is complete: no letter, no digit, nothing that joins them.
BEFORE_NUMBER = r"(?:^|[^0-9A-Za-z.,-])"
AFTER_NUMBER = r"(?:$|[^0-9A-Za-z-])"
BEFORE_PATH = r"(?:^|[\s\"'(=:,`<>\[])"


def one_of(words: str) -> str:
    """Any of the words; an underscore in one stands for a blank in the text."""
    return "(?:" + "|".join(word.replace("_", "[ ]") for word in words.split()) + ")"


def has_any(data: bytes, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns stands in the page."""
    return any(compile_pattern(pattern).search(data) for pattern in patterns)
