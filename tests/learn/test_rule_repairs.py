"""Names, corrections, dates, requests and bans, in several languages."""

from __future__ import annotations

from datetime import date

import pytest

from remembrancer.learn.rules.extractor import extract_facts
from remembrancer.learn.transcript import build_transcript, extract_own_words
from tests.learn.test_rule_extractor import said, turn


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My cousin Nell lives in Hull.", "My landlady Nell lives in York."),
        ("Mein Bruder Jan wohnt in Bonn.", "Mein Chef Jan wohnt in Trier."),
        ("Mi hermana Eva vive en Vigo.", "Mi jefa Eva vive en León."),
        ("Ma sœur Lise habite à Metz.", "Ma voisine Lise habite à Nancy."),
    ],
)
def test_two_people_with_one_name_have_different_subjects(first: str, second: str) -> None:
    homes = [one for one in said(first, second) if one.predicate == "home"]
    assert len({one.subject for one in homes}) == 2


def test_a_namesake_is_told_apart_from_an_earlier_turn() -> None:
    earlier = [turn("My cousin Nell lives in Hull.")]
    found = extract_facts([turn("My landlady Nell lives in York.", 1)], earlier)
    assert [one.subject for one in found if one.predicate == "home"] == ["Nell (landlady)"]


def test_a_name_that_two_people_have_gives_no_key() -> None:
    texts = ("My cousin Nell lives in Hull.", "My landlady Nell sings.", "Nell lives in Bath.")
    last = said(*texts)[-1]
    assert (last.content, last.predicate) == ("Nell lives in Bath", None)


def test_another_word_for_the_same_role_is_the_same_person() -> None:
    found = said("My wife Mia lives in Hull.", "My partner Mia works at Acme.")
    assert {one.subject for one in found if one.subject != "user"} == {"Mia"}


def test_an_occupation_is_not_an_employer() -> None:
    found = said("My uncle Ned works as a plumber.", "My uncle Ned works at Siemens.")
    assert [one.predicate for one in found if one.subject == "Ned"] == ["occupation", "employer"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("My dentist is Dr. Okafor.", "Dentist is Dr. Okafor"),
        ("I work at St. Mary's hospital.", "Works at St. Mary's hospital"),
        ("Ich arbeite bei Dr. Vogt in Kassel.", "Ich arbeite bei Dr. Vogt in Kassel"),
        ("Trabajo en la clínica del Dr. Sanz.", "Trabajo en la clínica del Dr. Sanz"),
        ("Je travaille chez le Dr. Morel.", "Je travaille chez le Dr. Morel"),
    ],
)
def test_an_abbreviation_does_not_end_a_statement(text: str, content: str) -> None:
    [found] = said(extract_own_words(text, []))
    assert found.content == content


def test_own_words_keep_their_place_beside_what_is_repeated() -> None:
    text = "I see Dr. Okafor. You should sleep more every night. I work at Acme."
    advice = turn("You should sleep more every night.", 0, "assistant")
    own = build_transcript([advice, turn(text, 1)], 0).own_words
    assert list(own.values()) == ["I see Dr. Okafor. \nI work at Acme."]


