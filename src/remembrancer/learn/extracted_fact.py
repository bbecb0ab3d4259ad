"""A fact found in a transcript, before it is checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from remembrancer.search.terms import normalise_quote
from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a turn."""

    turn: str
    words: str


@dataclass(frozen=True, slots=True)
class Dates:
    """The days from which and up to which a fact holds, both inclusive."""

    start: date | None = None
    end: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A candidate memory, and the words that support it.

    `subject` is whom it is about: "user" or a name. `dates` are the model's, and `said_as` the
    words for them. `requested` is True if the user explicitly asked to have it remembered.
    """

    content: str
    quotes: tuple[Quote, ...]
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    importance: float | None = None
    permanence: Permanence | None = None
    confidence: float = 1.0
    target: str | None = None
    dates: Dates | None = None
    said_as: str = ""
    requested: bool = False

    @property
    def turns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.turn for one in self.quotes))

    @property
    def quote(self) -> str:
        """The words of all quotes."""
        return " … ".join(one.words for one in self.quotes)


def overlaps(one: ExtractedFact, other: ExtractedFact) -> bool:
    """True if both quote the same words of the same turn."""
    return any(
        mine.turn == theirs.turn and _contain_each_other(mine.words, theirs.words)
        for mine in one.quotes
        for theirs in other.quotes
    )


def inherit_key(one: ExtractedFact, others: Iterable[ExtractedFact]) -> ExtractedFact:
    """Take over subject and predicate if exactly one other fact quotes the same words."""
    alike = [other for other in others if overlaps(one, other)]
    if len(alike) != 1 or one.target is not None or one.predicate is not None:
        return one
    return replace(one, subject=alike[0].subject, predicate=alike[0].predicate)


def _contain_each_other(one: str, other: str) -> bool:
    first, second = normalise_quote(one), normalise_quote(other)
    return first in second or second in first
