"""Compares two statements: the same, contradictory, or neither. No I/O.

The measurements behind the limits are in docs/decisions/agreement.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from remembrancer.agreement.alignment import Alignment, align
from remembrancer.agreement.lexicon import Phrase, are_opposite, look_up, stem
from remembrancer.agreement.order import are_exchanged
from remembrancer.agreement.parsed_statement import ParsedStatement, Term, parse_statement
from remembrancer.search.language import Language, detect_language
from remembrancer.search.terms import fingerprint

LOWER_BOUNDS, UPPER_BOUNDS = frozenset({"least", "more"}), frozenset({"most", "less"})
LIGHT_WEIGHT = 0.2
MIN_SHARED = 1.5
"""Weight of the words that statements have in common if they say the same."""

MAX_LEFT = 1.0
"""Weight of the words that one statement can have alone and still say the same."""

MAX_LEFT_ON_BOTH = 0.8
"""Weight of the words that each of them can have alone and still say the same."""

MIN_SIMILARITY = 0.9
"""Similarity from which one word of a long statement can replace another."""

MIN_SHARED_IF_SIMILAR, MAX_LEFT_IF_SIMILAR = 4.0, 1.4
MIN_SHARED_PART = 0.5
"""The part of the longer statement that contradictory statements share."""


class Agreement(StrEnum):
    """How two statements relate."""

    SAME = "same"
    CONTRADICTS = "contradicts"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two statements share and where they differ.

    `shared`, `left` and `right` are weights of words. `flips` counts what turns the meaning into
    its opposite: negations, opposites, and two words in each other's place.
    """

    shared: float
    left: float
    right: float
    telling: int
    """Names and amounts that only one of them has."""

    flips: int
    opposites: int
    alternatives: int
    bounds: frozenset[str]
    replaces: bool
    """True if one has another word in the place of one word or amount of the other."""


def judge(one: str, other: str, similarity: float = 0.0) -> Agreement:
    """Tell whether two statements say the same, contradict each other, or neither.

    With the similarity of their vectors, one word can replace another that no list has.
    """
    if fingerprint(one) == fingerprint(other):
        return Agreement.SAME
    found = compare(one, other)
    is_read = _is_english(one) and _is_english(other)
    if _says_the_same(found, similarity) and (is_read or found.left == found.right == 0):
        return Agreement.SAME
    return Agreement.CONTRADICTS if _contradicts(found) else Agreement.UNRELATED


def _is_english(text: str) -> bool:
    """False for a language whose words no list has, so that each of them can matter."""
    return detect_language(text) in (None, Language.ENGLISH)


def _says_the_same(found: Comparison, similarity: float) -> bool:
    differs = found.telling or found.alternatives or found.bounds
    if differs or found.flips % 2 or found.opposites > 1 or found.shared < MIN_SHARED:
        return False
    most, least = max(found.left, found.right), min(found.left, found.right)
    if most <= MAX_LEFT and least <= MAX_LEFT_ON_BOTH:
        return True
    is_similar = similarity >= MIN_SIMILARITY and found.shared >= MIN_SHARED_IF_SIMILAR
    return is_similar and most <= MAX_LEFT_IF_SIMILAR


def _contradicts(found: Comparison) -> bool:
    longest = found.shared + max(found.left, found.right)
    if found.shared < max(1.0, MIN_SHARED_PART * longest):
        return False
    return found.flips % 2 == 1 or bool(found.bounds) or found.replaces


def compare(one: str, other: str) -> Comparison:
    """Compare what two statements say."""
    mine, theirs, alignment = _align(one, other)
    rest = [mine.terms[a] for a in alignment.left], [theirs.terms[b] for b in alignment.right]
    return Comparison(
        shared=sum(_weigh(mine.terms[a]) for a, _ in (*alignment.same, *alignment.opposite)),
        left=sum(map(_weigh, rest[0])),
        right=sum(map(_weigh, rest[1])),
        telling=sum(_is_telling(term) for terms in rest for term in terms),
        flips=_count_flips(mine, theirs, alignment),
        opposites=len(alignment.opposite),
        alternatives=len(alignment.exclusive),
        bounds=_compare_bounds(mine, theirs),
        replaces=_replaces(mine, theirs, alignment),
    )


