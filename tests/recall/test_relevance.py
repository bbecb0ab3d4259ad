"""Which facts a prompt needs."""

from __future__ import annotations

from datetime import UTC, datetime

from remembrancer.recall.relevance import FactCandidate, choose_facts
from remembrancer.search.prompt import read_prompt
from tests.support.records import make_fact

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def told(content: str, predicate: str, person: str | None = None) -> FactCandidate:
    """A fact that no embedder finds similar to anything."""
    record = make_fact(content, at=NOW, subject=person or "user", predicate=predicate)
    return FactCandidate(record, similarity=0.0, words=0.0, person=person)


LIFE = [
    told("Eats no gluten", "diet"),
    told("Rents a flat in Ghent for 900 euros", "home"),
    told("Works as a printer", "job"),
    told("Rows every Tuesday at 18:00", "rowing"),
    told("My sister Noor is allergic to eggs", "allergy", "Noor"),
    told("Noor plays the harp", "instrument", "Noor"),
    told("Bram eats everything", "diet", "Bram"),
]


def chosen(prompt: str) -> list[str]:
    return [one.fact.content for one in choose_facts(read_prompt(prompt), LIFE).facts]


def test_a_question_gets_the_facts_on_its_topic() -> None:
    assert chosen("Where do I live?") == ["Rents a flat in Ghent for 900 euros"]
    assert chosen("¿En qué trabajo?") == ["Works as a printer"]


def test_facts_about_a_person_whom_the_prompt_names_go_with_those_of_the_user() -> None:
    assert chosen("What can I cook for Noor and me?")[:2] == [
        "My sister Noor is allergic to eggs",
        "Eats no gluten",
    ]


def test_a_kinship_word_names_a_person() -> None:
    assert chosen("What can my sister eat?")[0] == "My sister Noor is allergic to eggs"


def test_people_whom_the_prompt_does_not_name_are_left_out() -> None:
    assert "Bram eats everything" not in chosen("What shall I eat tonight?")


def test_a_weekday_finds_what_happens_on_it() -> None:
    assert chosen("Am I free on Tuesday evening?") == ["Rows every Tuesday at 18:00"]


def test_small_talk_and_general_knowledge_get_nothing() -> None:
    for prompt in ("Good morning!", "What is a gluten?", "How do frogs breathe?", "haha 3:0"):
        assert chosen(prompt) == []


def test_facts_that_are_no_longer_true_tell_who_is_whose_brother() -> None:
    old = told("My brother Bram lives in Lier", "home", "Bram")
    new = told("Bram moved to Mol", "home", "Bram")

    found = choose_facts(read_prompt("Where does my brother live?"), [new], relatives=[old])

    assert [one.fact for one in found.facts] == [new.fact]
