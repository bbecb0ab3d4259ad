"""The pages of a person with several agents: whose a memory is, how sure, what became of it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.server.pages.filters import PAGE_SIZE
from remembrancer.testing import ModelEndpoint
from remembrancer.types import Maturity, Rule, Status
from tests.support.http_server import Served
from tests.support.plans import plans
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("M15", "M16")

Serve = Callable[..., Served]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(profile="agents")


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada")


def cards(page: str) -> list[str]:
    """The sentences of the memories on a page."""
    return re.findall(r'<p class="sentence"><a [^>]*>(?:<s>)?([^<]*)', page)


def test_M15_memories_are_filtered_by_the_agent_that_they_come_from(
    served: Served, ada: Visitor
) -> None:
    for agent in ("health", "finance"):
        mine = served.engine.for_user("ada", agent=agent)
        for kind in ("fact", "rule", "episode"):
            mine.remember(f"A {kind} from {agent}.", kind=kind, scope="global")
    served.engine.for_user("ada").remember("A fact from nobody.")

    for path, kind in (("/facts", "fact"), ("/playbook", "rule"), ("/episodes", "episode")):
        page = ada.counted(f"{path}?agent=health")
        assert cards(page) == [f"A {kind} from health."]
        assert '<a href="/agents/health/memory">stored by health</a>' in page
        assert '<option value="health" selected>health</option>' in page
        assert '<option value="finance">finance</option>' in page
        shared = [] if kind == "episode" else cards(page)
        assert cards(ada.get(f"/agents/finance{path}?agent=health").text) == shared
    assert len(cards(ada.get("/memory?agent=health").text)) == 3
    assert cards(ada.get("/memory?q=fact&kind=fact&agent=finance").text) == ["A fact from finance."]


def test_M15_an_agent_that_stored_only_shared_memories_is_listed_with_true_counts(
    served: Served, ada: Visitor
) -> None:
    me = served.engine.for_user("ada")
    served.engine.for_user("ada", agent="health").remember("Ada is 180 cm tall.", scope="global")
    served.engine.for_user("ada", agent="cook").remember("The oven runs hot.", scope="cook")
    me.append([{"role": "user", "content": "Good morning."}], "monday")

    page = ada.counted("/agents")

    assert 'href="/memory?scope=global">1 fact</a>' in page
    assert re.search(r">cook</a><span[^>]*><span>own: 1 fact</span>", page)
    assert re.search(r">health</a><span[^>]*><span>own: none</span>", page)
    assert len(cards(ada.get("/memory?scope=global").text)) == 1


def test_M16_an_agents_page_starts_with_what_that_agent_learned_last(
    serve: Serve, model: ModelEndpoint, models: dict[str, Any], tenant: str, clock: ManualClock
) -> None:
    served = serve("agents", models=models)
    health = served.engine.for_user("ada", agent="health")
    for number in range(3):
        health.remember(f"Ada weighs {70 + number} kg on day {number}.")
        clock.advance(timedelta(hours=1))
    health.remember("Ada said that her knee hurts when she runs.", kind="episode")
    learned = {"subject": "ada", "predicate": "knee", "content": "Ada's knee hurts when she runs."}
    model.script = plans({"facts": [learned | {"episodes": ["e1"]}]})
    served.engine.run_job("consolidate", tenant=tenant)
    clock.advance(timedelta(hours=1))
    served.engine.for_user("ada", agent="finance").remember("Ada banks with Lloyds.")
    ada = Visitor(served, "ada")

    page = ada.get("/agents/health/memory").text
    latest = re.findall(r"data-open>([^<]*)</a>", page[page.index("Recently learned") :])[:4]

    assert latest[:3] == [
        "Ada&#39;s knee hurts when she runs.",
        "Ada weighs 72 kg on day 2.",
        "Ada weighs 71 kg on day 1.",
    ]
    assert "Recently learned" not in ada.get("/agents/cook/memory").text
    activity = ada.get("/activity").text
    assert "Consolidated</span>" in activity
    assert "Episodes consolidated</span>" in activity
    assert "Learned from a conversation" not in activity


def test_M15_the_colour_of_a_meter_changes_at_50_and_80_percent(
    served: Served, ada: Visitor
) -> None:
    me = served.engine.for_user("ada")
    steps = {0.81: 6, 0.8: 5, 0.65: 5, 0.5: 4, 0.49: 3, 0.2: 2, 0.1: 1}
    for confidence in steps:
        me.remember(f"Ada has {confidence} of it.", confidence=confidence)

    page = ada.get("/facts?status=fading").text + ada.get("/facts").text

    for confidence, step in steps.items():
        assert re.search(
            rf"Ada has {confidence} of it\.</a>.*?meter confidence step-{step}", page, re.S
        )
    assert "Above 80 %: 1 of 7 facts and rules. Below 50 %: 3." in ada.counted("/memory")


def test_M15_high_confidence_is_green_middling_yellow_and_low_red(ada: Visitor) -> None:
    address = re.search(r'href="(/static/page[^"]*\.css[^"]*)"', ada.get("/facts").text)
    assert address is not None
    sheet = ada.get(address[1]).text
    rules = re.findall(r"^((?:\.step-\d(?:, )?)+) \{ --step: var\(--(\w+)\); \}", sheet, re.M)
    names = {step: name for steps, name in rules for step in re.findall(r"\d", steps)}
    themes = {
        name: re.findall(rf"--{name}: #(..)(..)(..);", sheet) for name in ("good", "warn", "bad")
    }

    assert "".join(names[str(step)][0] for step in range(1, 7)) == "bbbwwg"
    for red, green, blue in ([int(part, 16) for part in one] for one in themes["good"]):
        assert green > max(red, blue), "green"
    for red, green, blue in ([int(part, 16) for part in one] for one in themes["warn"]):
        assert red > green > 1.5 * blue, "yellow"
    for red, green, blue in ([int(part, 16) for part in one] for one in themes["bad"]):
        assert red > 1.5 * max(green, blue), "red"


def test_M15_an_episode_shows_its_importance_and_what_became_of_it(
    serve: Serve, model: ModelEndpoint, models: dict[str, Any], tenant: str, clock: ManualClock
) -> None:
    served = serve("agents", models=models)
    cook = served.engine.for_user("ada", agent="cook")
    cook.remember("Burnt the bread.", kind="episode", importance=8)
    model.script = plans({})
    served.engine.run_job("consolidate", tenant=tenant)
    clock.advance(timedelta(days=2))
    long = "Baked again, " + "and waited, " * 40 + "and it was good."
    cook.remember(long, kind="episode")
    ada, today = Visitor(served, "ada"), clock.now().date()

    page = ada.get("/agents/cook/memory").text
    assert re.search(r'<span class="badge">consolidated</span><span>importance 8</span>', page)
    assert re.search(r'<span class="badge">waiting</span><span>importance 5</span>', page)
    assert f'<summary>Show all</summary><p class="said">{long}</p>' in page
    for query in ("backlog=done", f"until={today - timedelta(days=1)}"):
        assert cards(ada.get(f"/agents/cook/memory?{query}").text) == ["Burnt the bread."]
        assert cards(ada.get(f"/episodes?agent=cook&{query}").text) == ["Burnt the bread."]
    assert "Burnt" not in ada.get(f"/agents/cook/memory?since={today}").text


@pytest.mark.postgres_long
def test_M15_the_playbook_is_filtered_and_a_disabled_rule_is_enabled_again(
    served: Served, ada: Visitor
) -> None:
    me = served.engine.for_user("ada")
    short = me.promote(me.remember("Answer in one sentence.", kind="rule").memory.id).memory
    salt = (
        served.engine.for_user("ada", agent="cook").remember("Taste the soup.", kind="rule").memory
    )
    me.disable(me.remember("Send a summary on Fridays.", kind="rule").memory.id)
    off = me.list(kinds=["rule"], status="disabled").items[0]

    page = ada.counted("/playbook")
    assert page.index("<h2>Established") < page.index("<h2>Candidates") < page.index("<h2>Disabled")
    assert cards(page) == [short.content, salt.content, off.content]
    assert f'action="/memory/{salt.id}/demote"' not in page
    for query, shown in (
        ("maturity=established", short),
        ("maturity=candidate", salt),
        ("agent=cook", salt),
        ("status=disabled", off),
        ("status=disabled&q=summary", off),
        ("q=soup&agent=cook", salt),
    ):
        assert cards(ada.get(f"/playbook?{query}").text) == [shown.content], query
    assert cards(ada.get("/playbook?status=disabled&q=soup").text) == []

    enable = re.search(rf'action="/memory/{off.id}/restore">.*?<button[^>]*>(\w+)<', page, re.S)
    assert enable is not None
    assert enable[1] == "Enable"
    ada.send(f"/memory/{off.id}/restore", back="/playbook")
    page = ada.get("/playbook").text
    assert '<div class="toast" data-seconds="10"><span>Enabled</span>' in page
    assert "<h2>Disabled" not in page


@pytest.mark.postgres_long
def test_M15_a_card_deletes_its_memory_and_offers_to_undo_it(served: Served, ada: Visitor) -> None:
    me = served.engine.for_user("ada")
    tea = me.remember("Ada drinks tea.").memory
    assert f'action="/memory/{tea.id}/delete"' in ada.get("/facts").text

    ada.send(f"/memory/{tea.id}/delete", back="/facts")

    page = ada.get("/facts").text
    assert cards(page) == []
    undo = re.search(r'Moved to trash</span>.*?name="event" value="(event_\w+)"', page, re.S)
    assert undo is not None
    ada.send("/undo", event=undo[1], back="/facts")
    assert me.get(tea.id).status is Status.ACTIVE


@pytest.mark.postgres_long
@pytest.mark.postgres_long
def test_M15_many_new_rules_do_not_hide_a_proven_one(served: Served, ada: Visitor) -> None:
    cook = served.engine.for_user("ada", agent="cook")
    old = cook.promote(cook.remember("Taste the soup.", kind="rule").memory.id).memory
    for number in range(PAGE_SIZE + 1):
        cook.remember(f"Use recipe number {number} on that day.", kind="rule")

    for path in ("/playbook", "/agents/cook/memory"):
        page = ada.get(path).text
        assert len(cards(page)) == PAGE_SIZE + 1
        assert cards(page)[0] == old.content
        assert f'Candidates <span class="count">{PAGE_SIZE}+</span>' in page
        assert '/playbook?maturity=candidate">Show all</a>' in page
    page = ada.get("/playbook?maturity=candidate").text
    rest = re.search(r'<p class="more"><a class="button" href="([^"]+)"', page)
    assert rest is not None
    assert cards(ada.get(html.unescape(rest[1])).text) == ["Use recipe number 0 on that day."]


def test_M16_the_timeline_names_promotions_and_inversions(served: Served, ada: Visitor) -> None:
    me = served.engine.for_user("ada")
    greet = me.remember("Skip the greeting.", kind="rule").memory
    for _ in range(5):
        me.helpful(greet.id)
    assert "Rule promoted</span>" in (page := ada.get("/activity").text)
    assert "<span>candidate to established</span>" in page
    warned: Any = greet
    for number in range(20):
        warned = me.harmful(warned.id, f"guest {number} was hurt").memory
        if isinstance(warned, Rule) and warned.maturity is Maturity.ANTI_PATTERN:
            break
    page = ada.get("/activity").text
    assert "Rule demoted</span>" in page
    assert "Rule became a warning</span>" in page


def test_M16_a_confidence_alert_links_the_memories_that_are_fading(
    served: Served, ada: Visitor, clock: ManualClock, tenant: str
) -> None:
    me = served.engine.for_user("ada")
    for content in ("Ada reads Dune.", "Ada reads Emma.", "Ada reads Ivanhoe."):
        me.remember(content, permanence="volatile")
    clock.advance(timedelta(days=60))
    served.engine.run_job("decay_sweep", tenant=tenant)
    page = ada.get("/activity").text
    alert = page[page.index("Confidence alert: 3 memories are fading") :]
    assert {"Dune", "Emma", "Ivanhoe"} <= {*re.findall(r"data-open>Ada reads (\w+)\.<", alert)}
    assert len(cards(ada.get("/memory?status=fading").text)) == 3
