"""The days that a text names, and those that a prompt asks about."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from remembrancer.search.days import find_asked_days, find_days

TUESDAY = datetime(2026, 3, 3, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The party is on 9 March", (9, 3)),
        ("The party is on March 9th at 3 pm", (9, 3)),
        ("Das Fest ist am 9. März", (9, 3)),
        ("La fiesta es el 9 de marzo", (9, 3)),
        ("La fête est le 9 mars", (9, 3)),
        ("food for the 29th", (29, None)),
        ("la comida del 29", (29, None)),
        ("le menu pour le 29", (29, None)),
    ],
)
def test_a_day_is_found_with_its_month_if_it_is_named(
    text: str, day: tuple[int, int | None]
) -> None:
    assert find_days(text) == {day}


@pytest.mark.parametrize("text", ["May 2024", "am 13:30", "le 20 % des cas", "3 lines for Ida"])
def test_other_numbers_are_no_days(text: str) -> None:
    assert find_days(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("What is on tonight?", date(2026, 3, 3), 1),
        ("Was steht für mich morgen an?", date(2026, 3, 4), 1),
        ("¿Qué hay la semana que viene?", date(2026, 3, 9), 7),
        ("On fait quoi ce week-end ?", date(2026, 3, 7), 2),
        ("anything in the week of March 16?", date(2026, 3, 16), 7),
        ("was ist am 14. Februar?", date(2026, 2, 14), 1),
    ],
)
def test_a_prompt_asks_about_days(text: str, first: date, count: int) -> None:
    days = find_asked_days(text, TUESDAY)

    assert min(days) == first
    assert len(days) == count


def test_a_morning_is_not_tomorrow() -> None:
    assert find_asked_days("¿Qué tomo por la mañana?", TUESDAY) == frozenset()
    assert find_asked_days("Was mache ich jeden Morgen?", TUESDAY) == frozenset()


def test_a_month_that_is_long_over_is_the_next_one() -> None:
    december = datetime(2026, 12, 1, tzinfo=UTC)

    assert find_asked_days("my plans for 3 February", december) == {date(2027, 2, 3)}


def test_a_day_that_does_not_exist_is_ignored() -> None:
    assert find_asked_days("on 31 February", TUESDAY) == frozenset()
