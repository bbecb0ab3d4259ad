"""How facts are worded in a prompt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer.recall.fact_lines import MAX_LINE_CHARS, build_fact_entries, word_fact
from remembrancer.recall.relevance import ScoredFact
from remembrancer.types import Fact, Source
from tests.support.records import make_fact

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T00:00:00+00:00")


def stated(content: str, **details: Any) -> Fact:
    return make_fact(content, at=NOW, **details)


@pytest.mark.parametrize(
    ("details", "line"),
    [
        ({}, "Rents a flat in Ghent"),
        ({"valid_from": day("2024-06-01")}, "Rents a flat in Ghent (since June 2024)"),
        ({"valid_from": day("2026-05-01")}, "Rents a flat in Ghent (from 1 May 2026)"),
        ({"valid_until": day("2026-05-01")}, "Rents a flat in Ghent (until 30 Apr 2026)"),
        ({"valid_until": day("2026-02-01")}, "Rents a flat in Ghent (until 31 Jan 2026)"),
        (
            {"valid_from": day("2026-04-03"), "valid_until": day("2026-04-04")},
            "Rents a flat in Ghent (on 3 Apr 2026)",
        ),
        ({"source": Source.CONSOLIDATED}, "Rents a flat in Ghent (inferred)"),
        ({"tainted": True}, "Rents a flat in Ghent (unverified: from a tool or a document)"),
    ],
)
def test_a_fact_is_told_with_the_dates_that_matter(details: dict[str, Any], line: str) -> None:
    assert word_fact(stated("Rents a flat in Ghent", **details), NOW) == line


def test_dates_that_the_words_tell_are_not_repeated() -> None:
    since = stated("Lives in Ghent since June 2024", valid_from=day("2024-06-01"))

    assert word_fact(since, NOW) == "Lives in Ghent since June 2024"


def test_words_like_last_week_are_told_with_the_day_they_were_said() -> None:
    assert word_fact(stated("Bought a boat last week"), NOW).endswith("(said on 2 Mar 2026)")


def test_a_bare_value_is_told_with_its_key_in_words() -> None:
    john = stated("John", subject="user", predicate="name")
    tea = stated("Earl Grey", subject="user", predicate="favourite_tea")
    oslo = stated("Oslo", subject="Ida", predicate="home_city")

    assert word_fact(john, NOW) == word_fact(john, NOW, is_own=True) == "Name: John"
    assert word_fact(tea, NOW) == "Favourite tea: Earl Grey"
    assert word_fact(oslo, NOW) == "Ida's home city: Oslo"


@pytest.mark.parametrize(
    ("content", "predicate"),
    [
        ("Dislikes gold", "likes_gold"),
        ("Only does funds", "habit_do_funds"),
        ("Is vegan", "diet"),
        ("Rents flats", "housing"),
        ("No gold", "buys_gold"),
    ],
)
def test_a_sentence_is_told_without_its_key(content: str, predicate: str) -> None:
    own = stated(content, subject="user", predicate=predicate)
    other = stated(content, subject="Ida", predicate=predicate)

    assert word_fact(own, NOW) == content
    assert word_fact(other, NOW) == f"Ida: {content}"


def test_three_words_of_the_user_are_no_bare_value() -> None:
    moved = stated("Moved to Oslo", subject="user", predicate="home")

    assert word_fact(moved, NOW) == "Moved to Oslo"


def test_a_name_within_another_word_is_no_name() -> None:
    fact = stated("Lives in Florida with two cats", subject="Ida", predicate="home")

    assert word_fact(fact, NOW) == "Ida: Lives in Florida with two cats"


def test_the_name_at_the_start_is_dropped_only_where_the_rest_still_reads() -> None:
    told = [
        "Ida and Tom are getting divorced",
        "Ida has diabetes",
        "Ida is allergic to eggs",
        "Ida's dog barks",
    ]
    facts = [ScoredFact(stated(one, subject="Ida", predicate=f"p{one}"), "Ida", 1) for one in told]

    (entry,) = build_fact_entries(facts, NOW)

    assert entry.line == (
        "Ida: Ida and Tom are getting divorced; has diabetes; allergic to eggs; dog barks"
    )


def test_a_fact_told_long_ago_is_not_said_to_have_begun_then() -> None:
    told = stated("Is allergic to nuts", valid_from=datetime(2025, 3, 3, 14, 5, tzinfo=UTC))

    assert word_fact(told, NOW) == "Is allergic to nuts"


def test_more_facts_fill_a_line_and_never_open_one() -> None:
    allergy = stated("Ida is allergic to eggs", subject="Ida", predicate="allergy")
    harp = stated("Ida plays the harp", subject="Ida", predicate="instrument")
    other = stated("Tom rows", subject="Tom", predicate="sport")
    extras = [ScoredFact(harp, "Ida", 0), ScoredFact(other, "Tom", 0)]

    (entry,) = build_fact_entries([ScoredFact(allergy, "Ida", 1)], NOW, extras=extras)

    assert entry.ids == (allergy.id, harp.id)


def test_facts_about_one_person_share_a_line() -> None:
    allergy = stated("Noor is allergic to eggs", subject="Noor", predicate="allergy")
    harp = stated("Plays the harp in a trio", subject="Noor", predicate="instrument")
    own = stated("Rows on Tuesdays with friends", subject="user", predicate="rowing")
    facts = [ScoredFact(allergy, "Noor", 1), ScoredFact(own, None, 1), ScoredFact(harp, "Noor", 1)]

    first, second = build_fact_entries(facts, NOW)

    assert first.line == "Noor: allergic to eggs; Plays the harp in a trio"
    assert first.ids == (allergy.id, harp.id)
    assert second.line == "Rows on Tuesdays with friends"


def test_own_facts_on_one_topic_share_a_line() -> None:
    allergy = stated("Allergic to eggs and mustard.", subject="user", predicate="allergy")
    boat = stated("Rows on Tuesdays with friends.", subject="user", predicate="rowing")
    diet = stated("Eats neither meat nor fish.", subject="user", predicate="diet")

    food, sport = build_fact_entries(
        [ScoredFact(one, None, 1) for one in (allergy, boat, diet)], NOW
    )

    assert food.line == "Allergic to eggs and mustard; Eats neither meat nor fish."
    assert food.ids == (allergy.id, diet.id)
    assert sport.line == "Rows on Tuesdays with friends."


def test_a_line_that_is_full_is_followed_by_another() -> None:
    facts = [
        ScoredFact(stated(f"Noor {number} " + "x" * 150, subject="Noor", predicate="p"), "Noor", 1)
        for number in range(5)
    ]

    entries = build_fact_entries(facts, NOW)

    assert [len(one.ids) for one in entries] == [2, 2, 1]
    assert all(len(one.line) <= MAX_LINE_CHARS for one in entries)


def test_a_moment_later_the_same_line_is_in_the_past() -> None:
    ends = stated("Has the keys", valid_until=NOW + timedelta(days=1))

    assert "until 3 Mar 2026" in word_fact(ends, NOW + timedelta(days=2))
