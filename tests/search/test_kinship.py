"""The relatives that a text speaks of."""

from __future__ import annotations

import pytest

from remembrancer.search.kinship import find_relations, widen_relations


@pytest.mark.parametrize("text", ["my sister", "meine Schwester", "mi hermana", "ma sœur"])
def test_a_kinship_word_names_a_relation(text: str) -> None:
    assert find_relations(text) == {"sister"}


def test_a_mother_in_law_is_no_mother() -> None:
    assert find_relations("my mother-in-law") == {"mother-in-law"}


@pytest.mark.parametrize(
    "text",
    ["¿Cuáles son mis alergias?", "Qu'offrir à Kim pour son mariage ?", "my chat with the bank"],
)
def test_a_word_of_another_language_is_no_relative(text: str) -> None:
    assert find_relations(text) == frozenset()


def test_children_are_sons_and_daughters() -> None:
    assert widen_relations(frozenset({"children"})) == {"children", "son", "daughter"}
