"""Secrets in ordinary talk are found, in five languages, and talk about secrets is left alone."""

from __future__ import annotations

import pytest

from bench.plain_talk import Sentence, is_stored, read_sentences, redacted
from remembrancer.guard import find_secrets, redact

pytestmark = pytest.mark.feature("A5")

SECRETS = read_sentences("secrets.jsonl")
HARMLESS = read_sentences("harmless.jsonl")
MAX_STORED = 0.03
MAX_FLAGGED = 0.002

# By an author who did not know the rules; read for them afterwards.
SECRETS_BY_ANOTHER = read_sentences("secrets_by_another.jsonl")
HARMLESS_BY_ANOTHER = read_sentences("harmless_by_another.jsonl")
MAX_STORED_BY_ANOTHER = {"a": 0.02, "b": 0.02}
MAX_FLAGGED_BY_ANOTHER = 0.005

# By a third author, of whom nothing but the counts was looked at while the rules were written: what
# is stored of it is the honest measure, and must not become more.
SECRETS_UNSEEN = read_sentences("secrets_unseen.jsonl")
HARMLESS_UNSEEN = read_sentences("harmless_unseen.jsonl")
MAX_STORED_UNSEEN = 0.35
MAX_FLAGGED_UNSEEN = 0.017


def test_at_most_one_secret_in_twenty_is_left_in_ordinary_talk() -> None:
    stored = [one for one in SECRETS if is_stored(one)]
    assert len(SECRETS) >= 200
    assert len(stored) <= MAX_STORED * len(SECRETS), stored


@pytest.mark.parametrize("half", ["a", "b"])
def test_the_half_that_was_held_back_is_found_as_well_as_the_other(half: str) -> None:
    mine = [one for one in SECRETS if one.half == half]
    stored = [one for one in mine if is_stored(one)]
    assert len(stored) <= MAX_STORED * len(mine), stored


def test_talk_that_comes_close_to_a_secret_is_left_alone() -> None:
    flagged = [one.text for one in HARMLESS if redacted(one) != one.text]
    assert len(HARMLESS) >= 600
    assert len(flagged) <= MAX_FLAGGED * len(HARMLESS), flagged


@pytest.mark.parametrize("half", ["a", "b"])
def test_no_more_secrets_of_another_author_are_left_than_measured(half: str) -> None:
    theirs = [one for one in SECRETS_BY_ANOTHER if one.half == half]
    assert len(theirs) >= 75
    stored = sum(map(is_stored, theirs))
    assert stored <= MAX_STORED_BY_ANOTHER[half] * len(theirs)


def test_harmless_talk_of_another_author_is_left_alone() -> None:
    flagged = sum(redacted(one) != one.text for one in HARMLESS_BY_ANOTHER)
    assert len(HARMLESS_BY_ANOTHER) >= 200
    assert flagged <= MAX_FLAGGED_BY_ANOTHER * len(HARMLESS_BY_ANOTHER)


