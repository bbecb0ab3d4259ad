"""A11: an assistant has the tools `remember`, `recall_memory` and `forget_memory`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from tests.mcp.talk import Talk, contents, inside, principal
from tests.support.files import bytes_of

pytestmark = pytest.mark.feature("A11")

CACHE = "The build cache lives for 14 days."


@pytest.fixture
def engine(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("assistant")


@pytest.fixture
def talk(engine: Remembrancer) -> Iterator[Talk]:
    with inside(engine, principal(engine)) as talk:
        yield talk


def test_A11_the_tools_are_these(talk: Talk) -> None:
    assert {"remember", "recall_memory", "forget_memory"} <= set(talk.tools())


def test_A11_what_is_remembered_is_recalled_at_once(talk: Talk) -> None:
    done = talk.call("remember", content="Prefers trains to planes.", category="preference")
    assert done["done"] == "remembered"

    (found,) = talk.call("recall_memory", query="how do I like to travel?")["items"]
    assert (found["content"], found["category"]) == ("Prefers trains to planes.", "preference")


def test_A11_a_restated_fact_replaces_the_old_one(talk: Talk) -> None:
    old = talk.call("remember", content="The team meets on Tuesdays at ten.")
    new = talk.call("remember", content="The team meets on Tuesdays at ten o'clock.")

    assert new["replaced"] == old["id"]
    found = contents(talk.call("recall_memory", query="team meeting"))
    assert found == ["The team meets on Tuesdays at ten o'clock."]


def test_A11_forgetting_takes_the_closest_match_and_says_which(talk: Talk) -> None:
    talk.call("remember", content="Allergic to peanuts.")
    talk.call("remember", content="Born in Graz.")

    done = talk.call("forget_memory", query="peanut allergy")

    assert done["content"] == "Allergic to peanuts."
    assert "peanuts" not in talk.says("recall_memory", query="allergies")
    assert "Graz" in talk.says("recall_memory", query="place of birth")


@pytest.mark.feature("A2", "A22")
@pytest.mark.parametrize("request_", [{"all": True}, {"query": "everything about me"}], ids=str)
def test_A11_all_is_erased_for_good_once_its_code_is_repeated(
    talk: Talk, engine: Remembrancer, request_: dict[str, Any], place: str
) -> None:
    for content in ("Allergic to tamarillos.", "Born in Graz.", "Has two cats."):
        talk.call("remember", content=content)
    assert talk.call("propose_to_team", content=CACHE)["verdict"] == "pending"

    said = talk.says("forget_memory", **request_)
    asked = talk.call(
        "forget_memory", **request_, **({"confirm": "yes"} if "all" in request_ else {})
    )

    assert "3 memories" in said
    assert "1 team fact that only you told" in said
    assert repr(asked["code"]) in said
    assert len(engine.for_user("ada").list().items) == 3
    talk.call("remember", content="Plays the cello.")
    late = talk.call("forget_memory", all=True, confirm=asked["code"])
    assert "4 memories" in late["content"], "what has come since is not erased unasked"
    assert talk.call("forget_memory", all=True, confirm=late["code"])["done"] == "erased"
    assert talk.call("recall_memory", query="anything about me")["items"] == []
    assert engine.review().list().items == ()
    assert b"tamarillos" not in bytes_of(place)


def test_A11_all_must_be_said_and_nothing_else_with_it(talk: Talk) -> None:
    kept = talk.call("remember", content="Born in Graz.")
    for arguments in ({}, {"all": False}, {"all": True, "query": "Graz"}):
        assert talk.fails("forget_memory", **arguments)["code"] == "bad_input"
    assert talk.fails("forget_memory", query="quantum chromodynamics")["code"] == "not_found"

    assert talk.call("recall_memory", query="Graz")["items"][0]["id"] == kept["id"]


def test_A11_forgetting_is_for_oneself_alone(talk: Talk, engine: Remembrancer) -> None:
    bob = engine.for_user("bob")
    bob.remember("Allergic to peanuts.")

    talk.call("remember", content="Born in Graz.")
    code = talk.call("forget_memory", all=True)["code"]
    talk.call("forget_memory", all=True, confirm=code)

    assert not engine.for_user("ada").list().items
    assert len(bob.list().items) == 1


def test_A11_nothing_is_remembered_that_is_never_recalled(
    talk: Talk, open_memory: Callable[..., Remembrancer]
) -> None:
    offered = talk.tools()["remember"].input_schema["properties"]
    assert "kind" not in offered
    assert "episode" in offered["category"]["enum"]
    assert talk.fails("remember", content="Climbed Etna.", kind="episode")["code"] == "bad_input"

    talk.call("remember", content="Climbed Etna in June.", category="episode")
    assert contents(talk.call("recall_memory", query="Etna")) == ["Climbed Etna in June."]


def test_A11_a_correction_names_what_it_replaces(talk: Talk, engine: Remembrancer) -> None:
    old = talk.call("remember", content="Works mostly on the iOS app.")
    new = talk.call("remember", content="Works on the dashboard.", replaces="iOS app")

    assert new["replaced"] == old["id"]
    assert contents(talk.call("recall_memory", query="work")) == ["Works on the dashboard."]
    assert len(engine.for_user("ada").history(new["id"]).versions) == 2


def test_A2_what_a_model_passes_on_in_the_first_person_is_restated(talk: Talk) -> None:
    done = talk.call("remember", content="I always want HAR exports, not screenshots.")
    talk.call("remember", content="The user always wants window seats.")

    found = talk.call("recall_memory", query="what does the user want?")["items"]
    assert done["content"] == "Always wants HAR exports, not screenshots"
    assert {(one["content"], one["category"]) for one in found} == {
        ("Always wants HAR exports, not screenshots", "preference"),
        ("The user always wants window seats.", "preference"),
    }


@pytest.mark.feature("X2")
def test_A11_tools_of_memory_and_team_look_back(
    talk: Talk, engine: Remembrancer, clock: ManualClock
) -> None:
    me, review = engine.for_user("ada"), engine.review("root")
    topic = {"subject": "ada", "predicate": "home"}
    me.remember("Ada lives in Oslo.", **topic)
    proposed = str(me.propose("The proxy pool uses ports 9000 to 9999.").fact_id)
    review.approve(proposed)
    clock.advance(timedelta(days=1))
    me.remember("Ada lives in Lima.", **topic)
    review.edit(proposed, "The proxy pool uses ports 7000 to 7999.")
    clock.advance(timedelta(days=1))

    def look(**then: str) -> list[str]:
        answers = (
            talk.says("recall_memory", query="Where does Ada live?", **then),
            talk.says("ask_team", query="Which ports does the proxy pool use?", **then),
            talk.says("list_team_memories", **then),
        )
        known = ("Oslo", "Lima", "9000", "7000")
        return [" ".join(one for one in known if one in answer) for answer in answers]

    assert look(as_of="2026-03-01") == ["", "", ""]
    assert look(as_of="2026-03-02") == ["Oslo", "9000", "9000"]
    assert look(as_of="2026-03-03") == look() == ["Lima", "7000", "7000"]
    assert look(true_at="2026-03-02") == ["Oslo", "7000", "7000"]
