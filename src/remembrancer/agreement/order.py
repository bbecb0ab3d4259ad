"""Tells whether two statements with the same words exchange the parts of two of them. No I/O.

"A calls B" and "B calls A" do; "At noon doors close" and "Doors close at noon" do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from remembrancer.agreement.alignment import Alignment
from remembrancer.agreement.lexicon import stem
from remembrancer.agreement.parsed_statement import ParsedStatement


def are_exchanged(one: ParsedStatement, other: ParsedStatement, alignment: Alignment) -> bool:
    """True if two words have each other's place."""
    mine, theirs = one.skeleton, other.skeleton
    if Counter(mine) == Counter(theirs):
        return mine != theirs and not _is_harmless_move(mine, theirs)
    if one.is_passive != other.is_passive:
        return False
    return _has_exchanged_places(one, other, alignment)


COORDINATORS = ("and", "or", "both")
MOVABLE_WORDS = (
    "at in on by for from to with under over every each during within without until since "
    "before when if once as of per through via"
)
MOVABLE = frozenset(stem(word) for word in MOVABLE_WORDS.split())
"""Words that begin a part of a sentence that can stand anywhere."""


def _is_harmless_move(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """True if one becomes the other by moving one prepositional part, or around "and"."""
    start = next(at for at, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
    tail = next(
        at for at, (a, b) in enumerate(zip(reversed(mine), reversed(theirs), strict=True)) if a != b
    )
    end = len(mine) - tail
    first, second = list(mine[start:end]), list(theirs[start:end])
    for cut in range(1, len(first)):
        if first[cut:] + first[:cut] == second:
            return first[cut] in MOVABLE or first[0] in MOVABLE
    for word in COORDINATORS:
        if word in first and word in second:
            at, to = first.index(word), second.index(word)
            if first[:at] == second[to + 1 :] and first[at + 1 :] == second[:to]:
                return True
    return False


def _has_exchanged_places(
    one: ParsedStatement, other: ParsedStatement, alignment: Alignment
) -> bool:
    """True if two paired words stand in each other's order and under each other's preposition."""
    pairs = alignment.same
    for number, (a, b) in enumerate(pairs):
        for c, d in pairs[number + 1 :]:
            if (a < c) == (b < d):
                continue
            places = one.terms[a].marker, one.terms[c].marker
            others = other.terms[b].marker, other.terms[d].marker
            is_one_part = abs(a - c) == abs(b - d) == 1 and bool(places[0])
            if places[0] != places[1] and places == (others[1], others[0]) and not is_one_part:
                return True
    return False
