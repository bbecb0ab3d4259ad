"""A fact found in a transcript, before it is checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date

from remembrancer.learn.wording.passage import find_terms, shared_terms
from remembrancer.learn.wording.word_list import straighten
from remembrancer.remember.attributes import canonical_subject, fold_name
from remembrancer.search.terms import extract_terms, normalise_quote
from remembrancer.types import Permanence

MIN_QUOTED_SHARE = 0.6
"""Share of a quote from which another quote counts as the same clause."""

MIN_LITERAL_SHARE = 0.5
"""Share of a fact's words that must be in its quote to tell which part of it the fact is from."""

_NAME_OR_NUMBER = re.compile(r"(?<!^)\b(?:[A-ZÀ-ÖØ-Þ]\w*|\w*\d\w*)|^\w*\d\w*")


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
    words for them. `requested` is True if the user explicitly asked to have it remembered, and
    `is_plain` if rules found it by its frame alone: a model that leaves it out is right.
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
    is_plain: bool = False

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


def is_stated(fact: ExtractedFact, others: Iterable[ExtractedFact]) -> bool:
    """True if another fact rests on the words of this one, and not on others beside them."""
    return any(overlaps(fact, one) and not _is_from_elsewhere(one, fact) for one in others)


def says_same(one: ExtractedFact, other: ExtractedFact, own_names: Collection[str] = ()) -> bool:
    """True if two facts tell the same of the same subject, whatever they quote."""
    return (
        has_same_subject(one, other, own_names)
        and _list_told(one) <= shared_terms(_list_told(one), find_terms(other.content))
        and _list_told(other) <= shared_terms(_list_told(other), find_terms(one.content))
    )


def tells_of(one: ExtractedFact, other: ExtractedFact) -> bool:
    """True if the words of one fact include any of those that tell what the other one says."""
    return bool(shared_terms(_list_told(other), find_terms(one.content)))


def quotes_same_clause(one: ExtractedFact, other: ExtractedFact) -> bool:
    """True if one of two facts quotes most of the words that the other one quotes, and no more."""
    return _quotes_most(one, other) or _quotes_most(other, one)


def has_same_subject(
    one: ExtractedFact, other: ExtractedFact, own_names: Collection[str] = ()
) -> bool:
    """True if both are about the same person, as far as they say."""
    subjects = [canonical_subject(each.subject, own_names) for each in (one, other) if each.subject]
    return len({fold_name(each) for each in subjects}) < 2


def inherit_key(one: ExtractedFact, others: Iterable[ExtractedFact]) -> ExtractedFact:
    """Take over subject and predicate if exactly one other fact rests on the same words."""
    alike = [other for other in others if is_stated(other, [one])]
    if len(alike) != 1 or one.target is not None or one.predicate is not None:
        return one
    return replace(one, subject=alike[0].subject, predicate=alike[0].predicate)


def _is_from_elsewhere(one: ExtractedFact, other: ExtractedFact) -> bool:
    """True if a fact quotes more than another one, and only has words from the rest of it.

    Of "I'm vegan and Ida lives in Rome", "Is vegan" has none of what tells where Ida lives. A fact
    with few words of its own quote, as in another language, cannot be told apart.
    """
    content = find_terms(one.content) - find_terms(one.subject or "")
    literal = shared_terms(content, find_terms(one.quote))
    if not literal or len(literal) < MIN_LITERAL_SHARE * len(content):
        return False
    rest = find_terms(one.quote) - find_terms(other.quote)
    return bool(shared_terms(literal, rest)) and not tells_of(one, other)


def _quotes_most(one: ExtractedFact, other: ExtractedFact) -> bool:
    return any(
        mine.turn == theirs.turn
        and normalise_quote(mine.words) in normalise_quote(theirs.words)
        and len(mine.words) >= MIN_QUOTED_SHARE * len(theirs.words)
        for mine in one.quotes
        for theirs in other.quotes
    )


def _list_told(fact: ExtractedFact) -> frozenset[str]:
    """Names, numbers and the second half of the terms: the first ones name the attribute."""
    about = find_terms(fact.subject or "")
    names = find_terms(" ".join(_NAME_OR_NUMBER.findall(fact.content)))
    telling = find_terms(fact.content) - about
    terms = [one for one in extract_terms(straighten(fact.content)) if one in telling]
    return names - about | set(terms[len(terms) // 2 :])


def _contain_each_other(one: str, other: str) -> bool:
    first, second = normalise_quote(one), normalise_quote(other)
    return first in second or second in first
