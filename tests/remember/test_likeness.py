"""Two similar statements that differ in one telling word are two memories."""

from __future__ import annotations

import pytest

from remembrancer.remember.likeness import can_be_the_same

DIFFERENT = [
    ("Tore a tendon in the left shoulder", "Tore a tendon in the right shoulder"),
    ("The older cousin plays chess", "The younger cousin plays chess"),
    ("Has thirteen hens", "Has fourteen hens"),
    ("The choir has twenty-one singers", "The choir has thirty-one singers"),
    ("Rent is due at the start of the month", "Rent is due at the end of the month"),
    ("Her mother keeps bees", "Her father keeps bees"),
    ("Schmerzen im linken Knie", "Schmerzen im rechten Knie"),
    ("Der Chor hat dreißig Stimmen", "Der Chor hat vierzig Stimmen"),
    ("Der Hof hat einundzwanzig Kühe", "Der Hof hat zweiundzwanzig Kühe"),
    ("Nimmt die Tablette morgens", "Nimmt die Tablette abends"),
    ("Le duele la rodilla izquierda", "Le duele la rodilla derecha"),
    ("Toma la pastilla por la mañana", "Toma la pastilla por la noche"),
    ("La clase tiene veintidós alumnos", "La clase tiene veintitrés alumnos"),
    ("Son genou gauche lui fait mal", "Son genou droit lui fait mal"),
    ("Le club compte vingt membres", "Le club compte trente membres"),
    ("Prend le cachet le matin", "Prend le cachet le soir"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=[one for one, _ in DIFFERENT])
def test_one_telling_word_makes_two_statements_differ(one: str, other: str) -> None:
    assert not can_be_the_same(one, other)
    assert not can_be_the_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The office is close to the station", "The office is near the station"),
        ("Hat Schmerzen im linken Knie", "Spürt Schmerzen im linken Knie"),
        ("Has thirteen hens in the yard", "Keeps thirteen hens in the yard"),
    ],
)
def test_other_words_for_the_same_can_be_the_same(one: str, other: str) -> None:
    assert can_be_the_same(one, other)
