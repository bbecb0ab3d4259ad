"""What a question is about is told from its wording."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.search.query import CorpusInfo, ParsedQuery, parse_query

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
KNOWN = CorpusInfo(["Caroline", "Melanie Jones"], datetime(2025, 1, 1, tzinfo=UTC), NOW)


def asked(query: str) -> ParsedQuery:
    return parse_query(query, NOW, KNOWN)


@pytest.mark.parametrize(
    ("query", "speakers", "sense"),
    [
        ("What did Caroline paint?", {"Caroline"}, "What did paint?"),
        ("what did caroline's sister paint?", {"Caroline"}, "what did sister paint?"),
        ("Where does Mel live?", {"Melanie Jones"}, "Where does live?"),
        ("What did Caroline tell Melanie?", {"Caroline", "Melanie Jones"}, "What did tell ?"),
        ("What do I eat?", set(), "What do I eat?"),
    ],
)
def test_those_who_speak_are_named_and_left_out_of_what_is_embedded(
    query: str, speakers: set[str], sense: str
) -> None:
    question = asked(query)
    assert question.speakers == speakers
    assert question.embedding_text.replace(" ?", "?") == sense.replace(" ?", "?")


@pytest.mark.parametrize(
    ("query", "sense"),
    [
        ("Can you remind me of the hotel in Porto?", "the hotel in Porto?"),
        (
            "I wanted to follow up on our previous conversation about bees. Where do they sleep?",
            "bees. Where do they sleep?",
        ),
        ("Can you give me a detailed summary of how the garden grew?", "the garden grew?"),
        ("What did I plant throughout our conversations?", "What did I plant?"),
        ("Can you list it?", "Can you list it?"),
    ],
)
def test_the_manner_of_asking_is_left_out(query: str, sense: str) -> None:
    assert asked(query).embedding_text == sense


def test_what_is_excluded_is_not_looked_for() -> None:
    question = asked("Which instruments do I play besides the violin?")
    assert question.unwanted == ("violin",)
    assert "violin" not in question.terms
    assert "violin" not in question.embedding_text


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("What is my latest score?", 1),
        ("Where do I currently live?", 1),
        ("What did I originally plan?", -1),
        ("What do I plan?", 0),
    ],
)
def test_latest_and_first_give_a_direction(query: str, order: int) -> None:
    assert asked(query).order == order


def test_what_kind_of_answer_is_wanted() -> None:
    assert asked("What did you recommend for dinner?").asks_assistant
    assert not asked("What did I eat for dinner?").asks_assistant
    assert asked("When did I move?").asks_when
    assert asked("Any advice for my garden?").asks_advice
    assert asked("Can you summarize how the house was built?").looks_back


@pytest.mark.parametrize(
    "query",
    [
        "How many books did I read?",
        "In what order did I visit them?",
        "List all my plants",
        "Wie viele Bücher habe ich gelesen?",
        "¿Cuántos libros he leído?",
        "Combien de livres ai-je lus ?",
    ],
)
def test_a_question_for_many_things_asks_for_a_list(query: str) -> None:
    assert asked(query).asks_list


@pytest.mark.parametrize(
    "query",
    ["How far is it?", "Wie alt ist sie?", "¿Cuánto cuesta?", "Combien coûte le billet ?"],
)
def test_a_question_for_an_amount_asks_for_a_number(query: str) -> None:
    assert asked(query).asks_number
    assert not asked("Where is it?").asks_number


@pytest.mark.parametrize(
    "query",
    [
        "Which hotel have you recommended?",
        "Welches Hotel hast du mir für Wien empfohlen?",
        "¿Qué hotel me recomendaste?",
        "Quel hôtel m'as-tu conseillé, selon ta liste ?",
        "Quel hôtel tu m'as recommandé ?",
    ],
)
def test_a_question_can_be_about_what_the_assistant_said(query: str) -> None:
    assert asked(query).asks_assistant
    assert not asked("Welches Hotel gefällt mir?").asks_assistant


def test_dates_become_stretches_of_time_and_events_distances() -> None:
    (window,) = asked("What did I buy in May 2025?").windows
    assert window.start <= datetime(2025, 5, 15, tzinfo=UTC) < window.end
    offset = asked("What did I do two weeks before the trip?").offset
    assert offset is not None
    assert offset.days == -14


def test_an_empty_memory_has_nobody_and_no_time() -> None:
    question = parse_query("What did Ada do in May?", NOW, CorpusInfo())
    assert question.speakers == frozenset()
    assert question.windows == ()


@given(st.text(max_size=300))
def test_no_text_is_too_strange(query: str) -> None:
    question = asked(query)
    assert set(question.topic) <= set(question.terms)
