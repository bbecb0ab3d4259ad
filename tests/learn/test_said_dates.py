"""Words for a time, and the days that follow from them."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from remembrancer.learn.details.said_dates import dates_follow, list_readings
from remembrancer.learn.extracted_fact import Dates

WEDNESDAY = datetime(2025, 5, 14, 12, 0)


def day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


def dates(text: str) -> Dates:
    """Dates from "start..end"; a single day is both."""
    start, dots, end = text.partition("..")
    return Dates(day(start), day(end if dots else start))


def read(words: str) -> list[Dates]:
    return list(dict.fromkeys(one.dates for one in list_readings([words], WEDNESDAY)))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("last Tuesday", ["2025-05-13", "2025-05-06"]),
        ("next Friday", ["2025-05-16", "2025-05-23"]),
        ("in two weeks", ["2025-05-28"]),
        ("since January", ["2025-01-01.."]),
        ("next month", ["2025-06-01..2025-06-30"]),
        ("from the 20th to the 24th of October", ["2025-10-20..2025-10-24"]),
        ("until the end of next month", ["..2025-06-30"]),
        ("three days ago", ["2025-05-11"]),
        ("on 8 April next year", ["2026-04-08"]),
        ("Christmas 2024", ["2024-12-25"]),
        ("this spring", ["2025-03-01..2025-05-31"]),
        ("in 2019", ["2019-01-01..2019-12-31"]),
        ("before Easter 2026", ["..2026-04-04"]),
        ("vorgestern", ["2025-05-12"]),
        ("am zweiten Dienstag im Juni", ["2025-06-10"]),
        ("ab November", ["2025-11-01.."]),
        ("seit August", ["2024-08-01.."]),
        ("letzte Woche", ["2025-05-05..2025-05-11"]),
        ("vom 3. bis zum 7. Juni", ["2025-06-03..2025-06-07"]),
        ("am 3. Juli nächsten Jahres", ["2026-07-03"]),
        ("vor drei Wochen", ["2025-04-23"]),
        ("el martes pasado", ["2025-05-13", "2025-05-06"]),
        ("desde enero", ["2025-01-01.."]),
        ("dentro de dos semanas", ["2025-05-28"]),
        ("pasado mañana", ["2025-05-16"]),
        ("el 15 de junio del año pasado", ["2024-06-15"]),
        ("el mes que viene", ["2025-06-01..2025-06-30"]),
        ("mardi dernier", ["2025-05-13", "2025-05-06"]),
        ("depuis août", ["2024-08-01.."]),
        ("du 20 au 27 juin", ["2025-06-20..2025-06-27"]),
        ("dans quinze jours", ["2025-05-28"]),
        ("l'année dernière", ["2024-01-01..2024-12-31"]),
        ("cet été", ["2025-06-01..2025-08-31"]),
        ("2025-02-03", ["2025-02-03"]),
    ],
)
def test_words_are_resolved_to_all_their_readings(words: str, expected: list[str]) -> None:
    assert read(words) == [dates(one) for one in expected]


@pytest.mark.parametrize(
    "words", ["every Monday", "los martes", "I may go", "j'ai été malade", "at 7", "21,300 pesos"]
)
def test_habits_and_other_numbers_are_no_dates(words: str) -> None:
    assert read(words) == []


@pytest.mark.parametrize("words", ["end of June", "Ende Juni", "a finales de junio", "fin juin"])
def test_the_end_of_a_month_includes_its_last_day_and_not_its_first(words: str) -> None:
    assert follows("2025-06-30..", words)
    assert not follows("2025-06-01..", words)


def follows(text: str, said_as: str, *quotes: str) -> bool:
    return dates_follow(dates(text), said_as, quotes, WEDNESDAY) == dates(text)


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        ("2025-05-15", "on the 15th"),
        ("2025-06-05..", "ich fang am 5. Juni an"),
        ("2024-11-01..", "vivo aquí desde noviembre"),
        ("2019-01-01..", "I broke it in 2019"),
        ("2025-05-30..", "in two weeks we move out of here"),
        ("2025-02-10..", "il y a trois mois"),
        ("2025-04-17..", "she left us last month"),
        ("..2025-12-24", "il faut répondre avant Noël"),
        ("..2025-06-04", "I have to wear it for three weeks"),
        ("2025-04-02..", "we recently moved to the coast"),
        ("1985-05-14..", "40 today, can you believe it?"),
    ],
)
def test_dates_that_follow_are_kept(meant: str, words: str) -> None:
    assert follows(meant, "", words)


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        ("2025-05-16", "on the 15th"),
        ("2025-07-05..", "ich fang am 5. Juni an"),
        ("2023-11-01..", "vivo aquí desde noviembre"),
        ("2020-01-01..", "I broke it in 2019"),
        ("2025-06-20..", "in two weeks we move out of here"),
        ("2025-03-17..", "she left us last month"),
        ("2025-04-01..", "she has a brown dog and two cats"),
    ],
)
def test_dates_that_do_not_follow_are_dropped(meant: str, words: str) -> None:
    assert dates_follow(dates(meant), "", [words], WEDNESDAY) == Dates()


def test_only_the_bound_that_does_not_follow_is_dropped() -> None:
    given = dates("2025-06-02..2025-08-31")
    kept = dates_follow(given, "from 2 June", ["I start there from 2 June"], WEDNESDAY)
    assert kept == dates("2025-06-02..")


def test_a_month_that_began_a_fact_does_not_end_it() -> None:
    given = dates("2025-01-01")
    assert dates_follow(given, "since January", [], WEDNESDAY) == dates("2025-01-01..")


@pytest.mark.parametrize(
    "quote",
    [
        "the party is on the 20th of June, no wait, the 22nd",
        "das Fest ist am 20. Juni, nee halt, am 22. Juni",
        "la fiesta es el 20 de junio, digo, el 22 de junio",
        "la fête est le 20 juin, enfin le 22",
    ],
)
def test_a_correction_counts(quote: str) -> None:
    assert follows("2025-06-22", "", quote)
    assert not follows("2025-06-20", "", quote)


def test_a_correction_in_a_later_turn_counts() -> None:
    quotes = ["in two weeks we open the shop", "sorry, I looked it up, it is June 3rd"]
    assert follows("2025-06-03..", "in two weeks", *quotes)
    assert not follows("2025-06-16..", "in two weeks", *quotes)


def test_the_rest_of_the_turn_gives_the_month_of_a_day() -> None:
    turn = "The course begins on 6 October in the old mill and ends on the 24th."
    given = dates("2025-10-24")
    assert dates_follow(given, "the 24th", ["ends on the 24th"], WEDNESDAY) == Dates()
    assert dates_follow(given, "the 24th", ["ends on the 24th"], WEDNESDAY, [turn]) == given


def test_the_tense_tells_which_year_is_meant() -> None:
    assert follows("2024-08-01..", "in August", "we moved there in August")
    assert not follows("2024-08-01..", "in August", "we are moving there in August")
    assert follows("2025-08-01..", "in August", "we are moving there in August")


def test_dates_in_an_unknown_language_are_kept() -> None:
    given = dates("2025-05-05..")
    quote = "przeprowadziłam się w zeszłym tygodniu z mężem do nowego mieszkania"
    assert dates_follow(given, "w zeszłym tygodniu", [quote], WEDNESDAY) == given
