"""Words with a good quote can mean something else than a memory says."""

from __future__ import annotations

import time

import pytest

from remembrancer.learn.wording.doubt import Doubt, find_doubt, is_denied
from remembrancer.learn.wording.passage import find_passage, find_terms, shared_terms


@pytest.mark.parametrize(
    ("content", "quote", "turn"),
    [
        ("Wants to move to Japan", "I'd move to Japan", "If I had no kids I'd move to Japan."),
        ("Is buying a boat", "we'd get a boat", "if the garage was bigger we'd get a boat"),
        ("Is going to sue", "I'll sue him", "if he doesn't fix it I'll sue him"),
        (
            "Kauft ein Wohnmobil",
            "kauf ich ein Wohnmobil",
            "Falls ich gewinne, kauf ich ein Wohnmobil",
        ),
        (
            "Hat einen Hund",
            "hätten wir einen Hund",
            "Wenn die Wohnung größer wäre, hätten wir einen Hund",
        ),
        ("Wants to adopt a dog", "adoptaría un perro", "Si tuviera patio, adoptaría un perro"),
        ("Veut ouvrir un café", "j'ouvrirais un café", "Si j'avais le temps j'ouvrirais un café"),
    ],
)
def test_what_would_happen_is_hypothetical(content: str, quote: str, turn: str) -> None:
    assert find_doubt(content, [quote], turn) is Doubt.HYPOTHETICAL


def test_words_after_a_but_are_not_part_of_the_condition() -> None:
    turn = "If I had time I'd bake, but I buy my bread at Jansen's"

    assert find_doubt("Wants to bake", ["I'd bake"], turn) is Doubt.HYPOTHETICAL
    assert find_doubt("Buys bread at Jansen's", ["I buy my bread at Jansen's"], turn) is None


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Plays the cello", "I used to play the cello"),
        ("Drives a Volvo", "we sold the Volvo in May"),
        ("Lives with Tom", "Tom moved out in March"),
        ("Arbeitet bei Bosch", "Bei Bosch hab ich gekündigt"),
        ("Has a horse called Fury", "I had a horse called Fury as a kid"),
        ("Spielt Handball", "Früher hab ich Handball gespielt"),
        ("Toma clases de salsa", "dejé las clases de salsa"),
        ("Works at Decathlon", "j'ai quitté Decathlon"),
    ],
)
def test_what_has_ended_is_past(content: str, quote: str) -> None:
    assert find_doubt(content, [quote], quote) is Doubt.PAST


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Is moving to Porto", "we might move to Porto"),
        ("Opened a shop in Bath", "I've been looking at a shop, in Bath"),
        ("Has moved to Nantes", "on déménage à Nantes en mai"),
        ("Has been to Rome", "nächstes Jahr fahren wir nach Rom"),
        ("Hat einen Welpen", "vielleicht holen wir uns einen Welpen"),
        ("Se cambió de trabajo", "a lo mejor me cambio de trabajo"),
        ("S'est inscrit au marathon", "je pense à m'inscrire au marathon"),
    ],
)
def test_what_is_considered_or_to_come_is_planned(content: str, quote: str) -> None:
    assert find_doubt(content, [quote], quote) is Doubt.PLANNED


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Eats pork", "I don't eat pork"),
        ("Is allergic to nuts", "turns out I'm not allergic to nuts"),
        ("Does not like olives", "I like olives a lot"),
        ("Mag Koriander", "Koriander mag ich gar nicht"),
        ("Goes to the Waldkita", "Wir gehen nicht mehr in die Waldkita"),
        ("Tiene coche", "ya no tengo coche"),
        ("Mange du fromage", "je mange pas de fromage"),
    ],
)
def test_what_the_quote_denies_is_negated(content: str, quote: str) -> None:
    assert find_doubt(content, [quote], quote) is Doubt.NEGATED


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Isst kein Fleisch", "Ich esse gar kein Fleisch"),
        ("Ist gegen Nickel allergisch", "Ich bin gegen Nickel allergisch"),
        ("Ne mange pas de viande", "Je ne mange jamais de viande"),
        ("Dislikes olives", "I don't like olives"),
        ("Er allergisk mot nikkel", "Jeg er ikke allergisk mot nikkel"),
    ],
)
def test_what_the_quote_says_too_is_not_denied(content: str, quote: str) -> None:
    assert not is_denied(content, [quote], quote)


@pytest.mark.parametrize(
    ("content", "quote", "turn"),
    [
        ("Is a pilot", "he's a pilot", "My brother Tom visits. he's a pilot for KLM"),
        ("Has diabetes", "my mum has diabetes", "my mum has diabetes"),
        ("Is vegan", "Rosa is vegan", "Rosa is vegan and hard to please"),
        ("Works as a teacher", "sie arbeitet als Lehrerin", "Ida kommt, sie arbeitet als Lehrerin"),
        ("Vive en Lima", "mi hermana vive en Lima", "mi hermana vive en Lima"),
        ("Is a baker", "il est boulanger", "Mon frère arrive demain, il est boulanger"),
    ],
)
def test_a_sentence_about_somebody_else_is_doubted(content: str, quote: str, turn: str) -> None:
    assert find_doubt(content, [quote], turn) is Doubt.OTHER_PERSON
    assert find_doubt(content, [quote], turn, about="Tom") is None


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Enjoys waiting on hold", "I just love waiting on hold for an hour"),
        ("Freut sich über den Stau", "na super, wieder Stau"),
        ("Le encanta hacer fila", "me encanta hacer fila dos horas en el banco"),
        ("Aime les bouchons", "j'adore les bouchons du lundi"),
    ],
)
def test_praise_of_unpleasant_things_is_irony(content: str, quote: str) -> None:
    assert find_doubt(content, [quote], quote) is Doubt.IRONY


