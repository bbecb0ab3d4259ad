"""What is said later changes what is known, and what only resembles it stands beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from remembrancer.types import AsOf, Status
from tests.support.opening import Open
from tests.support.proposals import contents, proposal, proposes, tell


def learn(store: Remembrancer, model: ModelEndpoint, proposed: dict[str, Any]) -> Memory:
    """The memory of Ada after she said what a proposal quotes."""
    me = store.for_user("ada")
    model.script = proposes(proposed)
    tell(me, "chat", f"{proposed['quote']}.")
    store.flush()
    return me


GLOBEX = proposal("Works at Globex", "I work at Globex now", predicate="works_at")


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "rules"])
def test_a_new_employer_replaces_the_one_that_was_to_be_remembered(
    open_memory: Open, model: ModelEndpoint, models: Any, clock: ManualClock, with_model: bool
) -> None:
    store = open_memory(models=models if with_model else {})
    me = store.for_user("ada")
    model.script = proposes(GLOBEX)
    tell(me, "first", "Please remember that I work at Acme.")
    store.flush()
    (acme,) = me.list().items
    clock.advance(timedelta(days=30))
    tell(me, "second", "Small news: I work at Globex now.")
    store.flush()

    (known,) = me.list().items
    assert known.content.startswith("Works at Globex")
    assert me.get(acme.id).status is Status.SUPERSEDED
    assert "Acme" not in me.context("Where do I work?").text


def test_a_profile_can_keep_what_was_stated_against_a_later_conversation(
    open_memory: Open, model: ModelEndpoint, models: Any
) -> None:
    store = open_memory("advisor", models=models)
    store.for_user("ada").remember("Works at Acme", subject="user", predicate="employer")
    me = learn(store, model, GLOBEX)

    assert contents(me) == ["Works at Acme"]
    assert {one.reason for one in me.rejected().items} == {"stands"}


CHANGES = {
    "a count": (
        ("Keeps six hens in the yard", "I keep six hens in the yard", "hens"),
        (
            "Gets two hens from Ida, which makes eight",
            "Ida gives me two, that makes eight",
            "flock",
        ),
    ),
    "a count in German": (
        ("Hat sechs Hühner im Hof", "Ich halte sechs Hühner im Hof", "huehner"),
        ("Bekommt zwei Hühner, dann sind es acht", "Zwei kommen dazu, dann hab ich acht", "anzahl"),
    ),
    "a count by its key": (
        ("Employs 12 people", "I employ 12 people", "employees"),
        ("Employs 15 people", "I employ 15 people", "number_of_employees"),
    ),
    "a job under another attribute": (
        ("Works at the Lindgren clinic", "I work at the Lindgren clinic", "employer"),
        ("Head of surgery in Umeå from May", "I accepted head of surgery in Umeå", "position"),
    ),
}


@pytest.mark.parametrize("pair", CHANGES.values(), ids=CHANGES)
def test_a_change_that_names_no_memory_replaces_the_one_it_is_about(
    open_memory: Open, model: ModelEndpoint, models: Any, pair: Any
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    model.script = proposes(*(proposal(told, said, predicate=key) for told, said, key in pair))
    for number, (_, said, _) in enumerate(pair):
        tell(me, f"chat {number}", f"{said}.")
        store.flush()

    assert contents(me) == [pair[1][0]]


def test_a_position_with_the_same_employer_leaves_the_employer(
    open_memory: Open, model: ModelEndpoint, models: Any
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    me.remember("Works at the Lindgren clinic", subject="user", predicate="employer")
    told = proposal(
        "Head of surgery from May",
        "I accepted the position of head of surgery",
        predicate="position",
    )
    model.script = proposes(told)
    tell(me, "chat", "I accepted the position of head of surgery.")
    store.flush()

    assert contents(me) == ["Head of surgery from May", "Works at the Lindgren clinic"]


SIDE_BY_SIDE = {
    "two facts about a husband": (
        proposal(
            "Husband Jonas is lactose intolerant",
            "My husband Jonas is lactose intolerant",
            subject="Jonas",
            predicate="health",
        ),
        proposal(
            "Husband Jonas works from home on Mondays",
            "My husband Jonas works from home on Mondays",
            subject="Jonas",
            predicate="work_schedule",
        ),
    ),
    "two facts without an attribute": (
        proposal("Husband Jonas is lactose intolerant", "My husband Jonas is lactose intolerant"),
        proposal(
            "Husband Jonas works from home on Mondays",
            "My husband Jonas works from home on Mondays",
        ),
    ),
    "two flights": (
        proposal(
            "The outbound flight to Porto is TP 931",
            "The outbound flight to Porto is TP 931",
            predicate="outbound_flight",
        ),
        proposal(
            "The return flight from Porto is TP 938",
            "The return flight from Porto is TP 938",
            predicate="return_flight",
        ),
    ),
    "two flights without an attribute": (
        proposal("Flies to Porto with TP 931", "we fly to Porto with TP 931"),
        proposal("Flies back from Porto with TP 931", "we fly back from Porto with TP 931"),
    ),
    "the same of two persons": (
        proposal("Works at the harbour", "I work at the harbour", predicate="employer"),
        proposal(
            "Works at the harbour",
            "My sister Ida works at the harbour",
            subject="Ida",
            predicate="employer",
        ),
    ),
}


@pytest.mark.postgres_long
@pytest.mark.parametrize("together", [True, False], ids=["one chat", "two chats"])
@pytest.mark.parametrize("pair", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_what_only_resembles_a_memory_stands_beside_it(
    open_memory: Open, model: ModelEndpoint, models: Any, pair: Any, together: bool
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    model.script = proposes(*pair)
    for number, one in enumerate(pair):
        tell(me, "chat" if together else f"chat {number}", f"{one['quote']}.")
        if not together:
            store.flush()
    store.flush()

    assert contents(me) == sorted(one["content"] for one in pair)
    assert contents(me, status="unconfirmed") == []


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, 9, tzinfo=UTC)


def test_a_plan_with_a_date_is_told_until_it_is_over(
    open_memory: Open, model: ModelEndpoint, models: Any, clock: ManualClock
) -> None:
    appointment = proposal(
        "Has a dentist appointment on 12 March 2026",
        "I have a dentist appointment on 12 March",
        when={"from": "2026-03-12", "until": "2026-03-12"},
        said_as="on 12 March",
        predicate="dentist_appointment",
    )
    me = learn(open_memory(models=models), model, appointment)

    def told() -> bool:
        return "Has a dentist appointment" in me.context("When is my dentist appointment?").text

    assert told()
    clock.advance(day(3, 12) - clock.now())
    assert told()
    clock.advance(timedelta(days=1))
    assert not told()


def test_dates_that_do_not_follow_from_the_words_are_dropped_and_the_memory_stays(
    open_memory: Open, model: ModelEndpoint, models: Any, clock: ManualClock
) -> None:
    sport = proposal(
        "Rows on the fjord with the harbour club",
        "I row on the fjord with the harbour club",
        when={"from": "2027-01-04", "until": "2027-06-30"},
        said_as="next year",
    )
    me = learn(open_memory(models=models), model, sport)

    (known,) = me.list().items
    assert (known.valid_from, known.valid_until) == (clock.now(), None)
    assert "Rows on the fjord" in me.context("Which sport do I do on the fjord?").text


def test_an_update_with_a_date_to_come_leaves_the_old_one_in_force_until_then(
    open_memory: Open, model: ModelEndpoint, models: Any, clock: ManualClock
) -> None:
    store = open_memory(models=models)
    store.for_user("ada").remember("Works at Acme", subject="user", predicate="employer")
    clock.advance(timedelta(days=1))
    change = proposal(
        "Works at Globex from 1 April 2026",
        "From 1 April I will work at Globex",
        updates="Works at Acme",
        predicate="employer",
        when={"from": "2026-04-01", "until": None},
        said_as="From 1 April",
    )
    me = learn(store, model, change)

    assert contents(me, as_of=AsOf(true=day(3, 20))) == ["Works at Acme"]
    assert "Works at Acme (until 31 Mar 2026)" in me.context("Where do I work?").text
    clock.advance(day(4, 2) - clock.now())
    assert contents(me) == ["Works at Globex from 1 April 2026"]
    told = me.context("Where do I work?").text
    assert "Globex" in told
    assert "Acme" not in told


def say(store: Any, me: Memory, *texts: str) -> None:
    """Say each text in a conversation of its own, and learn from it."""
    for number, text in enumerate(texts):
        tell(me, f"chat {number} {text}", text)
        store.flush()


def learn_all(
    store: Any, me: Memory, model: ModelEndpoint, *told: tuple[str, str, str, str]
) -> None:
    """Learn proposals of content, words, predicate and subject, one conversation after another."""
    model.script = proposes(
        *(
            proposal(content, said, predicate=key, subject=subject)
            for content, said, key, subject in told
        )
    )
    say(store, me, *(f"{said}." for _, said, _, _ in told))


BESIDE = {
    "two medicines": (
        ("Takes metoprolol", "I take metoprolol", "medication", "user"),
        ("Takes cetirizine", "I take cetirizine as well", "medication", "user"),
    ),
    "two restrictions": (
        ("Is vegetarian", "I am vegetarian", "dietary_restriction", "user"),
        ("Avoids gluten", "I avoid gluten", "dietary_restriction", "user"),
    ),
    "a town and flatmates": (
        ("Lives in Oslo", "I live in Oslo", "home", "user"),
        (
            "Shares a flat with two students",
            "I share a flat with two students",
            "living_situation",
            "user",
        ),
    ),
    "a town and a street": (
        ("Lives in Oslo", "I live in Oslo", "home", "user"),
        ("The address is Storgata 5", "My address is Storgata 5", "address", "user"),
    ),
    "a job and its hours": (
        ("Works as a nurse", "I work as a nurse", "work", "user"),
        ("Work starts at seven", "My work starts at seven", "work", "user"),
    ),
    "an income and a day": (
        ("Earns 4000 euros", "I earn 4000 euros", "pay", "user"),
        ("Pay day is the 25th", "My pay day is the 25th", "pay", "user"),
    ),
    "two schools": (
        ("Studied at ETH", "I studied at ETH", "school", "user"),
        (
            "The children's school is Riverside",
            "The children's school is Riverside",
            "school",
            "user",
        ),
    ),
    "a wife and a former husband": (
        ("Wife is Mia", "My wife is Mia", "wife", "user"),
        ("Former husband is Tom", "My former husband is Tom", "husband", "user"),
    ),
    "a second employer": (
        ("Works at Acme", "I work at Acme", "employer", "user"),
        ("Works at Globex", "I also work at Globex", "employer", "user"),
    ),
    "ein zweiter Beruf": (
        ("Arbeitet als Lehrer", "Ich arbeite als Lehrer", "beruf", "user"),
        ("Arbeitet als Übersetzer", "Ich arbeite auch als Übersetzer", "beruf", "user"),
    ),
    "otro trabajo": (
        ("Trabaja en Acme", "Trabajo en Acme", "empresa", "user"),
        ("Trabaja en Globex", "También trabajo en Globex", "empresa", "user"),
    ),
    "un deuxième emploi": (
        ("Travaille chez Acme", "Je travaille chez Acme", "employeur", "user"),
        ("Travaille chez Globex", "Je travaille aussi chez Globex", "employeur", "user"),
    ),
    "a partner who leaves a choir": (
        ("The partner is Kim", "My partner is Kim", "partner", "user"),
        ("Kim dropped out of the choir", "Kim dropped out of the choir", "choir", "Kim"),
    ),
    "a child who is dropped at school": (
        ("Has a daughter, Emma", "I have a daughter, Emma", "child", "user"),
        (
            "Drops Emma at school late every day",
            "I dropped Emma at school late every day",
            "routine",
            "user",
        ),
    ),
    "a town that is left in the morning": (
        ("Grew up in London", "I grew up in London", "childhood", "user"),
        (
            "Commute is two hours",
            "I left London at nine and my commute is two hours",
            "commute",
            "user",
        ),
    ),
    "shares of a maker": (
        ("Drives a Tesla Model 3", "I drive a Tesla Model 3", "car", "user"),
        ("Sold Tesla shares", "I sold Tesla shares", "shares", "user"),
    ),
    "Karten für ein Turnier": (
        ("Fährt einen Golf", "Ich fahre einen Golf", "auto", "user"),
        (
            "Hat Karten für den Golf-Cup verkauft",
            "Ich habe Karten für den Golf-Cup verkauft",
            "karten",
            "user",
        ),
    ),
    "a new thing beside an old one": (
        (
            "Has an old red bicycle in the cellar",
            "I have an old red bicycle in the cellar",
            "bicycle",
            "user",
        ),
        (
            "Keeps a new freezer next to the bicycle in the cellar",
            "I keep a new freezer next to the bicycle in the cellar",
            "freezer",
            "user",
        ),
    ),
    "not at night any more": (
        ("Works at Acme", "I work at Acme", "employer", "user"),
        ("No longer works at night", "I no longer work at night", "night_work", "user"),
    ),
    "an offer": (
        ("Works at Acme in Bergen", "I work at Acme in Bergen", "employer", "user"),
        ("Got an offer from Globex in Lima", "I got an offer from Globex in Lima", "offer", "user"),
    ),
    "a new programme": (
        ("Lives in Oslo", "I live in Oslo", "home", "user"),
        ("Moved to Linux last year", "I moved to Linux last year", "operating_system", "user"),
    ),
    "a stay at a hotel": (
        ("Ole lives in Bergen", "Ole lives in Bergen", "home", "Ole"),
        ("Ole is at a hotel in Lund", "Ole is staying at a hotel in Lund", "trip", "Ole"),
    ),
    "a dinner that was paid": (
        ("Ole owes 50 euros", "Ole owes me 50 euros", "debt", "Ole"),
        ("Ole paid for dinner", "Ole paid for dinner yesterday", "dinner", "Ole"),
    ),
    "a late train": (
        ("Takes the train to Leeds", "I take the train to Leeds", "commute", "user"),
        (
            "The train to Leeds is no longer on time",
            "The train to Leeds is no longer on time",
            "delay",
            "user",
        ),
    ),
    "a height": (
        ("Has six apple trees", "I have six apple trees", "garden", "user"),
        (
            "Planted two pear trees",
            "I planted two pear trees, up to three metres high",
            "pears",
            "user",
        ),
    ),
    "a medicine instead of a rest": (
        ("Takes metoprolol", "I take metoprolol", "medication", "user"),
        (
            "Takes ibuprofen for headaches",
            "I take ibuprofen for headaches instead of going to bed",
            "medication",
            "user",
        ),
    ),
    "a choir that is joined": (
        ("Works at Acme in Bergen", "I work at Acme in Bergen", "employer", "user"),
        ("Joined the choir Vox in Bergen", "I joined the choir Vox in Bergen", "choir", "user"),
    ),
}


@pytest.mark.postgres_long
@pytest.mark.parametrize("pair", BESIDE.values(), ids=BESIDE)
def test_what_does_not_contradict_a_memory_leaves_it(
    open_memory: Open, model: ModelEndpoint, models: Any, pair: Any
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    learn_all(store, me, model, *pair)

    assert contents(me) == sorted(content for content, _, _, _ in pair)


REPLACED = {
    "a bicycle that was stolen": (
        ("Rides a green Brompton to work", "I ride a green Brompton to work", "bicycle", "user"),
        (
            "Walks to work since the Brompton was stolen",
            "The Brompton got stolen in May, so I walk",
            "commute",
            "user",
        ),
    ),
    "ein Auto": (
        ("Fährt einen roten Golf", "Ich fahre einen roten Golf", "auto", "user"),
        ("Hat den Golf verkauft", "Ich habe den Golf verkauft", "verkauf", "user"),
    ),
    "un coche": (
        ("Maneja un Renault", "Manejo un Renault", "coche", "user"),
        ("Vendió el Renault", "Vendí el Renault en mayo", "venta", "user"),
    ),
    "une voiture": (
        ("Conduit une Clio", "Je conduis une Clio", "voiture", "user"),
        ("A vendu la Clio", "J'ai vendu la Clio hier", "vente", "user"),
    ),
    "an instrument": (
        ("Plays the piano", "I play the piano", "instrument", "user"),
        ("No longer plays the piano", "I no longer play the piano", "music", "user"),
    ),
    "ein Instrument": (
        ("Spielt Klavier", "Ich spiele Klavier", "instrument", "user"),
        ("Spielt kein Klavier mehr", "Ich spiele kein Klavier mehr", "musik", "user"),
    ),
    "un instrumento": (
        ("Toca el piano", "Toco el piano", "instrumento", "user"),
        ("Ya no toca el piano", "Ya no toco el piano", "musica", "user"),
    ),
    "un instrument": (
        ("Joue du piano", "Je joue du piano", "instrument", "user"),
        ("Ne joue plus de piano", "Je ne joue plus de piano", "musique", "user"),
    ),
    "a job that somebody gave up": (
        ("Ida is a roofer in Bergen", "Ida is a roofer in Bergen", "job", "Ida"),
        (
            "Ida is training as a pilot in Lund",
            "Ida is training as a pilot in Lund",
            "course",
            "Ida",
        ),
    ),
    "eine eigene Praxis": (
        ("Mia ist Hebamme am Marienspital", "Mia ist Hebamme am Marienspital", "beruf", "Mia"),
        (
            "Mia macht im Mai ihre eigene Praxis auf",
            "Mia macht im Mai ihre eigene Praxis auf",
            "praxis",
            "Mia",
        ),
    ),
    "gekündigt": (
        ("Arbeitet bei Siemens", "Ich arbeite bei Siemens", "employer", "user"),
        ("Hat bei Siemens gekündigt", "Ich habe bei Siemens gekündigt", "kuendigung", "user"),
    ),
    "a home by other words": (
        ("Ole lives in Bergen", "Ole lives in Bergen", "home", "Ole"),
        (
            "Ole moved into a room near Lund",
            "Ole moved out and found a room near Lund",
            "room",
            "Ole",
        ),
    ),
    "una casa": (
        ("La abuela vive en Lugo", "La abuela Pilar vive en Lugo", "home", "Pilar"),
        (
            "Pilar se mudó a una residencia en Vigo",
            "Pilar se mudó a una residencia en Vigo",
            "geriatrico",
            "Pilar",
        ),
    ),
    "un logement": (
        ("Léon habite à Brest", "Léon habite à Brest", "domicile", "Léon"),
        (
            "Léon vit depuis juin chez sa sœur à Nantes",
            "Léon vit depuis juin chez sa sœur à Nantes",
            "chez_qui",
            "Léon",
        ),
    ),
    "a medicine instead of another": (
        ("Takes metoprolol for the heart", "I take metoprolol for the heart", "medication", "user"),
        (
            "Takes bisoprolol",
            "I take bisoprolol because the old tablets stopped working",
            "heart_prescription",
            "user",
        ),
    ),
    "a debt": (
        ("Tom owes 80 euros", "Tom owes me 80 euros", "debt", "Tom"),
        ("Tom paid everything", "Tom has paid me everything", "payment", "Tom"),
    ),
    "an amount": (
        ("May lift 10 kilos", "I may lift 10 kilos", "back_injury", "user"),
        ("May lift 15 kilos", "The physio has me up to 15 kilos", "lifting", "user"),
    ),
}


@pytest.mark.postgres_long
@pytest.mark.parametrize("pair", REPLACED.values(), ids=REPLACED)
def test_words_that_tell_of_a_change_replace_the_memory_under_another_attribute(
    open_memory: Open, model: ModelEndpoint, models: Any, pair: Any
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    learn_all(store, me, model, *pair)

    assert contents(me) == [pair[1][0]]


@pytest.mark.parametrize(
    "said",
    [
        ("I work at Acme as an engineer.", "I also work at Globex on weekends."),
        ("I work as a teacher.", "I also work as a translator."),
        ("I work as a teacher.", "I have a second job as a translator."),
    ],
)
def test_a_second_job_leaves_the_first_without_a_model(
    open_memory: Open, said: tuple[str, str]
) -> None:
    store = open_memory()
    me = store.for_user("ada")
    say(store, me, said[0])
    first = contents(me)
    say(store, me, said[1])

    assert first
    assert set(first) <= set(contents(me))


@pytest.mark.parametrize(
    ("first", "then", "known"),
    [
        (
            "Ich arbeite bei Siemens.",
            "Ich habe bei Siemens gekündigt.",
            "Ich habe bei Siemens gekündigt",
        ),
        ("I play the piano.", "I no longer play the piano.", "No longer plays the piano"),
        ("Ich spiele Klavier.", "Ich spiele kein Klavier mehr.", "Ich spiele kein Klavier mehr"),
    ],
)
def test_what_is_over_is_not_told_without_a_model(
    open_memory: Open, first: str, then: str, known: str
) -> None:
    store = open_memory()
    me = store.for_user("ada")
    say(store, me, first, then)

    assert contents(me) == [known]


def test_an_update_about_the_user_leaves_the_memory_about_somebody_else(
    open_memory: Open, model: ModelEndpoint, models: Any
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    me.remember("Ida is vegan", subject="Ida", predicate="diet")
    model.script = proposes(
        {
            **proposal(
                "No longer vegan", "I'm not vegan any more", updates="Ida is vegan", subject="user"
            ),
            "op": "retract",
        }
    )
    say(store, me, "I'm not vegan any more.")

    assert "Ida is vegan" in contents(me)


def test_the_end_of_a_relationship_ends_the_memory_of_the_partner(
    open_memory: Open, model: ModelEndpoint, models: Any
) -> None:
    store = open_memory(models=models)
    me = store.for_user("ada")
    learn_all(
        store,
        me,
        model,
        ("The partner is Kim", "My partner is Kim", "partner", "user"),
        ("Kim and the user broke up", "Kim and I broke up in May", "breakup", "Kim"),
    )

    assert contents(me) == ["Kim and the user broke up"]
