"""Text that a person pastes is not what they say about themselves."""

from __future__ import annotations

import pytest

from remembrancer.learn.transcript import extract_own_words
from remembrancer.learn.wording.pasted import split_pasted


@pytest.mark.parametrize(
    ("turn", "own", "pasted"),
    [
        (
            "Got this from my cousin, what do I say?\n\n"
            "Hey you! I'm engaged and we're moving to Leeds in spring. Call me! Love, Dana\n\n"
            "I'd rather not phone.",
            "I'd rather not phone",
            "moving to Leeds",
        ),
        (
            "Can you translate this for me?\n"
            "Sehr geehrte Frau Holm, ich bin ab Montag im Urlaub. Mit freundlichen Grüßen\n"
            "Jens Vogt\n\nI need it by noon.",
            "I need it by noon",
            "ab Montag im Urlaub",
        ),
        (
            "Meine Nachbarin hat mir das in den Briefkasten gelegt:\n\n"
            "Hallo Nachbarn, wir ziehen im Mai aus und ich bin schwanger. Liebe Grüße, Familie Ott"
            "\n\nWas schenkt man da?",
            "Was schenkt man da?",
            "schwanger",
        ),
        (
            "Mira lo que me mandó mi tía:\n\n"
            "Hola mija, ya me jubilé y me voy a Cancún. Besos, tía Lupe\n\n¿Qué le contesto?",
            "¿Qué le contesto?",
            "me voy a Cancún",
        ),
        (
            "J'ai reçu ça de mon proprio, tu comprends ce qu'il veut ?\n\n"
            "Bonjour, je vends l'appartement et je pars vivre à Nice. Cordialement, M. Petit\n\n"
            "Moi je veux rester.",
            "Moi je veux rester",
            "je pars vivre à Nice",
        ),
    ],
)
def test_a_pasted_letter_is_not_own_words(turn: str, own: str, pasted: str) -> None:
    mine, theirs = split_pasted(turn)

    assert own in mine
    assert pasted in theirs
    assert pasted not in mine


def test_header_lines_begin_a_pasted_mail() -> None:
    mine, theirs = split_pasted(
        "for my calendar please\n"
        "From: Office <office@school.example>\n"
        "Subject: Trip\n"
        "The trip is on 4 May. I am allergic to wasps.\n\n"
        "can you add it? I drive that day"
    )

    assert "allergic" in theirs
    assert mine.split("\n")[0] == "for my calendar please"
    assert "I drive that day" in mine


def test_an_announcement_with_a_heading_in_capitals_is_pasted() -> None:
    mine, theirs = split_pasted(
        "I'm going on the 5th!\n\nSUMMER FAIR 5 JULY\nStalls from 10. Organiser Jo Reed keeps bees."
    )

    assert "keeps bees" in theirs
    assert mine.strip() == "I'm going on the 5th!"


def test_json_and_log_lines_are_pasted() -> None:
    mine, theirs = split_pasted(
        "the output:\n"
        '{"seat": "window", "meal": "vegan"}\n'
        "2024-05-01 10:00:01 INFO user prefers dark mode\n"
        "2024-05-01 10:00:02 ERROR out of memory\n"
        "what now? I run Debian 12"
    )

    assert "vegan" in theirs
    assert "dark mode" in theirs
    assert mine == "the output:\nwhat now? I run Debian 12"


@pytest.mark.parametrize(
    ("turn", "pasted"),
    [
        ('my brother texted: "I quit my job and I am going vegan". so that', "going vegan"),
        ("Mein Chef meinte: „Wir ziehen alle im Mai nach Berlin um“, na ja", "nach Berlin"),
        ("mi jefe me dijo: «nos vamos todos a vivir a Lima» y yo no quiero", "a Lima"),
        ("Ma voisine a dit « je pars vivre à Lyon au mois de mai », dommage", "à Lyon"),
    ],
)
def test_a_sentence_quoted_from_somebody_else_is_pasted(turn: str, pasted: str) -> None:
    mine, theirs = split_pasted(turn)

    assert pasted in theirs
    assert pasted not in mine


@pytest.mark.parametrize(
    "turn",
    [
        "I've been thinking. I moved here in 2019.\n\nI teach maths. My kids are 4 and 6.\n\n"
        "- eggs\n- milk\n- bread\n\nCan you plan my week?",
        "Hi Claude, I am vegan and live in Ghent. I need a recipe. Thanks, Ruth",
        "Here's my schedule:\n\nMonday: swim at 7\nTuesday: choir\nWednesday: nothing",
        "Can you check these:\n- I have two dogs\n- I have a cat called Momo",
        'I told him "I am never going back to that place again" and left',
        "Liebe Grüße aus Rom! Ich bin seit Montag hier und bleibe bis Mai.",
        "Das bin ich:\n\nIch koche seit zehn Jahren und wohne in Kiel mit zwei Hunden.",
        "Esto es lo mío:\n\n- correr los lunes\n- nadar los jueves",
        "Voilà ma semaine :\n\nlundi piscine, mardi chorale, et le reste je dors chez moi",
        "",
    ],
)
def test_what_a_person_writes_themselves_stays_own(turn: str) -> None:
    assert split_pasted(turn) == (turn, "")


def test_text_after_quoted_lines_is_not_introduced_by_the_line_before_them() -> None:
    own = extract_own_words(
        "Can you help me answer this?\n\n> I am vegan.\n> See you, Kim\n\n"
        "I want to tell her that dinner is at seven.",
        [],
    )

    assert "dinner is at seven" in own
    assert "vegan" not in own
