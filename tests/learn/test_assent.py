"""A short reply can agree with what the assistant said."""

from __future__ import annotations

import pytest

from remembrancer.learn.wording.assent import is_assent


@pytest.mark.parametrize(
    "reply",
    [
        "yes, that's the one. And book a table for two",
        "Yep.",
        "exactly, the blue door",
        "great, that's it",
        "Ok, yes",
        "Ja, genau der. Und noch was anderes",
        "Stimmt, so ist es",
        "jo",
        "Sí, ese",
        "si, exacto",
        "Así es, el de la esquina",
        "Esa misma",
        "Oui, c'est ça",
        "Voilà, c'est celui-là",
        "Tout à fait. On part lundi",
        "parfait, c'est exactement ça",
    ],
)
def test_a_reply_that_agrees_is_an_assent(reply: str) -> None:
    assert is_assent(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "yes?",
        "no",
        "thanks!",
        "nice one",
        "ok",
        "perfect",
        "yeah right",
        "yes, but on Friday",
        "Yes. No wait, the fifth",
        "that's not it",
        "definitely not",
        "exactly how much is it?",
        "Ja?",
        "Stimmt nicht",
        "ja, aber erst im Mai",
        "danke dir",
        "si un día gano la lotería",
        "claro, pero mejor el martes",
        "gracias",
        "oui mais non",
        "c'est ça ?",
        "merci",
        "はい",
    ],
)
def test_a_question_a_refusal_or_thanks_is_no_assent(reply: str) -> None:
    assert not is_assent(reply)