def test_no_more_secrets_of_an_unseen_author_are_left_than_measured() -> None:
    stored = sum(map(is_stored, SECRETS_UNSEEN))
    flagged = sum(redacted(one) != one.text for one in HARMLESS_UNSEEN)
    assert len(SECRETS_UNSEEN) >= 100
    assert len(HARMLESS_UNSEEN) >= 120
    assert stored <= MAX_STORED_UNSEEN * len(SECRETS_UNSEEN)
    assert flagged <= MAX_FLAGGED_UNSEEN * len(HARMLESS_UNSEEN)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my passwrod is Sunnyside44", "Sunnyside44"),
        ("mein Kennwrot lautet Regenwurm", "Regenwurm"),
        ("mi contrasenya es berenjena", "berenjena"),
        ("ipad: mango&lime", "mango&lime"),
        ("portatile gatto&luna", "gatto&luna"),
        ("Kestrel$Lane is what gets you into my laptop", "Kestrel$Lane"),
        ("the code for my cousin's greenhouse is 4471", "4471"),
        ("Der Code für Omas Nähkammer lautet 4471", "4471"),
        ("il codice per la dispensa è 8812", "8812"),
        ("my phone unlocks with a big Z", "a big Z"),
        ("el patrón del móvil es una L desde arriba", "una L desde arriba"),
        ("asks for my memorable word and it's purple kettle, I think", "purple kettle"),
        ("I have two keys, AKq81-LLx09-Zp and BKq77-MMx10-Qp, for tests", "BKq77-MMx10-Qp"),
        ("steam emailed me R4VKD just now", "R4VKD"),
        ("the zoom passcode Tq8!w, at four", "Tq8!w"),
    ],
)
def test_a_value_is_found_by_how_it_is_used(text: str, secret: str) -> None:
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "my passport is in the drawer",
        "I forgot my password and it's annoying",
        "the class code is 4471, the product code is 88213",
        "my laptop runs Ubuntu+GNOME and has Intel&AMD stickers",
        "router: TP-Link&Archer",
        "the screen is in a C shape and the phone is in A condition",
        "keys like Q3Report2024 in the bucket",
        "la parola chiave del tema è solitudine",
    ],
)
def test_a_value_that_is_used_for_something_else_is_left_alone(text: str) -> None:
    assert not find_secrets(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the alarm panel takes 8362 and then the hash key", "8362"),
        ("quita la alarma con 40-71, luego riega", "40-71"),
        ("Am Tor 3317 drücken und warten", "3317"),
        ("Al portone digiti 1802C e sali", "1802C"),
        ("for the router admin page type admin / gr33nTomato", "gr33nTomato"),
        ("it is her usual email, then Lilypad.Lisbon5", "Lilypad.Lisbon5"),
        ("the combination of the safe: 14 left, 32 right, 7 left", "14 left, 32 right, 7 left"),
        ("the phone pattern: top left, centre, bottom right", "top left, centre, bottom right"),
        ("las tres cifras del reverso son 537", "537"),
        ("la frase segreta è quattro gatti sul tetto", "quattro gatti sul tetto"),
        ("la phrase secrète: trois canards mangent du pain", "trois canards mangent du pain"),
        ("for the security question about my first pet I put Wobblington", "Wobblington"),
        ("not rustygate44 any more but mossyroof44", "mossyroof44"),
    ],
)
def test_a_value_is_found_by_what_stands_near_it(text: str, secret: str) -> None:
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "the wifi at gate B31 was slow, flight LH2476 is late",
        "my bank is open from 9 to 17, the router is a model AX3000",
        "the service account bk-prod-01 has access to the bucket",
        "We use Word2Vec behind the login and Argon2 for the account",
        "the alarm goes off after 3000 seconds",
        "the passphrase is in the drawer under the printer",
        "a passphrase is easier to remember than a password",
        "in the question about France I put Paris",
        "turn left after 20 metres, then right",
    ],
)
def test_a_value_near_the_same_words_that_opens_nothing_is_left_alone(text: str) -> None:
    assert not find_secrets(text)


@pytest.mark.parametrize("lang", ["en", "de", "es", "fr", "it"])
def test_every_language_is_found_as_well_as_the_others(lang: str) -> None:
    mine = [one for one in SECRETS if one.lang == lang]
    assert sum(map(is_stored, mine)) <= 0.1 * len(mine)


def test_only_the_value_is_replaced() -> None:
    told = redact("ok so the wifi password is, um, Sunflower88, with a capital S").text
    assert told == "ok so the wifi password is, um, [secret: password], with a capital S"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What's the wifi password?", "GreenGoose2020"),
        ("What's the wifi password?", "sure, it's GreenGoose2020"),
        ("what is your netflix password", "popcorn"),
        ("And the PIN?", "4471"),
        ("Wie lautet der Türcode?", "Der ist 4471"),
        ("¿Cuál es la contraseña?", "Zanahoria88"),
        ("I changed the wifi password yesterday.", "It's GreenGoose2020 now."),
    ],
)
def test_the_answer_to_a_question_for_a_secret_is_one(question: str, answer: str) -> None:
    assert find_secrets(answer, [question])


def test_a_question_is_remembered_for_one_turn_more() -> None:
    turns = ["What's the wifi password?", "I do not know it. Tell me and I use it."]
    assert find_secrets("GreenGoose2020", turns)
    assert not find_secrets("GreenGoose2020", [*turns, "Still waiting for it."])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What's the wifi password?", "it's on the fridge"),
        ("Did you change the password?", "Yes. In 2019"),
        ("What is the password policy?", "12 characters"),
        ("When did you set the PIN?", "2019"),
        ("Which password manager do you use?", "Bitwarden"),
        ("Where do you live?", "Rome"),
        ("I changed the wifi password yesterday.", "Rome"),
    ],
)
def test_another_answer_is_left_alone(question: str, answer: str) -> None:
    assert not find_secrets(answer, [question])


def test_accents_do_not_hide_a_name_however_they_are_written() -> None:
    composed, decomposed = "la contraseña es Gato2021", "la contrasen\u0303a es Gato2021"
    for text in (composed, decomposed, "la contrasena es Gato2021"):
        assert "Gato2021" not in redact(text).text


def test_the_measure_itself_sees_a_secret_that_is_left() -> None:
    assert is_stored(Sentence("en", "a", "Nothing here but Tulpenbaum", secrets=("Tulpenbaum",)))
