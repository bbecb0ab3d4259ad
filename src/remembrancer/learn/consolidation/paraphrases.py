"""Groups facts that say the same in different words. No I/O.

Two facts are joined only if their words agree: vectors cannot tell "green tea" from "no green tea".
What agrees with a third one belongs to the same group, unless two of its facts contradict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from remembrancer.agreement.verdict import Agreement, compare, judge
from remembrancer.remember.likeness import is_calendar_word
from remembrancer.types import Fact

BLOCK_SIZE = 512
MIN_SIMILARITY = 0.75
"""Cosine from which the words of two facts are compared; paraphrases are rarely below it."""

DAY_BOUND_WORDS = frozenset(
    "this today tonight yesterday tomorrow now currently last next ago just".split()
)
"""Words that tie a statement to the day on which it was made."""

_WISH = re.compile(r"\b(?:likes|prefers|wants|enjoys|loves)\b", re.IGNORECASE)
_HABIT = re.compile(r"\b(?:likes|drinks|eats|takes|has)\b", re.IGNORECASE)
"""Verbs that make little difference: all the wishes, and habits at the same time of the day."""

MAX_ADDED = 0.4
"""Weight of the words that one statement can have alone: none that tells anything."""

VectorsById = Mapping[str, NDArray[np.float32]]


def find_paraphrases(facts: Sequence[Fact], vectors: VectorsById) -> list[list[Fact]]:
    """Return groups of facts that say the same, each sorted as the facts are.

    The facts must be of one scope.
    """
    compared = [one for one in facts if one.id in vectors and not one.has_program_key]
    group_by_id = {one.id: [at] for at, one in enumerate(compared)}
    for first, second in _iter_similar_pairs(compared, vectors):
        mine, theirs = group_by_id[first.id], group_by_id[second.id]
        if mine is theirs or not says_the_same(first, second):
            continue
        pairs = ((compared[a], compared[b]) for a, b in product(mine, theirs))
        if not any(_are_opposed(one, other) for one, other in pairs):
            mine += theirs
            group_by_id.update((compared[at].id, mine) for at in theirs)
    groups = {min(group): sorted(group) for group in group_by_id.values() if len(group) > 1}
    return [[compared[at] for at in groups[first]] for first in sorted(groups)]


def says_the_same(one: Fact, other: Fact) -> bool:
    """True if two similar facts say the same, neither of them of one day alone."""
    if _is_bound_to_a_day(one) or _is_bound_to_a_day(other):
        return False
    if _topic(one) != _topic(other) and _topic(one) and _topic(other):
        return False
    mine, theirs = (_WISH.sub("likes", text) for text in (one.content, other.content))
    if _names_a_time(mine) and _names_a_time(theirs):
        mine, theirs = _HABIT.sub("", mine), _HABIT.sub("", theirs)
    found = compare(mine, theirs)
    is_turned = found.flips > 0 or found.opposites > 0
    adds = max(found.left, found.right) > MAX_ADDED
    return not (is_turned or adds) and judge(mine, theirs) is Agreement.SAME


def _are_opposed(one: Fact, other: Fact) -> bool:
    return judge(one.content, other.content) is Agreement.CONTRADICTS


def _names_a_time(text: str) -> bool:
    return any(is_calendar_word(word.rstrip("s")) for word in text.split())


def _topic(fact: Fact) -> tuple[str | None, str | None] | None:
    return (fact.subject, fact.predicate) if fact.predicate else None


def _is_bound_to_a_day(fact: Fact) -> bool:
    return not DAY_BOUND_WORDS.isdisjoint(fact.content.casefold().split())


def _iter_similar_pairs(facts: Sequence[Fact], vectors: VectorsById) -> Iterator[tuple[Fact, Fact]]:
    """Yield each pair whose vectors are similar, block by block to bound the memory."""
    if len(facts) < 2:
        return
    matrix = np.stack([vectors[one.id] for one in facts])
    for start in range(0, len(facts), BLOCK_SIZE):
        block = matrix[start : start + BLOCK_SIZE] @ matrix[: start + BLOCK_SIZE].T
        for row, column in np.argwhere(np.tril(block >= MIN_SIMILARITY, start - 1)).tolist():
            yield facts[column], facts[start + row]
