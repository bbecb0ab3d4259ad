"""What the rules read of users and the people around them, in four languages."""

from __future__ import annotations

import re

import pytest

from remembrancer.learn.rules.extractor import extract_facts
from remembrancer.learn.rules.vocabulary import Vocabulary, read_blocks
from remembrancer.search.language import Language
from tests.learn.test_rule_extractor import said, turn

OF_USERS = [
    # English
    ("Hi, I'm Kate.", "Name is Kate", "name"),
    ("I was a nurse for ten years.", "Was a nurse for ten years", None),
    ("The rent is 900 euros a month.", "Rent is 900 euros a month", "rent"),
    ("I charge $80 an hour.", "Charges $80 an hour", None),
    ("I play padel on Thursdays at 7.", "Plays padel on Thursdays at 7", None),
    ("We fly to Vienna on 20 October.", "Flies to Vienna on 20 October", None),
    ("I take metformin twice a day.", "Takes metformin twice a day", "takes metformin"),
    ("We moved to Leith on 3 June, a flat by the sea", "Moved to Leith on 3 June", "home"),
    ("Give me everything in metric please.", "Give them everything in metric", None),
    # German
    ("Ich heiße Sabine.", "Ich heiße Sabine", "name"),
    ("Ich wohne seit 2019 in Graz.", "Ich wohne seit 2019 in Graz", "home"),
    ("Ich bin Softwareentwickler bei Bosch.", "Ich bin Softwareentwickler bei Bosch", "occupation"),
    ("Ich arbeite nicht mehr bei der Post.", "Ich arbeite nicht mehr bei der Post", "employer"),
    ("Also, ich bin Vegetarierin.", "Ich bin Vegetarierin", "diet"),
    ("Ich vertrage keine Milch.", "Ich vertrage keine Milch", "allergy milch"),
    ("Donnerstags um 19 Uhr habe ich Chor.", "Donnerstags um 19 Uhr habe ich Chor", None),
    ("Meine Miete beträgt 850 Euro.", "Meine Miete beträgt 850 Euro", "rent"),
    ("Wir fliegen am 3. Mai nach Rom.", "Wir fliegen am 3. Mai nach Rom", None),
    ("Ich trinke keinen Kaffee mehr.", "Ich trinke keinen Kaffee mehr", None),
    ("Bitte keine Emojis.", "Keine Emojis", "use emojis"),
    ("Fass dich bitte kurz.", "Fass dich bitte kurz", "answers"),
    ("Meine Frau Uta hat Urlaub.", "Meine Frau heißt Uta", "partner"),
    # Spanish
    ("Me llamo Sofía.", "Me llamo Sofía", "name"),
    ("Soy enfermera en el hospital La Paz.", "Soy enfermera en el hospital La Paz", "occupation"),
    ("Me mudé a Granada el mes pasado.", "Me mudé a Granada el mes pasado", "home"),
    ("Soy alérgica al polen.", "Soy alérgica al polen", "allergy polen"),
    ("Ya no trabajo en Iberia.", "Ya no trabajo en Iberia", "employer"),
    ("Los martes a las 21:00 juego al pádel.", "Los martes a las 21:00 juego al pádel", None),
    ("Pago 900 euros de alquiler.", "Pago 900 euros de alquiler", "rent"),
    ("El 3 de mayo volamos a Lisboa.", "El 3 de mayo volamos a Lisboa", None),
    ("Sin emojis, por favor.", "Sin emojis", "use emojis"),
    ("Iker y yo vamos a Cuba el 3 de mayo.", "Iker y yo vamos a Cuba el 3 de mayo", None),
    # French
    ("Je m'appelle Claire.", "Je m'appelle Claire", "name"),
    ("J’habite à Lyon.", "J’habite à Lyon", "home"),
    ("Je suis prof de maths à Brest.", "Je suis prof de maths à Brest", "occupation"),
    ("Je ne travaille plus chez Renault.", "Je ne travaille plus chez Renault", "employer"),
    ("Je suis allergique aux noix.", "Je suis allergique aux noix", "allergy noix"),
    ("Le mardi soir je joue au badminton.", "Le mardi soir je joue au badminton", None),
    ("Mon loyer est de 700 euros.", "Mon loyer est de 700 euros", "rent"),
    ("On part à Rome le 3 mai.", "On part à Rome le 3 mai", None),
    ("Réponds en cinq lignes max.", "Réponds en cinq lignes max", "answers"),
]

