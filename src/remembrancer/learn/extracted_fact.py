"""A fact found in a transcript, before it is checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from remembrancer.search.terms import normalise_quote
from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A candidate memory, the ids of the turns that support it, and the quoted words in them.

    `requested` is True if the user explicitly asked to have it remembered.
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
    """True if both quote the same words of the same turn."""
    first, second = normalise_quote(one.quote), normalise_quote(other.quote)
    return bool(set(one.turns) & set(other.turns)) and (first in second or second in first)


def inherit_key(one: ExtractedFact, others: Iterable[ExtractedFact]) -> ExtractedFact:
    """Take over subject and predicate if exactly one other fact quotes the same words."""
    alike = [other for other in others if overlaps(one, other)]
    if len(alike) != 1 or one.target is not None:
        return one
    return replace(one, subject=alike[0].subject, predicate=alike[0].predicate)
