"""The concepts of a text are the same in every language."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from remembrancer.search.concepts import find_concepts, gloss


@pytest.mark.parametrize(
    "text",
    [
        "My brother takes the train in the evening.",
        "Mein Bruder nimmt abends den Zug.",
        "Mi hermano toma el tren por la noche.",
        "Mon frère prend le train le soir.",
    ],
)
def test_a_word_stands_for_its_concept_in_each_language(text: str) -> None:
    assert {"brother", "train"} <= find_concepts(text)


def test_a_german_compound_has_the_concepts_of_its_parts() -> None:
    assert {"garden", "door"} <= find_concepts("Die Gartentür klemmt, und ich habe keine Zeit.")


def test_a_word_is_read_in_the_language_of_its_text() -> None:
    assert "potato" not in find_concepts("Papa vient dîner avec nous et il est en retard.")
    assert "potato" in find_concepts("Compra una papa y un tomate para la cena.")


def test_a_gloss_is_english_and_keeps_the_words_that_it_does_not_know() -> None:
    assert gloss("Wann fährt der Zug nach Xanten?").endswith("xanten")
    assert "train" in gloss("Wann fährt der Zug nach Xanten?").split()


def test_the_file_is_well_formed() -> None:
    text = resources.files("remembrancer.search").joinpath("concepts.txt").read_text("utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if not line.startswith("#")]

    assert all(len(row) == 5 for row in rows)
    assert len({row[0] for row in rows}) == len(rows) > 2000
    forms = {form for row in rows for column in row[1:] for form in column.split()}
    assert [one for one in forms if not re.fullmatch(r"\*?[a-z-]+\*?", one)] == []
