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
