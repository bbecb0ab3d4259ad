"""What is learned from a conversation without a language model, and what must not be."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.rules.extractor import extract_facts
from remembrancer.types import Permanence, Turn

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

STATED = [
    # who they are
    ("My name is Bob.", "Name is Bob", "profile", "name"),
    ("my name's bob", "Name is bob", "profile", "name"),
    ("Hi, I’m called Bob!", "Name is Bob", "profile", "name"),
    ("Please call me Bob", "Is called Bob", "profile", "nickname"),
    ("My friends call me Bob.", "Is called Bob by friends", "profile", "nickname"),
    ("I'm Dana, a nurse from Leeds", "Is Dana, a nurse from Leeds", "profile", "name"),
    ("I'm 34 years old", "Is 34 years old", "profile", "age"),
    ("My birthday is March 3rd", "Birthday is March 3rd", "profile", "birthday"),
    ("I was born on 3 March 1990", "Was born on 3 March 1990", "profile", "birthday"),
    ("I was born in Sweden", "Was born in Sweden", "profile", "birthplace"),
    ("i'm originally from Brazil", "Is from Brazil", "profile", "origin"),
    ("I speak French and German", "Speaks French and German", "profile", None),
    ("My time zone is CET", "Time zone is CET", "profile", "time_zone"),
    ("I'm left-handed", "Is left-handed", "profile", None),
    ("I'm married", "Is married", "profile", "marital_status"),
    # health and diet
    ("I'm allergic to peanuts.", "Is allergic to peanuts", "profile", "allergy peanuts"),
    ("I’m not allergic to nuts", "Is not allergic to nuts", "profile", "allergy nuts"),
    ("Well, im lactose intolerant", "Is lactose intolerant", "profile", "allergy lactose"),
    ("oh btw i'm vegan", "Is vegan", "profile", "diet"),
    ("I'm no longer vegan", "Is no longer vegan", "profile", "diet"),
    ("I've been a vegetarian since 2010", "Has been a vegetarian since 2010", "profile", "diet"),
    ("I have type 2 diabetes.", "Has type 2 diabetes", "profile", "has type 2 diabetes"),
    # home and work
    ("I live in Berlin.", "Lives in Berlin", "profile", "home"),
    ("i live in berlin", "Lives in Berlin", "profile", "home"),
    ("Actually, I just moved to Paris!", "Moved to Paris", "profile", "home"),
    ("I moved to Paris two months ago", "Moved to Paris", "profile", "home"),
    ("I don't live in Berlin anymore", "No longer lives in Berlin", "profile", "home"),
    ("I work at Acme as a nurse.", "Works at Acme as a nurse", "profile", "employer"),
    ("I no longer work at Acme", "No longer works at Acme", "profile", "employer"),
    ("I started at Initech last week", "Started working at Initech", "profile", "employer"),
    ("I'm a nurse", "Is a nurse", "profile", "occupation"),
    ("I'm a single mother", "Is a single mother", "profile", None),
    ("I was promoted to head nurse", "Was promoted to head nurse", "profile", "occupation"),
    # people and animals
    ("My manager is Dana Kim.", "Manager is Dana Kim", "relationship", "manager"),
    ("My boss's name is Dana", "Boss is Dana", "relationship", "manager"),
    ("my wife is called Ana", "Wife is Ana", "relationship", "partner"),
    ("my dog's named Rex", "Dog is called Rex", "relationship", None),
    ("My sister is a nurse", "Sister is a nurse", "relationship", None),
    ("Can my cousin Ines come too?", "Cousin is called Ines", "relationship", None),
    ("I've got two kids", "Has two kids", "relationship", "children"),
    ("We have a dog named Rex", "Has a dog named Rex", "relationship", None),
    # tastes and habits
    ("I prefer short answers.", "Prefers short answers", "preference", "answers"),
    ("I really like coffee", "Likes coffee", "preference", "likes coffee"),
    ("I love my sister's cooking", "Loves their sister's cooking", "preference", None),
    ("I can't stand loud music", "Cannot stand loud music", "preference", "likes loud music"),
    ("I don't eat meat", "Does not eat meat", "preference", "likes meat"),
    ("I never drink alcohol", "Never drinks alcohol", "preference", "likes alcohol"),
    ("I run every morning", "Runs every morning", "preference", None),
    ("My favourite colour is blue", "Favorite colour is blue", "preference", "favorite colour"),
    ("I'm learning Spanish", "Is learning Spanish", "fact", "learning spanish"),
    ("I play the violin", "Plays the violin", "profile", "plays violin"),
    ("I use Obsidian for notes", "Uses Obsidian for notes", "fact", "tool for notes"),
    # decisions, plans, instructions, corrections
    (
        "We decided to use PostgreSQL for the project",
        "Decided to use PostgreSQL for the project",
        "decision",
        None,
    ),
    (
        "let's go with PostgreSQL for the project",
        "Decided to go with PostgreSQL for the project",
        "decision",
        None,
    ),
    ("My goal is to run a marathon", "Goal is to run a marathon", "event", None),
    ("I'm planning to move to Spain next year", "Plans to move to Spain", "event", None),
    ("I'm training for a marathon", "Is training for a marathon", "event", None),
    ("Always answer in French", "Always answer in French", "instruction", "answer_language"),
    ("Please keep your answers short", "Keep your answers short", "instruction", "answers"),
    ("don't use emojis", "Do not use emojis", "instruction", None),
    (
        "Whenever I ask for code, use Python.",
        "Whenever they ask for code, use Python",
        "instruction",
        None,
    ),
    ("No, I meant Paris, not Berlin.", "Meant Paris, not Berlin", "correction", None),
    ("That's wrong, I live in Paris.", "Lives in Paris", "profile", "home"),
    ("I only do funds", "Only does funds", "preference", "habit do funds"),
    # a statement beside a question
    ("I live in Rome, can you suggest a museum?", "Lives in Rome", "profile", "home"),
    ("I'm a nurse and I wonder if that helps", "Is a nurse", "profile", "occupation"),
]

SAYS_NOTHING = [
    # questions
    "Do I live in Berlin?",
    "I live in Berlin, don't I?",
    "Do you remember that I live in Rome?",
    "Remember that evening in Rome?",
    # what is not so, or not yet, or no longer
    "If I move to Paris, I will work at Acme.",
    "I wish I lived in Rome",
    "Suppose I live in Rome.",
    "I would love a coffee",
    "I think I might be allergic to cats",
    "I used to live in Rome",
    "I'm not a doctor",
    "I'm not sure I like coffee",
    "I hope to move to Rome",
    # the words of others, and texts to work on
    'He said "I live in Rome"',
    "He said 'I live in Rome.'",
    "She told me I'm a vegetarian",
    "> I live in Rome",
    "```\nI live in Rome\n```",
    "Pretend I'm a doctor. I live in Rome.",
    "Write a letter that says I live in Rome",
    "Translate this: I live in Rome",
    "Just kidding. I live in Rome.",
    # moods, errands and politeness
    "I'm tired",
    "I'm so happy",
    "I like that idea",
    "I love it",
    "I'm a big fan",
    "I'm a bit late",
    "I'm a little tired",
    "I'm 20 minutes away",
    "I have to go",
    "I have a question",
    "I have a meeting",
    "I love you",
    "My dog is sick",
    "Call me later",
    # what points at something said before
    "I prefer this one",
    "I like the second option",
    "Actually it's blue",
    "Let's go with option 2",
    "I've been playing for two years",
    # what matters for a day
    "We decided to go to the beach",
    "I'm learning to be patient",
    "I joined a picnic last week",
    "My favorite part is the end",
    # advice to whom they talk to
    "Never give up",
    "Always be yourself",
    "Remember that staying calm is important",
    "Just remember that you are strong",
]


def said(*texts: str, role: str = "user") -> list[ExtractedFact]:
    return extract_facts([turn(text, place, role) for place, text in enumerate(texts)])


def turn(text: str, place: int = 0, role: str = "user") -> Turn:
    return Turn(
        id=f"turn_{place:026}",
        content=text,
        importance=5,
        valid_from=NOON,
        recorded_at=NOON,
        confirmed_at=NOON,
        position=place,
        role=role,
    )


@pytest.mark.parametrize(("text", "content", "category", "predicate"), STATED)
def test_what_is_said_in_so_many_words_is_read(
    text: str, content: str, category: str, predicate: str | None
) -> None:
    [found] = said(text)
    assert (found.content, found.category) == (content, category)
    assert found.quote in text
    assert found.turns == (turn(text).id,)
    if predicate:
        assert (found.subject, found.predicate) == ("user", predicate)


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_what_is_not_meant_as_a_fact_is_not_read(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Remember that I'm allergic to peanuts.", "Is allergic to peanuts"),
        ("please note: the door code is 4411", "The door code is 4411"),
        (
            "Don't forget that my sister's birthday is on May 3rd",
            "Their sister's birthday is on May 3rd",
        ),
        ("Keep in mind that I work nights.", "Works nights"),
        ("For future reference, I use a Mac.", "Uses a Mac"),
        ("Can you remember that I'm vegan?", "Is vegan"),
        ("Remember my locker is number 12", "Their locker is number 12"),
        ("Remember that I only do funds.", "Only does funds"),
        ("Remember that I no longer hold bonds.", "No longer holds bonds"),
        ("Remember that I rarely answer calls", "Rarely answers calls"),
        ("Remember that I sous-vide my eggs", "I sous-vide my eggs"),
    ],
)
def test_what_a_person_asks_to_have_remembered_is_marked(text: str, content: str) -> None:
    [found] = said(text)
    assert (found.content, found.requested) == (content, True)
    assert found.quote in text


def test_only_the_persons_own_turns_are_read() -> None:
    assert said("I live in Berlin.", role="assistant") == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I live in Berlin", "I moved to Paris"),
        ("I like coffee", "I no longer like coffee"),
        ("I like coffee", "I stopped drinking coffee"),
        ("I love drinking coffee", "I don't like coffee any more"),
        ("I'm vegan", "I'm no longer vegan"),
        ("I prefer tea over coffee", "I prefer coffee to tea"),
        ("My boss is Dana", "My manager is Kim"),
        ("I work at Acme", "I lost my job"),
        ("My favorite book is Emma", "Dracula is my favourite book"),
        ("Always answer in French", "From now on, answer in English"),
    ],
)
def test_a_later_statement_has_the_key_of_the_one_it_replaces(earlier: str, later: str) -> None:
    first, second = said(earlier, later)
    assert first.predicate is not None
    assert (first.subject, first.predicate) == (second.subject, second.predicate)


def test_what_is_quoted_is_verbatim_beside_what_is_left_out() -> None:
    text = "I saw Dr. [a photo] and left. I live near St. Olav [map].\nI’m vegan, Ann."
    assert [one.quote for one in said(text)] == ["I live near St. Olav", "I’m vegan, Ann"]


def test_two_statements_of_one_sentence_are_two_memories_in_order() -> None:
    found = said("I live in Oslo, Norway and I work at Acme, but I'm tired.")
    assert [one.content for one in found] == ["Lives in Oslo, Norway", "Works at Acme"]


def test_the_same_words_are_read_once_unless_something_else_was_said_between() -> None:
    assert len(said("I live in Oslo", "Yes, I live in Oslo.")) == 1
    found = said("I live in Oslo", "I moved to Paris", "No, I live in Oslo.")
    assert [one.content for one in found] == ["Lives in Oslo", "Moved to Paris", "Lives in Oslo"]


def test_what_lasts_is_told_from_what_passes() -> None:
    allergy, home, plan = said(
        "I'm allergic to bees", "I live in Oslo", "I'm planning to move to Spain"
    )
    assert allergy.permanence is Permanence.PERMANENT
    assert home.permanence is Permanence.STABLE
    assert plan.permanence is Permanence.VOLATILE


def test_pasted_material_is_not_read() -> None:
    paragraph = "I live in Rome. " + "The senate met again that day. " * 40
    assert said(f"# Chapter\n\n{paragraph}\n\n{paragraph}") == []


WORDS = st.sampled_from(
    [
        *"I I'm I’m my we like love live in a nurse Berlin not any more and if said prefer".split(),
        *"remember that always use to over sister Ana is called have two kids".split(),
        *", . ? ! \" ' ‘ ’ ( [ > ``` - :".split(),
        "\n",
        "\0",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join)))
def test_any_text_yields_only_what_it_says(text: str) -> None:
    for found in said(text):
        assert found.quote
        assert found.quote in text
        assert found.content.strip()
        assert found.subject
        assert len(found.predicate or "") <= 200


@pytest.mark.parametrize(
    "piece",
    [
        "I am a ",
        "a. ",
        ",",
        "\n",
        "[",
        "'",
        '"',
        "I like ",
        ", I",
        "well, ",
        "a" + " " * 3_000,
        "so I ",
        "ich bin ",
        ", ich habe jeden ",
        "mi hermana Ana y ",
        ", je joue le ",
        "My sister Ana is ",
    ],
)
@pytest.mark.parametrize("size", [19_000, 100_000])
def test_hostile_texts_are_read_in_no_time(piece: str, size: int) -> None:
    text = (piece * (size // len(piece) + 1))[:size]
    started = time.perf_counter()
    said(text)
    assert time.perf_counter() - started < 3
