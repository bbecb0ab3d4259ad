"""The topics of a text, in four languages."""

from __future__ import annotations

import pytest

from remembrancer.search.topics import find_topics


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
