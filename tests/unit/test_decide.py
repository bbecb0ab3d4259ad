"""What a new memory is to the old ones, decided without a store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.profiles import DedupPolicy
from remembrancer.remember.pipeline import Add, Duplicate, Neighbours, Reject, Supersede, decide
from remembrancer.types import Fact, Source
from tests.support.records import make_fact

DEDUP = DedupPolicy(threshold=0.9)


def fact(content: str, subject: str | None = None, predicate: str | None = None) -> Fact:
    return make_fact(content, subject=subject, predicate=predicate)


def test_what_is_like_nothing_is_added() -> None:
    assert decide(fact("new"), Neighbours(), DEDUP) == Add()


def test_the_same_again_is_known() -> None:
    old = fact("same")
    assert decide(fact("same"), Neighbours(identical=old), DEDUP) == Duplicate(old)


def test_a_person_who_says_what_was_guessed_vouches_for_it() -> None:
    guess = replace(fact("same"), source=Source.EXTRACTED)
    assert decide(fact("same"), Neighbours(identical=guess), DEDUP) == Supersede(guess)
    again = replace(fact("same"), source=Source.EXTRACTED)
    assert decide(again, Neighbours(identical=guess), DEDUP) == Duplicate(guess)


@pytest.mark.parametrize(
    ("similarity", "inclusive", "replaces"),
    [
        (0.9, True, True),
        (0.9, False, False),
        (0.899999, True, False),
        (0.900001, False, True),
    ],
)
def test_the_threshold_is_a_sharp_line(similarity: float, inclusive: bool, replaces: bool) -> None:
    old = fact("old")
    dedup = DedupPolicy(threshold=0.9, inclusive=inclusive)
    near = Neighbours(nearest=old, similarity=similarity)
    assert decide(fact("new"), near, dedup) == (Supersede(old) if replaces else Add())


def test_two_facts_with_different_keys_are_never_one_however_alike() -> None:
    old = fact("John", "dog", "name")
    near = Neighbours(nearest=old, similarity=1.0)
    assert decide(fact("John", "user", "name"), near, DEDUP) == Add()


def test_what_is_said_of_another_subject_is_never_one_however_alike() -> None:
    near = Neighbours(nearest=fact("Eats fish", "Ida"), similarity=1.0)
    assert decide(fact("Eats fish"), near, DEDUP) == Add()
    assert decide(fact("Eats fish", "dog"), near, DEDUP) == Add()
    assert decide(fact("Eats fish", "ida"), near, DEDUP) == Supersede(near.nearest)


def test_a_fact_without_a_subject_is_about_the_user() -> None:
    near = Neighbours(nearest=fact("Eats fish", "user", "diet"), similarity=1.0)
    assert decide(fact("Eats fish often"), near, DEDUP) == Supersede(near.nearest)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Works with Anna", "Works with Otto"),
        ("Pays 20 euros", "Pays 30 euros"),
        ("Rows on Mondays", "Rows on Fridays"),
        ("The train out is late", "The train back is late"),
        ("Eats fish", "Never eats fish"),
    ],
)
def test_other_names_numbers_days_or_directions_are_another_fact(old: str, new: str) -> None:
    near = Neighbours(nearest=fact(old), similarity=1.0)
    assert decide(fact(new), near, DEDUP) == Add()


def test_the_same_key_replaces_whatever_the_words() -> None:
    old = fact("Oslo", "user", "city")
    new = fact("Lima", "user", "city")
    assert decide(new, Neighbours(same_key=old, similarity=0.1), DEDUP) == Supersede(old)


def stocks(content: str, source: Source) -> Fact:
    return replace(fact(content, "user", "stocks"), source=source)


@pytest.mark.parametrize("source", [Source.CONSOLIDATED, Source.IMPORTED])
@pytest.mark.parametrize("keep_explicit", [False, True])
def test_what_software_concluded_never_replaces_what_a_person_said(
    source: Source, keep_explicit: bool
) -> None:
    old, new = stocks("funds only", Source.EXPLICIT), stocks("likes stocks", source)
    near = Neighbours(same_key=old)
    assert decide(new, near, DEDUP, keep_explicit=keep_explicit) == Reject(old)
    guess = replace(old, source=Source.EXTRACTED)
    assert decide(new, Neighbours(same_key=guess), DEDUP) == Supersede(guess)


def test_what_a_person_says_in_a_conversation_replaces_what_they_stated_unless_that_is_kept() -> (
    None
):
    old, new = stocks("funds only", Source.EXPLICIT), stocks("likes stocks", Source.EXTRACTED)
    near = Neighbours(same_key=old)
    assert decide(new, near, DEDUP) == Supersede(old)
    assert decide(new, near, DEDUP, keep_explicit=True) == Reject(old)
    stated = replace(new, source=Source.EXPLICIT)
    assert decide(stated, near, DEDUP, keep_explicit=True) == Supersede(old)
