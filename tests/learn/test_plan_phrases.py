"""Names, numbers, negations and corrections in four languages."""

from __future__ import annotations

import pytest

from remembrancer.learn.consolidation.phrases import (
    count_negations,
    find_ungrounded,
    is_correction,
)


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("Meets Marta on Mondays", "They meet MARTA every monday."),
        ("Has 2 children", "Told me about the two children."),
        ("Weighs 75 kg", "Logged 75kg."),
        ("Earns 1,000 euros", "The pay is 1000 euros."),
        ("Wohnt in einer Wohnung mit Balkon", "Die Bleibe hat einen Freisitz."),
        ("Habla con Inés los lunes", "Cada lunes habla con Ines."),
        ("The User likes tea", "Asked for tea."),
    ],
)
def test_names_and_numbers_are_found_in_any_form(content: str, known: str) -> None:
    assert find_ungrounded(content, [known]) == []


@pytest.mark.parametrize(
    ("content", "known", "invented"),
    [
        ("Lives in Porto", "Is fond of Portugal.", ["Porto"]),
        ("Meets Marta at 8", "Meets a friend at 9.", ["8", "Marta"]),
        ("Wohnt seit 2019 in der Stadt", "Wohnt seit 2018 in der Stadt.", ["2019"]),
        ("Vit près de Lyon", "Il vit près de Paris.", ["Lyon"]),
    ],
)
def test_invented_names_and_numbers_are_found(
    content: str, known: str, invented: list[str]
) -> None:
    assert find_ungrounded(content, [known]) == invented


@pytest.mark.parametrize(
    "text",
    [
        "Doesn't eat meat",
        "Isst kein Fleisch",
        "Nunca come carne",
        "Ne mange plus de viande",
        "Mange pas de viande",
        "Stopped eating meat",
        "Hat mit dem Rauchen aufgehört",
        "Dejó de fumar",
    ],
)
def test_one_negation_counts_once(text: str) -> None:
    assert count_negations(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Asked for a recipe with leeks.",
        "They always have coffee at nine.",
        "Fragte nach dem Wetter in Bonn.",
        "Quería una receta.",
        "Il a demandé une recette.",
    ],
)
def test_a_request_is_no_correction(text: str) -> None:
    assert not is_correction(text)
