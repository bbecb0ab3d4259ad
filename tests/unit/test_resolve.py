"""Which memory a few words refer to, without a store."""

from __future__ import annotations

import pytest

from remembrancer.errors import Ambiguous, InvalidInput
from remembrancer.remember.resolve import MAX_CANDIDATES, find_by_words
from remembrancer.types import Fact
from tests.support.records import make_fact


def facts(*contents: str) -> list[Fact]:
    return [make_fact(content) for content in contents]


def test_words_find_the_only_memory_that_contains_them() -> None:
    tea, coffee = facts("Drinks  Tea every day", "Drinks coffee on Mondays")
    assert find_by_words([tea, coffee], "tea EVERY") == tea
    assert find_by_words([tea, coffee], "beer") is None


def test_the_whole_text_of_one_wins_over_parts_of_others() -> None:
    short, long = facts("Drinks tea", "Drinks tea with milk")
    assert find_by_words([short, long], "drinks tea") == short


def test_several_matches_are_offered_as_candidates() -> None:
    many = facts(*(f"Drinks tea number {number}" for number in range(9)))
    with pytest.raises(Ambiguous) as error:
        find_by_words(many, "drinks tea")
    assert len(error.value.candidates) == MAX_CANDIDATES
    assert "9 memories" in str(error.value)


def test_no_words_are_an_error_and_not_everything() -> None:
    with pytest.raises(InvalidInput, match="id"):
        find_by_words(facts("Drinks tea"), "  ")
