"""What a prompt is: personal or general, a request, small talk, a question for what was said."""

from __future__ import annotations

import pytest

from remembrancer.search.prompt import read_prompt


@pytest.mark.parametrize(
    "text",
    ["Where do I park?", "Wo parke ich?", "¿Dónde vivo?", "Où est-ce que je travaille ?"],
)
def test_a_first_person_makes_a_prompt_personal(text: str) -> None:
    assert read_prompt(text).is_first_person


def test_words_that_only_frame_a_question_do_not_make_it_personal() -> None:
    assert not read_prompt("Tell me, how high is K2?").is_first_person
    assert not read_prompt("Sag mir, wie hoch der Watzmann ist").is_first_person


@pytest.mark.parametrize(
    "text",
    ["Good morning!", "thanks, good night", "Hallo, wie geht's?", "Muchas gracias", "Merci, salut"],
)
def test_greetings_and_thanks_are_small_talk(text: str) -> None:
    assert read_prompt(text).is_small_talk


def test_a_greeting_with_a_question_is_no_small_talk() -> None:
    assert not read_prompt("Good morning! When does my train leave?").is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "What does 'ubiquitous' mean?",
        "What is a quokka?",
        "Wie sagt man Regenschirm auf Italienisch?",
        "¿Qué significa resiliencia?",
        "Comment dit-on parapluie en espagnol ?",
        "What's the difference between a viola and a violin?",
        "How do you get wine out of a carpet?",
        "Wie lange kocht ein Ei?",
        "Wie schreibt man Rhythmus?",
        "¿Cómo se quita una mancha de vino?",
        "Combien vit un escargot ?",
        "On écrit « gens » avec un s ?",
    ],
)
def test_questions_of_general_knowledge_are_told_apart(text: str) -> None:
    assert read_prompt(text).is_general


@pytest.mark.parametrize(
    "text", ["Draft a letter.", "Please write it.", "Schreib eine Mail.", "Redacta un correo."]
)
def test_a_verb_of_making_begins_a_request(text: str) -> None:
    assert read_prompt(text).is_request


@pytest.mark.parametrize(
    "text",
    [
        "What did I say about the boat?",
        "Was habe ich dir über das Boot gesagt?",
        "¿Qué te dije del barco?",
        "Qu'est-ce que je t'ai dit du bateau ?",
    ],
)
def test_a_question_for_what_was_said_is_recognised(text: str) -> None:
    assert read_prompt(text).asks_what_was_said


def test_a_question_on_food_needs_diets_and_allergies() -> None:
    assert {"diet", "allergy"} <= read_prompt("What shall I cook?").needed_topics


def test_a_weekday_is_not_any_time() -> None:
    asked = read_prompt("Am I free on Tuesday?")

    assert "tuesday" in asked.topics
    assert "schedule" not in asked.topics | asked.asked_topics


def test_a_very_long_prompt_is_read_at_both_ends() -> None:
    asked = read_prompt("lorem " * 5000 + "What shall I cook?")

    assert "food" in asked.topics


@pytest.mark.parametrize(
    "text",
    [
        "Can you fix the grammar: 'me and him was late'",
        "Translate into German: “closed on Mondays”",
        "Korrigiere bitte: Ich bin gestern nach Hause gegeht",
        "Pasa esto a mayúsculas: se vende piano",
        "Traduis en anglais : « fermé le lundi »",
    ],
)
def test_work_on_a_text_of_the_prompt_needs_nothing(text: str) -> None:
    assert read_prompt(text).needs_nothing


@pytest.mark.parametrize(
    "text",
    ["Translate my CV into German", "Write to Ida: the trip is off", "Refais l'affiche : prix"],
)
def test_other_requests_are_no_work_on_a_text(text: str) -> None:
    assert not read_prompt(text).needs_nothing


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "Was weißt du über mich?",
        "¿Qué sabes de mí?",
        "Que sais-tu de moi ?",
    ],
)
def test_a_question_for_all_that_is_known(text: str) -> None:
    assert read_prompt(text).asks_about_self
