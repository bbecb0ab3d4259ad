"""Which dates a question names, on Wednesday 12 June 2024, with memories since November 2022."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.search.dates import EventOffset, TimeWindow, find_offset, find_windows

NOW = datetime(2024, 6, 12, 15, tzinfo=UTC)
EARLIEST = datetime(2022, 11, 3, 8, tzinfo=UTC)
LATEST = datetime(2024, 6, 10, 9, tzinfo=UTC)

ABSOLUTE = [
    ("What happened on 2023-05-08?", ["2023-05-08 2023-05-09"]),
    ("the log of 2023-05-08T10:00", ["2023-05-08 2023-05-09"]),
    ("the log of 2023/5/8", ["2023-05-08 2023-05-09"]),
    ("the report for 2023-05", ["2023-05-01 2023-06-01"]),
    ("on 8 May 2023", ["2023-05-08 2023-05-09"]),
    ("on the 8th of may, 2023", ["2023-05-08 2023-05-09"]),
    ("May 8th, 2023", ["2023-05-08 2023-05-09"]),
    ("on Monday, May 8, did I run?", ["2023-05-08 2023-05-09", "2024-05-08 2024-05-09"]),
    ("8th of May", ["2023-05-08 2023-05-09", "2024-05-08 2024-05-09"]),
    ("on 8 Nov", ["2022-11-08 2022-11-09", "2023-11-08 2023-11-09"]),
    ("on 29 February", ["2024-02-29 2024-03-01"]),
    ("on 31 June", []),
    ("on 1 November 2022", ["2022-11-01 2022-11-02"]),
    ("on 1 November", ["2023-11-01 2023-11-02"]),
    ("May 8-12, 2023", ["2023-05-08 2023-05-13"]),
    ("between the 8th and the 12th of May 2023", ["2023-05-08 2023-05-13"]),
    ("May 2023", ["2023-05-01 2023-06-01"]),
    ("in May", ["2023-05-01 2023-06-01", "2024-05-01 2024-06-01"]),
    ("in may", ["2023-05-01 2023-06-01", "2024-05-01 2024-06-01"]),
    ("HOW WAS DECEMBER", ["2022-12-01 2023-01-01", "2023-12-01 2024-01-01"]),
    ("What was March's budget?", ["2023-03-01 2023-04-01", "2024-03-01 2024-04-01"]),
    ("between June 2023 and May", ["2023-06-01 2024-06-01"]),
    ("in April 2023 and May 2023", ["2023-04-01 2023-05-01", "2023-05-01 2023-06-01"]),
    ("in 2022", ["2022-01-01 2023-01-01"]),
    ("back in 1998", ["1998-01-01 1999-01-01"]),
    ("my 2023 trip", ["2023-01-01 2024-01-01"]),
    ("Where was I for Christmas 2023?", ["2023-01-01 2024-01-01"]),
    ("in 2022 or 2023", ["2022-01-01 2023-01-01", "2023-01-01 2024-01-01"]),
    ("in the summer of 2023", ["2023-06-01 2023-09-01"]),
    ("Fall 2023", ["2023-09-01 2023-12-01"]),
    ("winter 2023", ["2022-12-01 2023-03-01", "2023-12-01 2024-03-01"]),
    ("over the summer", ["2023-06-01 2023-09-01", "2024-06-01 2024-09-01"]),
    ("in Q1 2023", ["2023-01-01 2023-04-01"]),
    ("early March 2023", ["2023-03-01 2023-03-11"]),
    ("mid-march 2023", ["2023-03-11 2023-03-21"]),
    ("at the end of May 2023", ["2023-05-21 2023-06-01"]),
    ("in late 2023", ["2023-09-01 2024-01-01"]),
    ("late 8 May 2023", ["2023-05-08 2023-05-09"]),
    ("between 8 May 2023 and 2 June 2023", ["2023-05-08 2023-06-03"]),
    ("between March and May", ["2023-03-01 2023-06-01", "2024-03-01 2024-06-01"]),
    ("from November to February 2024", ["2023-11-01 2024-03-01"]),
    ("from May 2023 to June", ["2023-05-01 2023-07-01"]),
    ("between early March and late May 2023", ["2023-03-01 2023-06-01"]),
    ("between 2022 and 2023", ["2022-01-01 2024-01-01"]),
    ("from June 2023 to May 2023", []),
    ("since 8 May 2023", ["2023-05-08 2024-06-11"]),
    ("since March", ["2024-03-01 2024-06-11"]),
    ("since the winter, how was I?", ["2023-12-01 2024-06-11"]),
    ("after 2023-05-08", ["2023-05-09 2024-06-11"]),
    ("before March 2023", ["2022-11-03 2023-03-01"]),
    ("until the end of May 2023", ["2022-11-03 2023-06-01"]),
    ("by 2023", ["2022-11-03 2024-01-01"]),
    ("as of November 2023", ["2022-11-03 2023-12-01"]),
    ("up to 8 May 2023", ["2022-11-03 2023-05-09"]),
    ("up until March 2023", ["2022-11-03 2023-04-01"]),
    ("no later than 2023", ["2022-11-03 2024-01-01"]),
    ("as of May", ["2022-11-03 2024-06-01"]),
    ("before 2020", []),
    ("after 2030", []),
    ("two days after May 8, 2023", ["2023-05-09 2023-05-12"]),
    ("the week before the 8th of May 2023", ["2023-04-27 2023-05-06"]),
    ("before the May trip", ["2023-05-01 2023-06-01", "2024-05-01 2024-06-01"]),
]  # fmt: skip

RELATIVE = [
    ("last May", ["2024-05-01 2024-06-01"]),
    ("last June", ["2023-06-01 2023-07-01"]),
    ("this past March", ["2024-03-01 2024-04-01"]),
    ("this March", ["2024-03-01 2024-04-01"]),
    ("this December", ["2024-12-01 2025-01-01"]),
    ("next June", ["2025-06-01 2025-07-01"]),
    ("last may 8", ["2024-05-08 2024-05-09"]),
    ("in May of last year", ["2023-05-01 2023-06-01"]),
    ("last summer", ["2023-06-01 2023-09-01"]),
    ("last fall", ["2023-09-01 2023-12-01"]),
    ("this winter", ["2023-12-01 2024-03-01"]),
    ("yesterday", ["2024-06-11 2024-06-12"]),
    ("Today's plan", ["2024-06-12 2024-06-13"]),
    ("this morning", ["2024-06-12 2024-06-12T12"]),
    ("last night", ["2024-06-11T18 2024-06-12T06"]),
    ("3 days ago", ["2024-06-08T15 2024-06-10T15"]),
    ("two weeks ago", ["2024-05-25T15 2024-06-02T15"]),
    ("an  hour or a\nweek ago", ["2024-06-01T15 2024-06-09T15"]),
    ("in the last 3 days", ["2024-06-09 2024-06-13"]),
    ("over the past couple of weeks", ["2024-05-29 2024-06-13"]),
    ("in the past week", ["2024-06-05 2024-06-13"]),
    ("last week", ["2024-06-03 2024-06-10"]),
    ("this week", ["2024-06-10 2024-06-17"]),
    ("last month", ["2024-05-01 2024-06-01"]),
    ("this year", ["2024-01-01 2025-01-01"]),
    ("late last year", ["2023-09-01 2024-01-01"]),
    ("last weekend", ["2024-06-08 2024-06-10"]),
    ("last Friday", ["2024-06-07 2024-06-08"]),
    ("on friday", ["2024-06-07 2024-06-08"]),
    ("on Wednesday", ["2024-06-05 2024-06-06"]),
    ("next Monday", ["2024-06-17 2024-06-18"]),
    ("next Wednesday", ["2024-06-19 2024-06-20"]),
    ("this Friday", ["2024-06-14 2024-06-15"]),
    ("since Friday", ["2024-06-07 2024-06-13"]),
    ("the day before yesterday", ["2024-06-09 2024-06-12"]),
    ("before last week's party", ["2024-06-03 2024-06-10"]),
]

NO_DATES = [
    "",
    "What is my dog called?",
    "May I ask what this may be?",
    "THIS MAY BE ALL",
    "what I said last may have been wrong",
    "Did we march in the march?",
    "Who is May?",
    "What did April say to June?",
    "Did I fall, and when was my last fall?",
    "Do I spring out of bed in summery clothes?",
    "What's the second thing? Did the sun shine on Sun Street?",
    "How many weeks ago did I see the dentist?",
    "How many months have passed?",
    "When was the last time, and the last day of it?",
    "What do I do on Fridays?",
    "Who wrote the 1984 novel?",
    "I walked 2023 steps",
    "Write it in 2000 words",
    "Did I pay $2023 for it, or 2,023?",
    "2023-13-40",
    "in ſeptember",
    "the past, this, next, ago, last",
]  # fmt: skip


def read(text: str, now: datetime | None = NOW) -> list[str]:
    found = find_windows(text, now, EARLIEST, LATEST)
    return [f"{_short(one.start)} {_short(one.end)}" for one in found]


def _short(moment: datetime) -> str:
    assert moment.tzinfo is UTC
    return f"{moment:%Y-%m-%dT%H}".removesuffix("T00")


@pytest.mark.parametrize(("text", "expected"), ABSOLUTE)
def test_a_date_is_understood_without_knowing_the_present(text: str, expected: list[str]) -> None:
    assert read(text, now=None) == expected


@pytest.mark.parametrize(("text", "expected"), RELATIVE)
def test_a_relative_date_is_read_against_the_present(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("text", [text for text, _ in RELATIVE])
def test_a_relative_date_says_nothing_when_the_present_is_unknown(text: str) -> None:
    assert read(text, now=None) == []


@pytest.mark.parametrize("text", NO_DATES)
def test_words_that_only_look_like_dates_are_left_alone(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(("unit", "slack"), [("day", 1), ("week", 4), ("month", 12), ("year", 60)])
def test_the_longer_ago_the_vaguer(unit: str, slack: int) -> None:
    (one,) = find_windows(f"a {unit} ago", NOW, EARLIEST, LATEST)
    assert one.end - one.start == timedelta(days=2 * slack)


def test_a_date_without_a_year_runs_up_to_the_present() -> None:
    assert read("on 11 June") == ["2023-06-11 2023-06-12", "2024-06-11 2024-06-12"]
    assert read("since 11 June") == ["2024-06-11 2024-06-13"]


def test_a_date_without_a_year_means_at_most_the_last_ten() -> None:
    found = find_windows("in May", NOW, datetime(1950, 1, 1, tzinfo=UTC), LATEST)
    assert [one.start.year for one in found] == list(range(2015, 2025))


def test_times_in_other_zones_are_taken_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    late = datetime(2024, 6, 12, 3, tzinfo=tokyo)
    assert find_windows("today", late, EARLIEST, LATEST) == (
        TimeWindow(datetime(2024, 6, 11, tzinfo=UTC), datetime(2024, 6, 12, tzinfo=UTC)),
    )


def test_the_end_of_time_is_not_an_error() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    first = datetime.min.replace(tzinfo=UTC)
    for text in ("9999 years ago", "next year", "tomorrow", "last winter", "in December"):
        assert all(one.start < one.end for one in find_windows(text, last, first, last))
        assert all(one.start < one.end for one in find_windows(text, first, first, first))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "What did I buy two weeks before the trip to Rome?",
            EventOffset(-14, 4, "the trip to Rome"),
        ),
        ("the day after my wedding, where was I", EventOffset(1, 1, "my wedding")),
        ("A month after I moved", EventOffset(30.44, 12, "I moved")),
        ("the week before the conference.", EventOffset(-7, 4, "the conference")),
        ("3 years after Dr.Who ended", EventOffset(3 * 365.25, 60, "Dr.Who ended")),
        ("a couple of days before last week's party", EventOffset(-2, 1, "last week's party")),
        ("the week before the May trip", EventOffset(-7, 4, "the May trip")),
        ("two days after May 8", None),
        ("two days after the 8th of May", None),
        ("the day before yesterday", None),
        ("the week after next", None),
        ("the day after", None),
        ("How many days before the trip did I pack?", None),
        ("before the trip", None),
    ],
)
def test_a_distance_to_an_event_is_found_unless_the_event_is_a_date(
    text: str, expected: EventOffset | None
) -> None:
    assert find_offset(text) == expected


PIECES = st.sampled_from(
    "in on the of last this next early mid late between and to from since before after until by a "
    "two few 9999 1 8 8th 29 31 2023 2000 2023-05-08 May may March June Feb winter spring fall Q3 "
    "week weekend month year day days ago past yesterday tonight Friday , - – ? 's %".split()
)
TEXTS = st.text() | st.lists(PIECES, max_size=60).map(" ".join)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(TEXTS, st.none() | MOMENTS, MOMENTS, MOMENTS)
def test_any_text_gives_a_few_real_windows(
    text: str, now: datetime | None, earliest: datetime, latest: datetime
) -> None:
    found = find_windows(text, now, earliest, latest)
    assert found == find_windows(text, now, earliest, latest)
    assert len(found) <= 50
    assert all(one.start < one.end for one in found)
    assert all(one.start.tzinfo is UTC and one.end.tzinfo is UTC for one in found)


@given(TEXTS)
def test_any_text_gives_an_event_in_its_own_words_or_none(text: str) -> None:
    found = find_offset(text)
    assert found is None or (found.event in " ".join(text.split()) and found.days != 0)


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "1", "in ", "the ", "last ", "1 and ", "May ", "in May to ", "2023-", "2023 ",
     "the day after ", "the day after May 8 ", "between 8 May and ", "a couple of "],
)  # fmt: skip
def test_a_hostile_question_costs_no_more_than_its_first_2000_characters(unit: str) -> None:
    hostile = (unit * 20_000)[:20_000]
    assert _seconds(hostile) < 40 * _seconds(hostile[:200])


def _seconds(text: str) -> float:
    def once() -> float:
        start = time.process_time()
        find_windows(text, NOW, EARLIEST, LATEST)
        find_offset(text)
        return time.process_time() - start

    return min(once() for _ in range(5))
