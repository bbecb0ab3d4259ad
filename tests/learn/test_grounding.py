"""Details of a proposal that come from nowhere."""

from __future__ import annotations

from datetime import datetime

import pytest

from remembrancer.learn.details.grounding import (
    DetailKind,
    GroundingText,
    TextOrigin,
    find_ungrounded,
)

SAID_AT = datetime(2025, 5, 14, 12, 0)


def said(text: str) -> GroundingText:
    return GroundingText(text, TextOrigin.EVIDENCE, SAID_AT)


def report(content: str, *sources: str | GroundingText) -> list[tuple[DetailKind, str]]:
    texts = [said(one) if isinstance(one, str) else one for one in sources]
    return [(one.kind, one.words) for one in find_ungrounded(content, texts, "Nora")]


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("Nora pays 21,300 a month", "my rent is 21 300 a month"),
        ("Nora pays 21.300 a month", "my rent is 21300 a month, imagine that"),
        ("Nora earns 63,000 euros", "they offered me 63k and I took it"),
        ("Has 2 cats", "wir haben zwei Katzen und einen Hund"),
        ("Lives on the 3rd floor", "vivo en el tercer piso con mi madre"),
        ("Plays chess at 5 pm", "ich spiele um 17 Uhr mit den Jungs Schach"),
        ("Plays chess at 17:00", "je joue aux échecs à 17h avec mon frère"),
        ("Starts at 7:30", "I start at half past seven on most days"),
        ("Starts at 7:30", "ich fange um halb acht in der Werkstatt an"),
        ("Starts at 7:30", "empiezo a las siete y media en la oficina"),
        ("The garden has 210 m²", "the garden is 210 square metres with a pond"),
        ("A ticket costs €9", "I paid 9 euros for a ticket at the station"),
        ("Meets every two weeks", "we meet once a fortnight in the library"),
        ("Has worked there for thirty-four years", "j'y travaille depuis 34 ans et ça me plaît"),
        ("Turns 80 in June", "my mother has her 80th birthday in June"),
        ("Was born in 1985", "I am 40 today and I feel every bit of it"),
        ("Was born on 14 May 1985", "I am 40 today and I feel every bit of it"),
        ("Was born in 1992", "I was born in '92 so I don't remember that"),
        ("Rent rose by 75 to 975", "the rent has gone up from 900 to 975 again"),
        ("Number is 0176 12345678", "my number is 017612345678 if you need it"),
        ("Starts work at 8:45", "entro a las nueve menos cuarto y salgo a las tres"),
        ("Is on call 24/7", "I am on call around the clock, it is mad"),
        ("Has two sons, Emil and Anton", "Emil is at school and Anton is not yet"),
    ],
)
def test_the_same_number_in_other_words_is_grounded(content: str, turn: str) -> None:
    assert report(content, turn) == []


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("Nora pays 22,300 a month", "my rent is 21 300 a month"),
        ("Has three cats", "wir haben zwei Katzen und einen Hund"),
        ("Starts at 8:30", "I start at half past seven on most days"),
        ("Trabaja cinco noches por semana", "trabajo de noche en el hospital y estoy cansada"),
        ("Travaille douze heures", "je travaille beaucoup en ce moment"),
        ("Hat vier Geschwister", "ich habe Geschwister in Bremen und in Kiel"),
    ],
)
def test_a_number_that_nobody_said_is_reported(content: str, turn: str) -> None:
    assert [kind for kind, _ in report(content, turn)] == [DetailKind.NUMBER]


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("The shop opens at 7", "the shop opens at 7, no, sorry, at 8 in winter"),
        ("La tienda abre a las 7", "la tienda abre a las 7, digo, a las 8 en invierno"),
        ("Le bus part à 7 h", "le bus part à 7 heures, enfin à 8 heures le matin"),
    ],
)
def test_a_number_that_was_corrected_is_reported(content: str, turn: str) -> None:
    assert [kind for kind, _ in report(content, turn)] == [DetailKind.NUMBER]
    assert report(content.replace("7", "8"), turn) == []


