"""A short prompt that points back is read together with the message before it."""

from __future__ import annotations

import pytest

from remembrancer.search.prompt import join_follow_up


@pytest.mark.parametrize(
    ("before", "prompt"),
    [
        ("What is my boat called?", "And where does it lie?"),
        ("Wie heißt mein Boot?", "Und wo liegt es?"),
        ("¿Cómo se llama mi barco?", "¿Y dónde está eso?"),
        ("Comment s'appelle mon bateau ?", "Et il est où ?"),
    ],
)
def test_a_pronoun_brings_the_message_before(before: str, prompt: str) -> None:
    assert join_follow_up(prompt, before) == f"{before}\n{prompt}"


@pytest.mark.parametrize(
    "prompt",
    [
        "Where do I work?",
        "Please write a letter to my landlord and tell them that the heating is broken.",
        "Where does Ida live, and is she well?",
    ],
)
def test_a_prompt_that_stands_alone_stays_alone(prompt: str) -> None:
    assert join_follow_up(prompt, "What is my boat called?") == prompt
    assert join_follow_up("And where does it lie?", None) == "And where does it lie?"
