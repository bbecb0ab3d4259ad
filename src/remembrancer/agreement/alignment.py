"""Pairs the words of two statements that say the same or the opposite. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isclose

from remembrancer.agreement.amounts import CLOCK_UNIT, HALF_DAY_UNIT, Amount
from remembrancer.agreement.lexicon import (
    PARTICLES,
    PREPOSITIONS,
    are_exclusive,
    are_opposite,
    is_negated_form,
)
from remembrancer.agreement.parsed_statement import ParsedStatement, Term


@dataclass(frozen=True, slots=True)
class Alignment:
    """The pairs of positions that say the same, those that are opposite or exclusive, and the
    positions that are left over on each side.
    """

    same: tuple[tuple[int, int], ...]
    opposite: tuple[tuple[int, int], ...]
    exclusive: tuple[tuple[int, int], ...]
    left: tuple[int, ...]
    right: tuple[int, ...]


def align(one: ParsedStatement, other: ParsedStatement) -> Alignment:
    """Pair each word with at most one word: first equal ones, then synonyms, then opposites."""
    free = set(range(len(one.terms))), set(range(len(other.terms)))

    def pair(is_match: Callable[[Term, Term], bool]) -> tuple[tuple[int, int], ...]:
        return tuple(_pair(one.terms, other.terms, free, is_match))

    same = (*pair(_is_equal), *pair(_is_synonym))
    opposite, exclusive = pair(_is_opposite), pair(_is_exclusive)
    same += pair(_is_word_of_phrase)
    return Alignment(
        tuple(sorted(same)), opposite, exclusive, tuple(sorted(free[0])), tuple(sorted(free[1]))
    )


def _pair(
    mine: tuple[Term, ...],
    theirs: tuple[Term, ...],
    free: tuple[set[int], set[int]],
    is_match: Callable[[Term, Term], bool],
) -> Iterable[tuple[int, int]]:
    for a in sorted(free[0]):
        matches = [b for b in sorted(free[1]) if is_match(mine[a], theirs[b])]
        if matches:
            best = min(matches, key=lambda b: (mine[a].marker != theirs[b].marker, abs(a - b)))
            free[0].discard(a)
            free[1].discard(best)
            yield a, best


def _is_equal(one: Term, other: Term) -> bool:
    if one.amount is not None or other.amount is not None:
        return _is_same_amount(one, other)
    return bool(one.stems) and _list_telling(one) == _list_telling(other)


def _list_telling(term: Term) -> list[str]:
    """The stems without prepositions and articles, unless there are no others."""
    return [stem for stem in term.stems if stem not in PREPOSITIONS] or list(term.stems)


def _is_same_amount(one: Term, other: Term) -> bool:
    if one.amount is None or other.amount is None:
        return False
    units = {one.amount.unit, other.amount.unit}
    if units == {"", CLOCK_UNIT}:
        return _is_same_hour(one.amount, other.amount)
    if HALF_DAY_UNIT in units and units <= {HALF_DAY_UNIT, CLOCK_UNIT}:
        return one.amount.value % 720 == other.amount.value % 720
    same_amount = isclose(one.amount.value, other.amount.value, rel_tol=1e-6)
    return same_amount and len(units) == 1


def _is_same_hour(one: Amount, other: Amount) -> bool:
    """True for "at six" and "at 6 pm"."""
    hour, clock = (one, other) if other.unit == CLOCK_UNIT else (other, one)
    return hour.value * 60 % 720 == clock.value % 720


def _is_synonym(one: Term, other: Term) -> bool:
    if one.entry is None or other.entry is None or one.is_name != other.is_name:
        return False
    return bool(one.entry.senses & other.entry.senses)


def _is_word_of_phrase(one: Term, other: Term) -> bool:
    """True for a phrase and the word of it that tells, such as "hand over" and "hand"."""
    shorter, longer = sorted((one.stems, other.stems), key=len)
    if len(shorter) != 1 or shorter[0] not in longer:
        return False
    return PARTICLES.issuperset(set(longer) - set(shorter))


def _is_opposite(one: Term, other: Term) -> bool:
    if are_opposite(one.entry, other.entry):
        return True
    return any(is_negated_form(a, b) for a in one.stems for b in other.stems)


def _is_exclusive(one: Term, other: Term) -> bool:
    return are_exclusive(one.entry, other.entry)