def test_the_same_number_in_another_unit_is_reported() -> None:
    turn = "I take 15 mg of it every morning before the tea"
    assert report("Takes 15 kg every morning", turn) == [(DetailKind.UNIT, "15 kg")]
    assert report("Takes 15 milligrams every morning", turn) == []


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("Nora's brother Emil is a baker", "my brother Emil is a baker in the old town"),
        ("Jens' Schule ist in Kiel", "die Schule von Jens ist in Kiel am Hafen"),
        ("Oskars Werkstatt liegt am Fluss", "die Werkstatt von Oskar ist am Fluss"),
        ("Nora lives in Tromsø, Norway", "I live in Tromsø now and it is wet"),
        ("Nora moved to Vienna", "ich bin nach Wien gezogen, mit dem ganzen Haus"),
        ("Celebrates Christmas in Spain", "Weihnachten feiern wir in Spanien bei den Eltern"),
        ("Learns Spanish on Thursdays", "estudio español los jueves con una amiga"),
        ("Hat einen Hund und eine Werkstatt", "ich hab nen Hund und die Werkstatt"),
        ("Is friends with Dr Molina", "la doctora Molina es mi amiga desde la escuela"),
        ("Works for the NHS in the north", "I work in a hospital in the north"),
        ("Lives in New York City", "I live in NYC with my dog and my husband"),
        ("Works Mon and Fri at home", "I work at home on Mondays and Fridays"),
        ("Studies with José", "I study with jose in the evening"),
    ],
)
def test_a_name_that_was_said_or_follows_is_grounded(content: str, turn: str) -> None:
    assert report(content, turn) == []


@pytest.mark.parametrize(
    ("content", "turn", "name"),
    [
        ("Her brother Lukas is a baker", "my brother is a baker in the old town", "Lukas"),
        ("She works in a bakery in Toledo", "I work in a bakery with my sister", "Toledo"),
        ("Ihr Bruder Lukas ist Bäcker", "mein Bruder ist Bäcker in der Altstadt", "Lukas"),
        ("Su hermano Lukas es panadero", "mi hermano es panadero en el centro", "Lukas"),
        ("Son frère Lukas est boulanger", "mon frère est boulanger dans le centre", "Lukas"),
        ("Her friend Emil Larsen is a baker", "my friend Emil is a baker in town", "Larsen"),
    ],
)
def test_a_name_that_nobody_said_is_reported(content: str, turn: str, name: str) -> None:
    assert report(content, turn) == [(DetailKind.NAME, name)]


def test_a_name_may_come_from_any_text_but_a_number_only_from_the_evidence() -> None:
    turn = said("she is a baker and she lives near us")
    assistant = GroundingText("How nice to have Sonja so close by! Is she 42?")
    assert report("Sonja is a baker", turn, assistant) == []
    assert report("Sonja is a baker of 42", turn, assistant) == [(DetailKind.NUMBER, "42")]


def test_the_persons_other_words_about_someone_count() -> None:
    turn = said("Ida sleeps with the light on, every night")
    earlier = GroundingText("My niece Ida is three.", TextOrigin.OWN, SAID_AT)
    assert report("Nora's niece Ida (3) sleeps with the light on", turn, earlier) == []
    assert report("Nora's niece Ida (5) sleeps with the light on", turn, earlier) != []


def test_a_number_of_the_memory_that_is_updated_counts() -> None:
    memory = GroundingText("Nora has twelve hens", TextOrigin.EVIDENCE)
    assert report("Nora sold her twelve hens", "I sold the hens to a neighbour", memory) == []


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("Nora moved on 6 May 2025", "I moved here last Tuesday with all the boxes"),
        ("Nora moved on 2025-05-06", "ich bin letzten Dienstag mit allen Kisten umgezogen"),
        ("The exam is in June 2025", "el examen es el mes que viene y no sé nada"),
        ("Vegetarian since March 2025", "je suis végétarienne depuis mars et ça va bien"),
        ("Likes tea (as of May 2025)", "I like tea more than coffee these days"),
        ("Ill in spring 2025", "ich war im April eine Woche lang krank"),
        ("Free on Mondays and Fridays", "lunes y viernes no trabajo en la tienda"),
        ("Works on Tuesdays", "I work there from Monday to Wednesday"),
    ],
)
def test_a_date_that_follows_from_the_words_is_grounded(content: str, turn: str) -> None:
    assert report(content, turn) == []


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("Nora moved on 9 May 2025", "I moved here last Tuesday with all the boxes"),
        ("The exam is in September 2025", "el examen es el mes que viene y no sé nada"),
        ("Vegetarian since March 2021", "je suis végétarienne depuis mars et ça va bien"),
        ("Ill in autumn 2023", "ich war im April eine Woche lang krank"),
        ("Free on Saturdays", "lunes y viernes no trabajo en la tienda"),
    ],
)
def test_a_date_that_does_not_follow_is_reported(content: str, turn: str) -> None:
    assert [kind for kind, _ in report(content, turn)] == [DetailKind.DATE]


def test_nothing_is_reported_in_an_unknown_language_or_without_evidence() -> None:
    turn = "mieszkam teraz w małym mieszkaniu z pięcioma kotami i starym psem"
    assert report("Lives with five cats", turn) == []
    assert report("Lives with five cats", GroundingText("five what?")) == []
