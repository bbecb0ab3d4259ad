"""A20, A21: the team's pages show what is decided about, and decide it with one press."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.access.keys import CAPABILITIES
from remembrancer.types import TeamOrigin, TeamStatus
from tests.support.http_server import Served
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("A20")

Serve = Callable[..., Served]
PORTS = "The proxy pool uses ports 9000 to 9999."
OTHER_PORTS = "The proxy pool uses ports 8000 to 8999."


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(profile="assistant")


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada", CAPABILITIES)


def test_A20_statistics_are_shown_before_there_is_any_fact(served: Served, ada: Visitor) -> None:
    served.engine.for_user("ada").remember("Ada drinks tea.")
    served.engine.for_user("bob").remember("Bob drinks milk.")
    page = ada.get("/team").text
    assert "<b>2</b> <span>personal</span>" in page
    assert "How team knowledge works" in page
    assert 'action="/team/propose"' in page
    assert "rem propose" not in page

    bob = served.engine.for_user("bob")
    bob.propose(PORTS, origin=TeamOrigin.ASSISTANT)
    bob.propose("Maria Lopez cuts releases.", origin=TeamOrigin.ASSISTANT)
    page = ada.get("/team").text
    assert "It contains the name of a person." in page
    assert '<td data-name="proposed">2</td><td data-name="merged">0%</td>' in page
    assert "Maria" not in page


def test_A20_a_row_shows_its_rival_and_is_decided_with_one_press(
    served: Served, ada: Visitor
) -> None:
    rival = served.engine.for_user("bob").propose(PORTS).fact_id
    served.engine.review().approve(str(rival))
    fact = served.engine.for_user("eve").propose(OTHER_PORTS).fact_id
    queue = ada.get("/team/review").text
    assert f">{PORTS}</a>" in queue
    assert "confidence 0." in queue

    assert ada.send("/team/decide", one=f"reject:{fact}").status_code == 303
    assert served.engine.review().get(str(fact)).fact.status is TeamStatus.REJECTED
    ada.send("/team/decide", one=f"reopen:{fact}")
    ada.send("/team/decide", one=f"approve:{fact}")
    assert served.engine.review().get(str(fact)).fact.status is TeamStatus.APPROVED
    assert ada.send("/team/decide", one=f"burn:{fact}").status_code == 404


def test_A20_a_fact_is_added_by_hand_and_approved_at_once(served: Served, ada: Visitor) -> None:
    eve = Visitor(served, "eve", ("users:view",))
    assert eve.send("/team/propose", content=PORTS, kind="reference").status_code == 303
    ada.send("/team/propose", content=PORTS)
    more = {"content": "Releases are cut from main.", "importance": "5", "approve": "1"}
    assert ada.send("/team/propose", **more).status_code == 303

    shown = {one.fact.content: one.fact for one in served.engine.review().list().items}
    assert {one.status for one in shown.values()} == {TeamStatus.APPROVED}
    assert {one.origin for one in shown.values()} == {TeamOrigin.USER}
    assert shown[PORTS].kind == "reference"
    assert shown["Releases are cut from main."].importance == 5
    refused = ada.send("/team/propose", content="Maria Lopez cuts releases.")
    assert refused.status_code == 400
    assert "It contains the name of a person." in refused.text


def test_A20_only_the_contributions_of_a_person_are_withdrawn(served: Served, ada: Visitor) -> None:
    bob = served.engine.for_user("bob")
    bob.remember("Bob drinks milk.")
    bob.propose(PORTS)
    assert "Withdraw contributions" in ada.get("/team/people/bob").text
    assert ada.send("/team/people/bob/withdraw", name="bop").status_code == 400
    assert served.engine.review().list().items

    assert "Contributions withdrawn" in ada.send("/team/people/bob/withdraw", name="bob").text
    assert not served.engine.review().list().items
    assert len(bob.list().items) == 1


@pytest.mark.feature("A21")
def test_A21_only_profiles_with_a_team_show_its_panels(serve: Serve) -> None:
    served = serve(profile="default")
    ada = Visitor(served, "ada", CAPABILITIES)
    page = ada.get("/settings").text
    assert "Learn about users from their conversations" in page
    assert "Share team knowledge on" not in page
    assert 'href="/team"' not in page
    for path in ("/team", "/team/review", "/team/manage"):
        assert ada.get(path).status_code == 404
    assert ada.get("/team/people").status_code == 200
    assert ada.send("/settings/switches").status_code == 303
    assert not served.engine.review().settings().personal_learning


@pytest.mark.feature("A21")
def test_A21_recall_is_switched_on_every_surface(served: Served, ada: Visitor) -> None:
    numbers = {"dedup_threshold": "0.93", "recall_confidence": "0.3", "limit": "5"}
    for label in ("Claude Code", "LangGraph", "Library"):
        assert label in ada.get("/settings").text
    ada.send("/settings/switches", team_recall=["web", "library"], **numbers)
    settings = served.engine.review().settings()
    assert settings.can_recall("library")
    assert not settings.can_recall("langgraph")
    assert not settings.can_recall("claude-code")
