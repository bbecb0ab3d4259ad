"""The topics and kinship words of a text, in four languages."""

from __future__ import annotations

import pytest

from remembrancer.search.topics import find_relations, find_topics, widen_relations


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("What shall we cook tonight?", "food"),
        ("Was kochen wir heute?", "food"),
        ("¿Qué cenamos hoy?", "food"),
        ("On mange quoi ce soir ?", "diet"),
        ("Der Haustürschlüssel liegt beim Nachbarn.", "key"),
        ("¿Cuánto pago de renta?", "rent"),
        ("Le loyer a augmenté.", "rent"),
        ("dietary_restriction", "diet"),
    ],
)
def test_a_word_of_any_language_tells_the_topic(text: str, topic: str) -> None:
    assert topic in find_topics(text)


def test_a_text_without_everyday_words_has_no_topic() -> None:
    assert find_topics("Xylograph zyzzyva") == frozenset()


def test_a_beginning_that_two_languages_share_does_not_mislead() -> None:
    assert "food" not in find_topics("my brother is a manager")
    assert "study" not in find_topics("because of these")


@pytest.mark.parametrize("text", ["my sister", "meine Schwester", "mi hermana", "ma sœur"])
def test_a_kinship_word_names_a_relation(text: str) -> None:
    assert find_relations(text) == {"sister"}


def test_a_mother_in_law_is_no_mother() -> None:
    assert find_relations("my mother-in-law") == {"mother-in-law"}


def test_children_are_sons_and_daughters() -> None:
    assert widen_relations(frozenset({"children"})) == {"children", "son", "daughter"}
