"""Questions about the past, and their periods, in four languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.search.past import find_past_window, is_relative

NOW = datetime(2025, 5, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Where did we live last summer?", "2024-06-01", "2024-09-01"),
        ("What did I earn in March 2023?", "2023-03-01", "2023-04-01"),
        ("Wie hoch war die Miete letzten Winter?", "2024-12-01", "2025-03-01"),
        ("Wo wohnte ich im Juni 2022?", "2022-06-01", "2022-07-01"),
        ("¿Dónde vivía en verano de 2023?", "2023-06-01", "2023-09-01"),
        ("¿Cuánto pagaba el año pasado?", "2024-01-01", "2025-01-01"),
        ("Où habitais-tu et moi en février ?", "2025-02-01", "2025-03-01"),
        ("What was my job in 2021?", "2021-01-01", "2022-01-01"),
    ],
)
def test_a_period_of_the_past_is_found(text: str, start: str, end: str) -> None:
    window = find_past_window(text, NOW)

    assert window is not None
    assert (f"{window.start:%Y-%m-%d}", f"{window.end:%Y-%m-%d}") == (start, end)


@pytest.mark.parametrize(
    "text", ["Where did I use to live?", "Wo wohnte ich früher?", "¿Y antes?", "Et avant ?"]
)
def test_without_a_period_all_of_the_past_is_meant(text: str) -> None:
    window = find_past_window(text, NOW)

    assert window is not None
    assert window.end == NOW


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "When do I fly in August?",
        "Was koche ich heute?",
        "¿Qué días tengo libres en junio?",
        "Je pars quand en juillet ?",
    ],
)
def test_the_present_and_the_future_are_not_the_past(text: str) -> None:
    assert find_past_window(text, NOW) is None


def test_three_months_ago_is_about_then() -> None:
    window = find_past_window("What did I pay three months ago?", NOW)

    assert window is not None
    assert window.start < datetime(2025, 2, 19, tzinfo=UTC) < window.end


def test_some_words_depend_on_when_they_were_said() -> None:
    assert is_relative("Moved house last Tuesday")
    assert is_relative("Ist gestern umgezogen")
    assert not is_relative("Lives in Ghent")
