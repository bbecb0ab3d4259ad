"""What a conversation may have told, before code has checked any of it."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something to remember, the user's turns that support it, and the words in them that do.

    `asked` says that the person asked in so many words for it to be remembered.
    """

    content: str
    quote: str
    turns: tuple[str, ...]
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    importance: float | None = None
    permanence: Permanence | None = None
    confidence: float = 1.0
    target: str | None = None
    asked: bool = False