@pytest.mark.parametrize(
    "texts",
    [
        ("I don't smoke any more.", "I don't drink any more."),
        ("I no longer smoke.", "I no longer drink."),
        ("My son Leo doesn't smoke anymore.", "My son Leo doesn't drink anymore."),
        ("Ich rauche nicht mehr.", "Ich trinke nicht mehr."),
        ("Ya no fumo.", "Ya no bebo."),
        ("Je ne fume plus.", "Je ne bois plus."),
    ],
)
def test_two_habits_that_were_given_up_do_not_share_a_key(texts: tuple[str, str]) -> None:
    found = [one for one in said(*texts) if one.category == "preference"]
    assert len(found) == 2
    assert found[0].predicate is None or found[0].predicate != found[1].predicate


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Remember that the ladder is behind the shed.", "The ladder is behind the shed"),
        ("Remember: the boiler is serviced in May.", "The boiler is serviced in May"),
        ("Recuerda que el garaje cierra a las nueve.", "El garaje cierra a las nueve"),
        ("Souviens-toi que la cave est inondable.", "La cave est inondable"),
        (
            "Merke dir, dass der Müll donnerstags abgeholt wird.",
            "Der Müll wird donnerstags abgeholt",
        ),
        ("Merk dir, dass wir im August verreisen.", "Wir verreisen im August"),
        (
            "Vergiss nicht, dass mein Neffe Ole mittwochs vorbeikommt.",
            "Mein Neffe Ole kommt mittwochs vorbei",
        ),
    ],
)
def test_what_is_to_be_remembered_is_kept_without_the_request(text: str, content: str) -> None:
    [found] = said(text)
    assert (found.content, found.requested) == (content, True)


@pytest.mark.parametrize(
    ("ban", "permission"),
    [
        ("Please don't use tables.", "You can use tables again."),
        ("No jargon please.", "Jargon is fine again."),
        ("Bitte keine Tabellen.", "Du kannst wieder Tabellen verwenden."),
        ("Sin tablas, por favor.", "Puedes usar tablas otra vez."),
        ("Pas de tableaux.", "Tu peux remettre des tableaux."),
    ],
)
def test_what_is_allowed_again_replaces_the_ban(ban: str, permission: str) -> None:
    first, second = said(ban, permission)
    assert first.predicate is not None
    assert first.predicate == second.predicate


@pytest.mark.parametrize(
    "text", ["My birthday is on 9 July.", "My birthday is on the 9th of July."]
)
def test_a_date_is_not_said_twice(text: str) -> None:
    [found] = said(text)
    assert found.content.lower().count("july") == 1


@pytest.mark.parametrize(
    "text",
    [
        "We're moving to Turin on 4 May 2027.",
        "Ich ziehe am 4. Mai 2027 nach Turin.",
        "Me mudo a Turín el 4 de mayo de 2027.",
        "Je déménage à Turin le 4 mai 2027.",
    ],
)
def test_a_move_begins_on_the_day_that_was_said(text: str) -> None:
    [found] = said(text)
    assert found.dates is not None
    assert (found.dates.start, found.dates.end) == (date(2027, 5, 4), None)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Hull, sorry, in York.", "Lives in York"),
        ("I live in Hull. No wait, I live in York.", "Lives in York"),
        ("My rent is 700 euros, no wait, 750 euros.", "Rent is 750 euros"),
        ("Ich wohne in Bonn, nein, in Trier.", "Ich wohne in Trier"),
        ("Vivo en Vigo, perdón, en León.", "Vivo en León"),
        ("J'habite à Metz, pardon, à Nancy.", "J'habite à Nancy"),
    ],
)
def test_a_correction_replaces_what_it_corrects(text: str, content: str) -> None:
    [found] = said(text)
    assert found.content == content
    assert found.quote in text


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to nuts, sorry, my spelling is bad.",
        "My exam is on the 3rd, wait no, the 3rd is the rehearsal.",
    ],
)
def test_a_correction_that_is_not_clear_leaves_nothing(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", ["Hi, I'm Peter.", "im Roger btw", "Hi, I'm Eleanor."])
def test_a_name_may_end_like_an_occupation(text: str) -> None:
    [found] = said(text)
    assert found.predicate == "name"


def test_a_missing_subject_is_the_person_just_mentioned() -> None:
    found = said("Ayer vino mi sobrina Vera. Vive en Lugo con dos amigas.")
    assert (found[-1].content, found[-1].subject) == (
        "Mi sobrina Vera vive en Lugo con dos amigas",
        "Vera",
    )


def test_whose_mum_it_is_goes_without_saying() -> None:
    [found] = said("mum is in a home in Whitby since March")
    assert (found.content, found.subject) == ("My mum is in a home in Whitby since March", "mum")