OF_OTHERS = [
    ("My sister Ana is a vet.", "Sister Ana is a vet", "Ana", "occupation"),
    ("My sister Ana is tall. She's allergic to cats.", "Sister Ana is allergic to cats", "Ana",
     "allergy cats"),
    ("My brother Leo called, he works at Noma.", "Brother Leo works at Noma", "Leo", "employer"),
    ("My son has asthma.", "Son has asthma", "son", None),
    ("Mein Sohn Ole ist allergisch gegen Nüsse.", "Mein Sohn Ole ist allergisch gegen Nüsse",
     "Ole", "allergy nüsse"),
    ("Das ist von meiner Tochter Lena. Sie studiert Physik in Jena.",
     "Meine Tochter Lena studiert Physik in Jena", "Lena", "studies"),
    ("Meine Mitbewohnerin Ida ist vegan.", "Meine Mitbewohnerin Ida ist vegan", "Ida", "diet"),
    ("Ich war mit meinem Kollegen Ben da. Er wohnt in Jena.", "Ben wohnt in Jena", "Ben", "home"),
    ("Mi hermano Pablo no come gluten.", "Mi hermano Pablo no come gluten", "Pablo", None),
    ("Mi mamá, Rosa, cocina. Ella es alérgica al látex.", "Mi mamá Rosa es alérgica al látex",
     "Rosa", "allergy látex"),
    ("Ma coloc Lou est allergique aux œufs.", "Ma coloc Lou est allergique aux œufs", "Lou",
     "allergy œufs"),
    ("Mon mari, Hugo, travaille chez Airbus.", "Mon mari, Hugo, travaille chez Airbus", "Hugo",
     "employer"),
]  # fmt: skip

SAYS_NOTHING = [
    # English
    "My boss thinks she's a vet.",
    "Tom is in Berlin this week.",
    "London is a great teacher.",
    "I'm going to start by adding salt on May 3rd",
    "I was a little late.",
    "Oh great, more rain. I just love wet socks.",
    "My brother would love a dog.",
    "My parents are old and tired.",
    # German
    "Wenn ich in Wien wohnen würde, hätte ich einen Hund.",
    "Wohne ich in Wien?",
    "Ich glaube, ich bin allergisch gegen Nüsse.",
    "Ich bin müde.",
    "Ich habe keine Lust mehr.",
    "Ich mag die Idee.",
    "Heute fahre ich mit dem Rad.",
    "Ich bin der Meinung, dass es regnet.",
    "Meine Freundin sagt, sie ist Veganerin.",
    "Er sagte: „Ich wohne in Rom.“",
    "Übersetze das: Ich wohne in Rom.",
    "Na toll, ich liebe Staus.",
    # Spanish
    "Si viviera en Madrid, iría en metro.",
    "¿Vivo en Madrid?",
    "Creo que soy alérgico al polen.",
    "Estoy cansado.",
    "Tengo hambre.",
    "Me gusta la idea.",
    "Ya no puedo más.",
    "Me encantaría vivir en Cuba.",
    "Hoy juego al tenis.",
    "Mi vecino dice que es médico.",
    # French
    "Si j'habitais à Paris, je prendrais le métro.",
    "Est-ce que j'habite à Paris ?",
    "Je crois que je suis allergique au pollen.",
    "Je suis fatigué.",
    "J'aime bien l'idée.",
    "Je n'ai plus faim.",
    "Ce soir je joue au tennis.",
    "J'aimerais vivre au Japon.",
    "Je suis à Paris pour le week-end.",
]


