"""What a person sees of their memory, their agents and their team on the pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.access.keys import CAPABILITIES
from remembrancer.clock import ManualClock
from remembrancer.testing import ModelEndpoint, says
from remembrancer.types import TeamOrigin
from tests.support.http_server import Served
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("A19", "A20", "I3", "M15", "M16", "P8", "P13", "P17")

Serve = Callable[..., Served]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(
        profile="agents", time_zone="Asia/Tokyo", profile_overrides={"team": {"enabled": True}}
    )


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada", CAPABILITIES)


def test_A19_origin_is_a_badge_and_a_filter(served: Served, ada: Visitor) -> None:
    bob = served.engine.for_user("bob")
    bob.propose("Deploys are frozen on Fridays.")
    bob.propose("The staging database is reset at two.", origin=TeamOrigin.AGENT)
    assert '<span class="badge origin">agent</span>' in ada.get("/team/review").text
    page = ada.get("/team/manage?origin=agent").text
    assert "staging database" in page
    assert "Deploys" not in page


def test_A20_single_sources_are_filtered_and_several_are_decided_at_once(
    served: Served, ada: Visitor
) -> None:
    eve = Visitor(served, "eve", ("users:view",))
    facts = []
    for content in ("Deploys are frozen on Fridays.", "The mill is the part that computes."):
        facts.append(served.engine.for_user("bob").propose(content).fact_id)
    assert "1 contributor" in eve.get("/team/review?show=single").text
    assert eve.send("/team/decide", do="approve", id=facts).status_code == 403
    assert ada.send("/team/decide", do="approve", id=facts).status_code == 303
    assert "<b>2</b> <span>approved</span>" in ada.get("/team").text
    ada.send("/team/decide", do="reopen", id=facts[0])
    assert "Deploys" in ada.get("/team/review").text
    ada.send("/team/decide", do="delete", id=facts)
    assert "No team knowledge yet" in ada.get("/team").text


@pytest.mark.postgres_long
def test_I3_settings_and_instances_warn_when_nothing_can_be_embedded(serve: Serve) -> None:
    nowhere = {"provider": "openai", "model": "small", "url": "http://127.0.0.1:9/v1"}
    served = serve(profile="instances")
    ada = Visitor(served, "ada")
    assert "Embedding fails" not in ada.get("/instances").text
    broken = served.engine.settings.embedding.model_validate(nowhere)
    served.engine.settings = served.engine.settings.model_copy(update={"embedding": broken})
    shown = (ada.get("/instances").text for _ in range(30))  # a page does not wait for long
    assert any("Embedding fails" in page for page in shown)
    assert "Embedding fails" in ada.get("/settings").text


def test_M15_an_agents_page_has_facts_by_subject_rules_by_maturity_and_episodes(
    served: Served, ada: Visitor
) -> None:
    kitchen = served.engine.for_user("ada", agent="kitchen")
    old = kitchen.remember("The oven is cold.", subject="oven", predicate="is").memory
    kitchen.remember("The oven runs hot.", subject="oven", predicate="is", permanence="stable")
    kitchen.remember("Taste before salting.", kind="rule")
    kitchen.remember("Burnt the bread.", kind="episode")
    for place in ("/agents/kitchen/memory", "/butlers/kitchen/memory"):
        page = ada.get(place).text
        assert "<h2>oven" in page
        assert '<span class="badge">stable</span>' in page
        assert f'/agents/kitchen/memory/{old.id}" data-open>The oven is cold.' in page
        assert "<h3>Candidates" in page
        assert "Burnt the bread." in page


def test_M15_the_overview_counts_searches_and_tells_what_happened(
    served: Served, ada: Visitor
) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada drinks tea.", permanence="volatile")
    me.remember("Answer in one sentence.", kind="rule")
    page = ada.counted("/memory")
    labels = ("<b>1</b> <span>facts</span>", "1 candidate<", "Fading soon", "Do the rules help?")
    for shown in labels:
        assert shown in page
    assert "How sure the memories are" in page
    assert "No episodes waiting" in page
    assert "Ada drinks tea." in ada.get("/memory?q=tea&kind=fact&permanence=volatile").text
    assert "Ada drinks tea." not in ada.get("/memory?q=tea&kind=rule").text


def test_M15_a_memory_shows_its_life_its_links_and_what_it_replaced(
    served: Served, ada: Visitor, clock: ManualClock
) -> None:
    me = served.engine.for_user("ada")
    old = me.remember("Ada lives in London.", subject="ada", predicate="lives_in").memory
    clock.advance(timedelta(days=3))
    new = me.update(old.id, "Ada lives in Ockham.").memory
    rule = me.remember("Send letters to Ockham.", kind="rule").memory
    me.link(rule.id, new.id)
    me.harmful(rule.id, "it was the old house")
    page = ada.get(f"/memory/{new.id}").text
    for shown in (
        "Confidence over time",
        "Linked memories",
        "Send letters to Ockham.",
        "Versions",
    ):
        assert shown in page
    assert f'<a href="/memory/{old.id}" data-open><s>Ada lives in London.</s>' in page
    assert f'Replaced by <a href="/memory/{new.id}"' in ada.get(f"/memory/{old.id}").text
    assert "it was the old house" in ada.get(f"/memory/{rule.id}").text


def test_M16_a_conversation_shows_what_was_remembered_and_a_memory_where_it_was_said(
    served: Served, ada: Visitor
) -> None:
    me = served.engine.for_user("ada")
    me.learn([{"role": "user", "content": "I am allergic to walnuts."}], "dinner", title="Dinner")
    me.close("dinner")
    me._learner.drain()
    learned = me.list(kinds=["fact"]).items[0]
    assert learned.content in ada.get("/conversations/dinner").text
    page = ada.get(f"/memory/{learned.id}").text
    assert "<mark>I am allergic to walnuts" in page
    assert 'href="/conversations/dinner#turn_' in page
    found = ada.get("/palette.json?q=walnuts").json()["items"]
    assert {"kind": "fact", "name": learned.content, "href": f"/memory/{learned.id}"} in found
    assert learned.content in ada.get("/activity").text


def test_P8_the_journal_groups_memories_and_brings_back_what_was_forgotten(
    served: Served, ada: Visitor, clock: ManualClock
) -> None:
    me = served.engine.for_user("ada")
    ada.send("/chat/monday", text="Remember that I only do funds.")
    (kept,) = me.list().items
    gone = me.remember("Likes gold.").memory
    me.forget(gone.id)
    page = ada.get("/journal/memory").text
    assert "Recently forgotten" in page
    assert "valid since" in page
    assert 'href="/conversations/monday"' in page
    assert "Remember that I only do funds." in ada.get("/conversations/monday").text
    ada.send(f"/memory/{gone.id}/restore")
    assert "Recently forgotten" not in ada.get("/journal/memory").text
    assert {one.id for one in me.list().items} == {kept.id, gone.id}


def test_P8_the_journal_marks_what_a_new_chat_starts_with(serve: Serve) -> None:
    served = serve("advisor")
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    loaded = me.remember("Only funds.", category="finance_context").memory
    doubtful = me.remember("Likes gold.", source="extracted", confidence=0.6).memory
    long = me.remember("x" * 900, category="response_style").memory
    assert me.context().memories == (loaded.id,)

    page = ada.get("/journal/memory").text

    assert re.findall(
        r'/memory/(fact_\w+)" data-open>.*?<span class="badge (\w+)"', page, re.S
    ) == [
        (loaded.id, "loaded"),
        (long.id, "recalled"),
        (doubtful.id, "recalled"),
    ]
    assert "New chats start with those marked" in page


def test_P8_the_page_of_a_memory_says_until_when_new_chats_start_with_it(
    serve: Serve, clock: ManualClock
) -> None:
    served = serve("advisor")
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    said = me.remember("Only funds.").memory
    learned = me.remember("Likes gold.", source="extracted", confidence=0.8).memory
    doubtful = me.remember("Likes bonds.", source="extracted", confidence=0.1).memory

    assert "It never fades." in ada.get(f"/memory/{said.id}").text
    assert "New chats start with it until 19" in ada.get(f"/memory/{learned.id}").text
    page = ada.get(f"/memory/{doubtful.id}").text
    assert "too uncertain for new chats to start with. It is recalled when needed." in page
    assert "in new chats above" in page
    assert "fading" not in ada.get("/journal/memory").text
    assert "recalled at any confidence" in ada.get("/how-it-works").text

    clock.advance(timedelta(days=90))
    assert "It is recalled when needed." in ada.get(f"/memory/{learned.id}").text


def test_P8_a_row_of_the_journal_is_deleted_into_the_trash_with_an_undo(serve: Serve) -> None:
    served = serve("advisor")
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    kept = me.remember("Only funds.", category="finance_context").memory
    here = "/journal/memory"
    assert f'action="/memory/{kept.id}/delete"' in ada.get(here).text

    answer = ada.send(f"/memory/{kept.id}/delete", back=here)

    page = ada.get(answer.headers["location"]).text
    assert "Moved to trash" in page
    assert 'action="/undo"' in page
    assert "Only funds." not in page
    assert "Only funds." in ada.get("/trash").text
    me.undo()
    assert "Only funds." in ada.get(here).text


def test_P8_what_is_in_the_trash_is_deleted_for_good_after_a_question(serve: Serve) -> None:
    served = serve("advisor")
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    funds = me.remember("Only funds.", category="finance_context").memory
    bonds = me.remember("Never bonds.", category="finance_context").memory
    me.append([{"role": "user", "content": "What is gold?"}], "gold", title="On gold")
    me.delete(funds.id)
    me.forget(bonds.id)
    me.delete_session("gold")
    assert ada.get("/trash").text.count('action="/trash/delete"') == 3

    asked = ada.send("/trash/delete", id=funds.id).text
    assert "cannot be undone" in asked
    assert "Only funds." in asked
    for field in ({"id": funds.id}, {"id": bonds.id}, {"session": "gold"}):
        assert ada.send("/trash/delete", sure="yes", back="/trash", **field).status_code == 303

    page = ada.get("/trash").text
    assert "The trash is empty" in page
    assert not any(words in page for words in ("Only funds.", "Never bonds.", "On gold"))


def test_P13_a_conversation_that_is_summarised_says_so_and_keeps_every_message(
    serve: Serve, models: dict[str, Any], model: ModelEndpoint
) -> None:
    sizes = {"sessions": {"context_tokens": 600}}
    served = serve("advisor", models=models, profile_overrides=sizes)
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    turns = [{"role": "user", "content": f"Number {one} is {'large ' * 40}"} for one in range(12)]
    model.default = says({"operations": [], "summary": "About numbers."})
    me.append(turns[:6], "long", title="Numbers")
    me.close("long")
    served.engine.flush()
    assert me.session("long").summary == "About numbers."
    assert "This conversation is long" not in ada.get("/conversations/long").text
    me.append(turns[6:], "long")
    model.default = says({"summary": "Twelve large numbers."})
    hidden = me.view("long").hidden
    page = ada.get("/conversations/long").text
    assert f"The model sees a summary of the first {hidden} messages" in page
    assert "Twelve large numbers." in page
    assert all(f"Number {one} is" in page for one in range(12))


def test_P17_times_are_shown_where_the_person_is(
    served: Served, ada: Visitor, clock: ManualClock
) -> None:
    kept = served.engine.for_user("ada").remember("Ada drinks tea.").memory
    there = kept.recorded_at + timedelta(hours=9)
    page = ada.get(f"/memory/{kept.id}").text
    assert f"{there.day} {there:%B} {there.year}, {there:%H:%M}" in page


def test_the_loop_is_drawn_and_told(ada: Visitor) -> None:
    page = ada.get("/how-it-works").text
    assert page.count('class="edge strong"') == 5
    assert "It is recalled" in page
    assert 'href="/how-it-works"' in ada.get("/memory").text


def test_P17_the_chart_of_a_memory_names_the_days_of_the_viewer(
    served: Served, ada: Visitor, clock: ManualClock
) -> None:
    clock.advance(timedelta(hours=8))
    me = served.engine.for_user("ada")
    kept = me.remember("Likes gold.").memory

    page = ada.get(f"/memory/{kept.id}").text

    chart = page[page.index('aria-label="Confidence over time"') :]
    assert ">3 Mar 2026</text>" in chart
    assert '<th scope="row">2026-03-03</th>' in chart
