"""X2 on the pages: what was known, or true, on a day, with a way back to today."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.memory import Memory
from tests.support.http_server import Served
from tests.support.visitor import HOSTILE, Visitor

pytestmark = [pytest.mark.feature("X2"), pytest.mark.postgres_long]

BACK = "Back to today"
LISTS = ("/facts", "/playbook", "/episodes", "/memory", "/agents/kitchen/memory")


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve(profile="agents")


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada")


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


def day_of(clock: ManualClock) -> str:
    return clock.now().date().isoformat()


@pytest.mark.parametrize("path", LISTS)
def test_X2_every_list_of_memories_can_show_a_day(
    ada: Visitor, me: Memory, clock: ManualClock, path: str
) -> None:
    kind = {"/playbook": "rule", "/episodes": "episode"}.get(path, "fact")
    old = me.remember("Ada drinks green tea", kind=kind, permanence="stable").memory
    day = day_of(clock)
    clock.advance(timedelta(days=3))
    me.update(old.id, "Ada drinks black coffee")

    then = ada.get(f"{path}?as_of={day}").text
    assert "green tea" in then
    assert "black coffee" not in then
    assert "This is what was known on 2 Mar 2026." in then
    assert re.search(rf'<a href="{path}[^"?]*">{BACK}</a>', then)
    assert f'href="/agents/kitchen/memory/{old.id}?as_of={day}"' in then or (
        f'href="/memory/{old.id}?as_of={day}"' in then
    )
    assert "/confirm" not in then
    assert f'name="as_of" value="{day}"' in then
    now = ada.get(f"{path}?q=coffee" if path == "/memory" else path).text
    assert "black coffee" in now
    assert BACK not in now


def test_X2_facts_can_be_those_that_were_true_on_a_day(
    ada: Visitor, me: Memory, clock: ManualClock
) -> None:
    key = {"subject": "ada", "predicate": "home"}
    me.remember("Ada lives in Bern.", valid_from=datetime(2026, 1, 1, tzinfo=UTC), **key)
    clock.advance(timedelta(days=1))
    me.remember("Ada lives in Rome.", valid_from=datetime(2026, 2, 1, tzinfo=UTC), **key)
    for path in ("/facts", "/memory"):
        then = ada.get(f"{path}?true_at=2026-01-15").text
        assert "Ada lives in Bern." in then
        assert "Ada lives in Rome." not in then
        assert "This is what was true on 15 Jan 2026, as known today." in then
    both = ada.get("/facts?true_at=2026-02-15&as_of=2026-03-02").text
    assert "Ada lives in Bern." in both
    assert "This is what was true on 15 Feb 2026, as known on 2 Mar 2026." in both


def test_X2_the_playbook_of_a_day_has_the_maturity_of_that_day(
    ada: Visitor, me: Memory, clock: ManualClock
) -> None:
    rule = me.remember("Answer in one sentence first.", kind="rule").memory
    day = day_of(clock)
    clock.advance(timedelta(days=3))
    me.promote(rule.id)

    then, now = ada.get(f"/playbook?as_of={day}").text, ada.get("/playbook").text
    assert "<h2>Candidates " in then
    assert "<h2>Established " not in then
    assert "<h2>Established " in now
    narrowed = ada.get(f"/playbook?as_of={day}&maturity=candidate").text
    assert "Answer in one sentence first." in narrowed


def test_X2_the_page_of_a_memory_shows_the_version_and_state_of_a_day(
    ada: Visitor, me: Memory, clock: ManualClock
) -> None:
    cup = me.remember("The red cup is hers").memory
    old = me.remember("Ada drinks green tea").memory
    day = day_of(clock)
    clock.advance(timedelta(days=3))
    me.link(old.id, cup.id)
    new = me.update(old.id, "Ada drinks black coffee").memory

    for memory_id in (old.id, new.id):
        page = ada.get(f"/memory/{memory_id}?as_of={day}").text
        assert '<h2 class="sentence">Ada drinks green tea</h2>' in page
        assert "black coffee" not in page
        assert "The red cup" not in page
        assert "This is what was known on 2 Mar 2026." in page
        assert f'<a href="/memory/{memory_id}">{BACK}</a>' in page
        assert 'method="post" action="/memory/' not in page
    drawer = ada.get(f"/memory/{old.id}?as_of={day}&part=drawer").text
    assert f'<a href="/memory/{old.id}">{BACK}</a>' in drawer
    assert f'<a href="/memory/{old.id}?as_of={day}">Open as a page</a>' in drawer
    today = ada.get(f"/memory/{old.id}").text
    assert "<s>Ada drinks green tea</s>" in today
    assert BACK not in today
    assert 'name="as_of" value=""' in today
    missing = ada.get(f"/memory/{old.id}?as_of=2026-03-01")
    assert missing.status_code == 404
    assert "was not known on that day" in missing.text


def test_X2_the_page_of_a_memory_shows_the_source_of_that_day(
    ada: Visitor, me: Memory, clock: ManualClock
) -> None:
    episode = me.remember("Ada asked for tea", kind="episode").memory
    fact = me.remember("Ada drinks green tea").memory
    me.link(fact.id, episode.id, "derived_from")
    day = day_of(clock)
    clock.advance(timedelta(days=3))
    me.forget(episode.id)
    page = ada.get(f"/memory/{fact.id}?as_of={day}").text
    assert f'href="/memory/{episode.id}?as_of={day}"' in page


@pytest.mark.parametrize("name", ["as_of", "true_at"])
@pytest.mark.parametrize("value", ["yesterday", "2026-02-30", HOSTILE, "10000-01-01"])
def test_X2_a_day_that_is_none_is_refused(ada: Visitor, me: Memory, name: str, value: str) -> None:
    fact = me.remember("Ada drinks green tea").memory
    for path in ("/facts", "/playbook", "/episodes", "/memory", f"/memory/{fact.id}"):
        answer = ada.client.get(path, params={name: value})
        assert answer.status_code == 400, path
        assert "<script>alert(1)" not in answer.text


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_X2_the_first_and_the_last_day_are_no_server_error(
    ada: Visitor, me: Memory, zone: str
) -> None:
    me.set_time_zone(zone)
    fact = me.remember("Ada drinks green tea").memory
    for day in ("0001-01-01", "9999-12-31"):
        for query in (f"as_of={day}", f"true_at={day}", f"since={day}"):
            for path in ("/facts", "/playbook", f"/memory/{fact.id}"):
                assert ada.get(f"{path}?{query}").status_code in (200, 400, 404)


def test_X2_a_conversation_shows_the_messages_and_memories_of_a_day(
    ada: Visitor, me: Memory, clock: ManualClock
) -> None:
    me.append([{"role": "user", "content": "We sail."}], "trip")
    sea = me.remember("Ada likes the sea", session_id="trip").memory
    day = day_of(clock)
    clock.advance(timedelta(days=3))
    me.append([{"role": "user", "content": "We have moved."}], "trip")
    me.update(sea.id, "Ada likes the lake")

    then = ada.get(f"/conversations/trip?as_of={day}").text
    assert "We sail." in then
    assert "Ada likes the sea" in then
    assert "moved" not in then
    assert "lake" not in then
    assert f'<a href="/conversations/trip">{BACK}</a>' in then
    assert 'action="/conversations/trip/' not in then
    assert (
        f'href="/conversations/trip?as_of={day}"' in ada.get(f"/memory/{sea.id}?as_of={day}").text
    )
    now = ada.get("/conversations/trip").text
    assert "We have moved." in now
    assert BACK not in now
    assert 'action="/conversations/trip/rename"' in now


@pytest.mark.parametrize(
    "path", ["/conversations", "/activity", "/trash", "/journal/memory", "/agents", "/settings"]
)
def test_X2_a_page_that_shows_only_today_refuses_a_day(ada: Visitor, path: str) -> None:
    ada.get(path)
    for name in ("as_of", "true_at"):
        refused = ada.client.get(path, params={name: "2026-03-02"})
        assert refused.status_code == 400
        assert f"This page shows only today: leave out {name}." in refused.text


def test_X2_a_page_of_the_past_counts_days_from_the_day_that_it_shows(
    ada: Visitor, me: Memory, clock: ManualClock
) -> None:
    me.set_time_zone("UTC")
    tea = me.remember("Ada drinks green tea").memory
    clock.advance(timedelta(days=3))
    day = day_of(clock)
    clock.advance(timedelta(days=7))
    for path in ("/facts", f"/memory/{tea.id}"):
        assert "confirmed 3 days ago" in ada.get(f"{path}?as_of={day}").text
        assert "confirmed 10 days ago" in ada.get(path).text