def _align(one: str, other: str) -> tuple[ParsedStatement, ParsedStatement, Alignment]:
    """Align two statements; phrases that find no partner are read word by word."""
    single: frozenset[Phrase] = frozenset()
    while True:
        mine, theirs = parse_statement(one, single), parse_statement(other, single)
        alignment = align(mine, theirs)
        rest = (
            *(mine.terms[a] for a in alignment.left),
            *(theirs.terms[b] for b in alignment.right),
        )
        unpaired = frozenset(term.stems for term in rest if len(term.stems) > 1)
        if unpaired <= single:
            return mine, theirs, alignment
        single |= unpaired


def _count_flips(mine: ParsedStatement, theirs: ParsedStatement, alignment: Alignment) -> int:
    turned = sum(
        _are_turned(mine.terms[a].marker, theirs.terms[b].marker) for a, b in alignment.same
    )
    exchanged = are_exchanged(mine, theirs, alignment)
    return mine.negations + theirs.negations + len(alignment.opposite) + turned + exchanged


def _are_turned(one: str, other: str) -> bool:
    """True for prepositions such as "above" and "below"."""
    return one != other and are_opposite(look_up((stem(one),)), look_up((stem(other),)))


def _compare_bounds(mine: ParsedStatement, theirs: ParsedStatement) -> frozenset[str]:
    """The limits in which they differ; "only with" is the same as "not without".

    "Within a day" and "the deadline is a day" leave a limit unsaid.
    """
    different = mine.bounds ^ theirs.bounds
    if abs(mine.negations - theirs.negations) == 2:
        different -= {"only"}
    if {mine.modal, theirs.modal} == {"may", "must"}:
        return different | {"modal"}
    is_reversed = different & LOWER_BOUNDS and different & UPPER_BOUNDS
    return different if is_reversed else different & {"only"}


def _replaces(mine: ParsedStatement, theirs: ParsedStatement, alignment: Alignment) -> bool:
    """True if they differ only in amounts of the same units, or in one name or alternative.

    A name before all words that both have is another subject: "The iOS app is slow" does not
    contradict "The Android app is slow".
    """
    rest = _pick(mine, alignment.left), _pick(theirs, alignment.right)
    if not alignment.exclusive and _are_amounts_of_same_units(*rest):
        return True
    places = (
        [a for a, _ in (*rest[0], *_pick(mine, [a for a, _ in alignment.exclusive]))],
        [b for b, _ in (*rest[1], *_pick(theirs, [b for _, b in alignment.exclusive]))],
    )
    pairs = (*alignment.same, *alignment.opposite)
    if not pairs or not places[0] or not places[1] or len(alignment.exclusive) > 1:
        return False
    first = min(a for a, _ in pairs), min(b for _, b in pairs)
    is_telling = alignment.exclusive or all(any(term.is_name for _, term in one) for one in rest)
    return bool(is_telling) and first[0] < min(places[0]) and first[1] < min(places[1])


def _are_amounts_of_same_units(
    one: Sequence[tuple[int, Term]], other: Sequence[tuple[int, Term]]
) -> bool:
    units = [
        [term.amount.unit if term.amount else None for _, term in terms] for terms in (one, other)
    ]
    return bool(units[0]) and units[0] == units[1] and None not in units[0]


def _pick(statement: ParsedStatement, places: Sequence[int]) -> list[tuple[int, Term]]:
    """The terms at these places that cannot be left out."""
    return [(at, statement.terms[at]) for at in places if not statement.terms[at].is_light]


def _weigh(term: Term) -> float:
    return LIGHT_WEIGHT if term.is_light else 1.0


def _is_telling(term: Term) -> bool:
    return term.is_name or term.amount is not None