@pytest.mark.parametrize(("text", "content", "predicate"), OF_USERS)
def test_a_statement_of_users_about_themselves(
    text: str, content: str, predicate: str | None
) -> None:
    [found] = said(text)
    assert (found.content, found.subject, found.predicate) == (content, "user", predicate)
    assert found.quote in text


@pytest.mark.parametrize(("text", "content", "subject", "predicate"), OF_OTHERS)
def test_a_statement_about_someone_else_has_that_person_as_its_subject(
    text: str, content: str, subject: str, predicate: str | None
) -> None:
    found = said(text)[-1]
    assert (found.content, found.subject, found.predicate) == (content, subject, predicate)
    assert found.quote in text


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_guesses_moods_and_reported_speech_are_not_read(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Merk dir: ich bin allergisch gegen Penicillin.", "Ich bin allergisch gegen Penicillin"),
        ("Merk dir, dass ich keine Nüsse esse.", "Ich esse keine Nüsse"),
        ("Merk dir bitte, dass ich um sieben aufstehe.", "Ich stehe um sieben auf"),
        ("Recuerda que ya no tomo café.", "Ya no tomo café"),
        ("Souviens-toi que je ne bois pas de café.", "Je ne bois pas de café"),
        ("Retiens que ma sœur se marie en juin.", "Ma sœur se marie en juin"),
    ],
)  # fmt: skip
def test_a_request_to_remember_keeps_the_users_words(text: str, content: str) -> None:
    [found] = said(text)
    assert (found.content, found.requested) == (content, True)
    assert found.quote in text


def test_two_facts_about_one_person_have_different_keys() -> None:
    found = said("My husband Tom is lactose intolerant and works from home on Mondays.")
    about_tom = [one for one in found if one.subject == "Tom"]
    assert [one.content for one in about_tom] == [
        "Husband Tom is lactose intolerant",
        "Husband Tom works from home on Mondays",
    ]
    assert len({one.predicate for one in about_tom}) == 2


def test_a_second_verb_shares_the_subject_of_the_first() -> None:
    [home, job] = said("Ich wohne in Graz und arbeite als Lehrerin.")
    assert (home.content, job.content) == ("Ich wohne in Graz", "Ich arbeite als Lehrerin")


def test_a_pronoun_of_the_next_turn_cites_both_turns() -> None:
    texts = "My sister Ana came by.", "She's a vet."
    found = extract_facts([turn(text, place) for place, text in enumerate(texts)])[-1]
    assert found.content == "Sister Ana is a vet"
    assert [one.words for one in found.quotes] == ["She's a vet", "My sister Ana"]


def test_a_sentence_is_read_in_its_own_language() -> None:
    found = said("Ich wohne mit zwei Katzen in Graz. By the way, I'm allergic to peanuts.")
    assert [one.content for one in found] == [
        "Ich wohne mit zwei Katzen in Graz",
        "Is allergic to peanuts",
    ]


def test_the_time_that_was_said_is_kept_beside_the_fact() -> None:
    [english], [french] = said("I moved to Leith two months ago"), said("On part à Rome le 3 mai.")
    assert (english.content, english.said_as) == ("Moved to Leith", "two months ago")
    assert french.said_as == "le 3 mai"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I work at Acme", Language.ENGLISH),
        ("Ich arbeite bei Acme", Language.GERMAN),
        ("Trabajo en la empresa Acme", Language.SPANISH),
        ("Je travaille chez Acme", Language.FRENCH),
    ],
)
def test_an_attribute_has_one_predicate_in_all_languages(text: str, language: Language) -> None:
    [found] = said(text)
    assert (found.subject, found.predicate) == ("user", "employer"), language


@pytest.mark.parametrize("language", list(Language))
def test_every_list_that_a_wording_names_exists(language: Language) -> None:
    wordings = [line for _, lines in read_blocks(f"statements.{language}.txt") for line in lines]
    named = set(re.findall(r"<(?:[a-z]+:)?([A-Z_]{2,})>", " ".join(wordings)))
    assert named <= set(Vocabulary(language).words)