@pytest.mark.parametrize(
    ("content", "quote", "turn"),
    [
        ("Meeting is at 3", "the meeting is at 3", "the meeting is at 3, sorry, at 4"),
        ("Party is on Saturday", "party's on Saturday", "party's on Saturday - no, Sunday"),
        ("Zug fährt um 9", "der Zug fährt um 9", "der Zug fährt um 9, quatsch, um 10"),
        (
            "La cita es el lunes",
            "la cita es el lunes",
            "la cita es el lunes, no, perdón, el martes",
        ),
        ("Le train part à 9h", "le train part à 9h", "le train part à 9h, non pardon, à 10h"),
        (
            "Spends Easter in a cabin",
            "we reserved a cabin for Easter",
            "we reserved a cabin for Easter, but we've scrapped it",
        ),
    ],
)
def test_words_that_are_taken_back_are_corrected(content: str, quote: str, turn: str) -> None:
    assert find_doubt(content, [quote], turn) is Doubt.CORRECTED


def test_a_number_that_is_denied_later_is_corrected() -> None:
    def doubt(content: str) -> Doubt | None:
        return find_doubt(content, ["rent is 900"], "rent is 900", said_later="it's 950, not 900")

    assert doubt("Rent is 900") is Doubt.CORRECTED
    assert doubt("Rent is 950") is None


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Vegetarian", "I don't eat meat"),
        ("Works part-time", "I don't work full-time any more"),
        ("Left the choir", "I'm not in the choir any more"),
        ("Eats gluten-free", "pas de gluten pour moi"),
        ("Loved comics as a kid", "I loved comics as a kid"),
        ("Avoids dairy", "no dairy for me"),
        ("Works from home on Fridays", "on Fridays I don't go to the office"),
        ("Has one daughter", "we have one daughter, no other kids"),
        ("Runs three times a week", "I run three times a week, never on Sundays"),
        ("Left Bosch in May", "I left Bosch in May"),
        ("Works at Siemens now", "I left Bosch in May and now I'm at Siemens"),
        ("Considers an e-bike", "I'm thinking about an e-bike"),
        ("Flying to Rome on May 3", "we're flying to Rome on May 3"),
        ("Wedding on June 7", "the wedding is June 7, maybe outdoors"),
        ("Mother has diabetes", "my mum has diabetes"),
        ("Rabbit is called Momo", "she's called Momo"),
        ("Loves hiking in the rain", "I really love hiking, even in the rain"),
        ("Meeting is at 4", "the meeting is at 3, sorry, at 4"),
        ("Vegan since March", "seit März esse ich nichts Tierisches mehr"),
        ("Needs glasses for reading", "ohne Brille kann ich nichts lesen"),
        ("Trip to Rome in May", "im Mai fahren wir nach Rom"),
        ("Arbeitet bei Siemens", "bei Bosch hab ich gekündigt, ich bin jetzt bei Siemens"),
        ("Drinks tea", "no me gusta el café, tomo té"),
        ("Vive en Quito desde enero", "dejé Lima, desde enero vivo en Quito"),
        ("La cita es el martes", "la cita es el lunes, no, perdón, el martes"),
        ("Habite à Lille", "je n'habite plus à Paris, j'habite à Lille"),
        ("Takes the tram", "j'ai pas le permis donc je prends le tram"),
        ("Adore le vélo", "j'adore le vélo, même sous la pluie"),
        ("Bor i Bergen", "jeg bor ikke i Oslo, men i Bergen"),
        ("コーヒーが好き", "コーヒーが好きです"),
        ("Likes tea", ""),
    ],
)
def test_a_memory_that_says_what_its_quote_means_is_not_doubted(content: str, quote: str) -> None:
    assert find_doubt(content, [quote], quote) is None


def test_a_quote_is_found_in_its_sentence() -> None:
    passage = find_passage("it’s  blue", "A car came. I think It's\nblue, really. Nice!")

    assert passage.quote == "It's\nblue"
    assert passage.sentence == "I think It's\nblue, really."
    assert passage.earlier == "A car came. "


def test_forms_of_a_word_are_shared() -> None:
    assert shared_terms(find_terms("broke the wrist"), find_terms("it is broken")) == {"broke"}


def test_long_texts_are_checked_in_short_time() -> None:
    text = "if i had no, he said: " * 2000
    started = time.monotonic()

    find_doubt("Has no time", [text[:500]], text, said_later=text)

    assert time.monotonic() - started < 5
