"""The pages and the API say where a memory comes from, down to the episode and the session."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from remembrancer.types import Kind
from tests.assistant.talk import chat_of, say
from tests.support.http_server import Served
from tests.support.plans import name_of, plans
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("M15", "M16", "P1")

LINKED = re.compile(r'href="(/conversations/[^"#]+)')
HABIT = {
    "subject": "user",
    "predicate": "workflow",
    "content": "Runs the tests before a commit",
    "episodes": ["e1", "e2"],
}


@pytest.fixture
def served(serve: Callable[..., Served], models: dict[str, Any]) -> Served:
    return serve("agents", models=models)


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada")


def concluded_from_two_sessions(served: Served, model: ModelEndpoint) -> Memory:
    """The agent coder, with a fact from episodes of two sessions whose turns are not stored."""
    coder = served.engine.for_user("ada", agent="coder", surface="mcp")
    for number in (1, 2):
        said = f"The user runs the tests before a commit, session {number}."
        coder.remember(said, kind="episode", session_id=f"cc-session-{number}")
    model.script = plans({"facts": [HABIT]})
    coder.consolidate()
    return coder


def test_a_conclusion_leads_to_its_episodes_and_their_sessions(
    served: Served, ada: Visitor, model: ModelEndpoint
) -> None:
    coder = concluded_from_two_sessions(served, model)
    (fact,) = coder.list(kinds=[Kind.FACT]).items

    page = ada.get(f"/memory/{fact.id}").text

    assert "Concluded from 2 episodes of coder" in page
    assert "Saved directly" not in page
    sessions = set(LINKED.findall(page))
    assert sessions == {"/conversations/cc-session-1", "/conversations/cc-session-2"}
    for session in sessions:
        shown = ada.get(session)
        assert shown.status_code == 200
        assert HABIT["content"] in shown.text
        assert f"session {session[-1]}." in shown.text
    assert ada.get("/conversations/cc-session-3").status_code == 404
    assert Visitor(served, "bob").get("/conversations/cc-session-1").status_code == 404
    coder.forget(fact.id)
    coder.forget_all(kinds=["episode"])
    assert ada.get("/conversations/cc-session-1").status_code == 200


@pytest.mark.feature("P2")
def test_new_words_do_not_come_from_what_the_old_words_came_from(
    served: Served, ada: Visitor, model: ModelEndpoint, clock: ManualClock
) -> None:
    diet = {"subject": "user", "predicate": "diet", "episodes": ["e1"]}
    for agent, session, said, concluded in (
        ("health", "mon", "They said that they are vegetarian.", "Is vegetarian"),
        ("finance", "tue", "They said that they eat fish again.", "Eats fish again"),
    ):
        me = served.engine.for_user("ada", agent=agent, surface="mcp")
        me.remember(said, kind="episode", session_id=session)
        model.script = plans({"facts": [diet | {"content": concluded}]})
        me.consolidate()
        clock.advance(timedelta(days=1))

    (fact,) = me.list(kinds=[Kind.FACT]).items
    page = ada.get(f"/memory/{fact.id}").text

    assert "Concluded from 1 episode of finance" in page
    assert "They said that they are vegetarian." not in page
    assert "Eats fish again" not in ada.get("/conversations/mon").text
    assert "Eats fish again" in ada.get("/conversations/tue").text
    ada.send(f"/memory/{fact.id}/edit", content="Eats fish on Fridays")
    (edited,) = me.list(kinds=[Kind.FACT]).items
    assert "Saved directly" in ada.get(f"/memory/{edited.id}").text
    assert {one.relation for one in me.links(edited.id)} == {"supersedes"}
    assert "Eats fish on Fridays" not in ada.get("/conversations/tue").text


@pytest.mark.parametrize("again", ["facts", "confirmations"])
def test_what_is_concluded_again_comes_from_both_episodes(
    served: Served, ada: Visitor, model: ModelEndpoint, again: str
) -> None:
    diet = {"subject": "user", "predicate": "diet", "content": "Is vegetarian", "episodes": ["e1"]}
    model.script = plans({"facts": [diet]})
    health = served.engine.for_user("ada", agent="health", surface="mcp")
    health.remember("They are vegetarian.", kind="episode", session_id="mon")
    health.consolidate()
    finance = served.engine.for_user("ada", agent="finance", surface="mcp")
    finance.remember("They say again: vegetarian.", kind="episode", session_id="tue")
    if again == "confirmations":
        model.script = plans(lambda shown: {again: [name_of(shown, "Is vegetarian")]})

    finance.consolidate()

    (fact,) = finance.list(kinds=[Kind.FACT]).items
    page = ada.get(f"/memory/{fact.id}").text
    assert "Concluded from 2 episodes just now" in page
    assert "They are vegetarian." in page
    assert "They say again: vegetarian." in page
    assert "Is vegetarian" in ada.get("/conversations/tue").text
    finance.undo()
    assert "Is vegetarian" not in ada.get("/conversations/tue").text


def test_the_api_says_where_memories_come_from(served: Served, model: ModelEndpoint) -> None:
    concluded_from_two_sessions(served, model)
    client = served.of("ada")
    body = {"content": "The build takes nine minutes"}
    named = {"X-Session-Id": "cc-session-1"}
    client.post("/api/agents/coder/remember", json=body, headers=named)
    refused = client.post("/api/remember", json=body, headers={"X-Session-Id": "x" * 201})
    assert refused.status_code == 400

    found = client.get("/api/sessions/cc-session-1/memories").json()["items"]

    told = {one["content"]: one["provenance"] for one in found}
    assert len(told) == 3
    built = told["The build takes nine minutes"]
    assert (built["kind"], built["agent"], built["description"]) == (
        *("stored", "coder"),
        "stored by coder",
    )
    concluded = told[HABIT["content"]]
    assert (concluded["kind"], len(concluded["episodes"])) == ("concluded", 2)
    asked = {"query": "How long does the build take?", "explain": True}
    why = client.post("/api/recall", json=asked).json()["items"][0]["why"]
    assert why["provenance"]["session_id"] == "cc-session-1"


def test_cards_say_who_stored_a_memory(served: Served, ada: Visitor) -> None:
    health = served.engine.for_user("ada", agent="health", surface="mcp")
    fact = health.remember("Is lactose intolerant").memory
    ada.send(f"/memory/{fact.id}/edit", content="Is allergic to milk")

    assert ">stored by health</a>" in ada.get("/facts?status=superseded").text
    assert "<span>saved directly</span>" in ada.get("/facts").text


def test_a_card_links_an_agent_only_where_it_names_one(served: Served, ada: Visitor) -> None:
    served.engine.for_user("ada", agent="rect", surface="web").remember("Likes tea")

    assert "<span>saved directly</span>" in ada.get("/facts").text


@pytest.mark.feature("M11")
@pytest.mark.parametrize("kind", ["fact", "rule"])
def test_what_a_person_writes_on_the_page_of_an_agent_is_their_own_word(
    served: Served, ada: Visitor, model: ModelEndpoint, kind: str
) -> None:
    health = served.engine.for_user("ada", agent="health", surface="mcp")
    old = health.remember("Eats anything", kind=kind).memory
    ada.send(f"/agents/health/memory/{old.id}/edit", content="Is vegetarian")
    health.remember("Please note that they eat fish again.", kind="episode")

    def plan(shown: str) -> dict[str, Any]:
        target = name_of(shown, "Is vegetarian")
        return {"updates": [{"target": target, "content": "Eats fish again", "episodes": ["e1"]}]}

    model.script = plans(plan)
    health.consolidate()

    (kept,) = health.list(kinds=["fact", "rule"]).items
    assert kept.content == "Is vegetarian"
    assert "Saved directly" in ada.get(f"/memory/{kept.id}").text
    assert "Recently learned" not in ada.get("/agents/health/memory").text


def test_a_conversation_shows_what_was_saved_in_it(
    served: Served, ada: Visitor, model: ModelEndpoint
) -> None:
    chat = chat_of(served.engine)
    say(chat, "Remember that I am allergic to walnuts.")

    page = ada.get(f"/conversations/{chat.session}").text

    assert "Is allergic to walnuts" in page
    assert "<span>you said so</span>" in page
