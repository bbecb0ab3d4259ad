"""What was learned in doubt is reviewed on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.memory import Memory
from tests.support.http_server import Served
from tests.support.unconfirmed import learn_in_doubt
from tests.support.visitor import Visitor

pytestmark = pytest.mark.postgres_long

REVIEW = "/facts?status=unconfirmed"


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve(profile="agents")


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada")


def test_the_overview_counts_them_and_shows_the_newest(me: Memory, ada: Visitor) -> None:
    me.remember("Drinks tea")
    assert "not sure about" not in ada.counted("/memory")
    learn_in_doubt(me, "Lives in Lisbon", said="I would move to Lisbon at once!")

    page = ada.counted("/memory")

    assert "1 thing I am not sure about" in page
    assert "You may have meant this hypothetically." in page
    assert "“I would move to Lisbon at once!”" in page
    assert REVIEW not in page

    for number in range(4):
        learn_in_doubt(me, f"Owns boat {number}", importance=1)
    page = ada.counted("/memory")
    assert "5 things I am not sure about" in page
    assert f'href="{REVIEW}"' in page
    assert page.count(">Keep</button>") == 3


def test_the_facts_page_leads_to_them(me: Memory, ada: Visitor) -> None:
    me.remember("Drinks tea")
    learn_in_doubt(me, "Lives in Lisbon", "other_person")

    facts, review = ada.counted("/facts"), ada.counted(REVIEW)

    assert "1 fact to review" in facts
    assert "Lives in Lisbon" not in facts
    assert "This may be about another person." in review
    assert "Drinks tea" not in review
    for label in ("Keep", "Forget", "Edit"):
        assert f">{label}<" in review


def test_keeping_forgetting_and_correcting_can_be_undone(me: Memory, ada: Visitor) -> None:
    home, boat, bike = (
        learn_in_doubt(me, words) for words in ("Lives in Lisbon", "Owns a boat", "Owns a bike")
    )

    kept = ada.send(f"/memory/{home.id}/confirm", back=REVIEW)
    ada.send(f"/memory/{boat.id}/forget", back=REVIEW)
    ada.send(f"/memory/{bike.id}/edit", content="Owns a tricycle")

    assert kept.headers["location"] == REVIEW
    assert "Nothing to review" in ada.get(REVIEW).text
    facts = ada.get("/facts").text
    assert "Lives in Lisbon" in facts
    assert "Owns a tricycle" in facts
    for _ in range(3):
        ada.send("/undo")
    review = ada.get(REVIEW).text
    for words in ("Lives in Lisbon", "Owns a boat", "Owns a bike"):
        assert words in review


def test_its_page_says_why_and_offers_no_restore(me: Memory, ada: Visitor) -> None:
    one = learn_in_doubt(me, "Lives in Lisbon", "dates", said="I moved there in May or June.")

    page = ada.get(f"/memory/{one.id}").text

    assert "Not confirmed. The dates may be wrong." in page
    assert "No assistant is told of it until you keep it." in page
    assert "I moved there in May or June." in page
    assert ">Keep</button>" in page
    assert ">Restore</button>" not in page
    assert "Confidence over time" not in page


def test_the_activity_says_that_it_was_in_doubt(me: Memory, ada: Visitor) -> None:
    learn_in_doubt(me, "Lives in Lisbon")

    assert "Learned in doubt" in ada.get("/activity").text


def test_an_agent_has_its_own_to_review(served: Served, ada: Visitor) -> None:
    learn_in_doubt(served.engine.for_user("ada", agent="kitchen"), "Owns a pan", scope="kitchen")

    assert "Owns a pan" in ada.get("/agents/kitchen/facts?status=unconfirmed").text
