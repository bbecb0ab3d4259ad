"""What a conversation may have told, before code has checked any of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from remembrancer.search.terms import normalise_quote
from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
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
    requested: bool = False


def overlaps(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Whether two rest on the same words of the same turn."""
    first, second = normalise_quote(one.quote), normalise_quote(other.quote)
    return bool(set(one.turns) & set(other.turns)) and (first in second or second in first)


def inherit_key(one: ExtractedFact, others: Iterable[ExtractedFact]) -> ExtractedFact:
    """The candidate in the place of the only other that rests on the same words."""
    alike = [other for other in others if overlaps(one, other)]
    if len(alike) != 1 or one.target is not None:
        return one
    return replace(one, subject=alike[0].subject, predicate=alike[0].predicate)
