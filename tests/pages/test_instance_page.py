"""I3, I5, I6, I9: the page of an instance searches, adds, deletes for good, and has settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.memory import Memory
from tests.support.http_server import Served
from tests.support.visitor import Visitor

pytestmark = pytest.mark.postgres_long

BOT = {"instance": "support-bot"}
PAGE = "/instances?instance=support-bot"


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve("instances")


@pytest.fixture
def bot(served: Served) -> Memory:
    return served.engine.for_user("ben", agent="support-bot")


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada")


def rows(text: str) -> list[str]:
    return re.findall(r"<tr data-card>.*?</tr>", text, re.DOTALL)


@pytest.mark.feature("I5", "I6")
def test_memories_are_searched_filtered_and_linked_to_their_conversation(
    bot: Memory, ada: Visitor
) -> None:
    bot.append([{"role": "user", "content": "Alice wants tables."}], "monday")
    bot.remember("Bob's office is in Munich.", category="fact")
    sent = ada.send(
        "/instances/new",
        **BOT,
        content="Alice prefers tables over prose answers.",
        category="preference",
        importance="7",
        source="monday",
        back=PAGE,
    )
    assert sent.status_code == 303

    (found,) = rows(ada.get(f"{PAGE}&category=preference").text)
    assert "Alice prefers tables" in found
    assert '<td data-name="importance">7</td>' in found
    assert "2 March 2026, 12:00</time>" in found
    link = re.search(r'href="(/agents/[^"]*/conversations/[^"]*)"', found)
    assert link is not None
    assert "Alice wants tables." in ada.get(link[1]).text
    best = rows(ada.get(f"{PAGE}&q=Where+does+Bob+work%3F").text)[0]
    assert "Munich" in best
    assert rows(ada.get(f"{PAGE}&q=tables&category=event").text) == []

    bot.delete_session("monday")
    (found,) = rows(ada.get(f"{PAGE}&category=preference").text)
    assert "deleted conversation" in found


@pytest.mark.feature("I6")
def test_a_source_conversation_that_does_not_exist_is_refused(bot: Memory, ada: Visitor) -> None:
    sent = ada.send("/instances/new", **BOT, content="Acme uses Slack.", source="monday")
    assert sent.status_code == 404
    assert "There is no conversation" in sent.text
    assert bot.list().items == ()


@pytest.mark.feature("I9")
@pytest.mark.parametrize("field", ["only", "id"])
def test_a_row_or_a_selection_is_deleted_after_a_confirmation(
    bot: Memory, ada: Visitor, field: str
) -> None:
    first, second = (bot.remember(f"Room {n} has {n + 3} chairs.").memory for n in (1, 2))
    bot.update(first.id, "Room 1 has nine chairs.")
    assert rows(ada.get(PAGE).text)[0].count('aria-label="Delete: Room') == 1

    asked = ada.send("/instances/delete", **BOT, back=PAGE, **{field: first.id})

    assert "This cannot be undone" in asked.text
    assert "Room 1 has nine chairs." in asked.text
    assert len(bot.list().items) == 2
    shown = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked.text))
    done = ada.client.post("/instances/delete", data=shown)
    assert (done.status_code, done.headers["location"]) == (303, PAGE)
    assert [one.id for one in bot.list().items] == [second.id]


@pytest.mark.feature("I1", "I3")
def test_an_administrator_turns_memory_off_and_chooses_the_users(
    served: Served, bot: Memory, ada: Visitor
) -> None:
    root = Visitor(served, "root", ("instances:admin",))
    bot.remember("Acme uses Slack.")
    off: dict[str, Any] = {**BOT, "access": "members", "members": "ben\nada\n", "back": PAGE}
    assert "<summary>Settings" not in ada.get(PAGE).text
    assert ada.send("/instances/settings", **off).status_code == 403

    assert root.send("/instances/settings", **off).status_code == 303

    assert "Memory is off" in ada.get(PAGE).text
    assert bot.context("What does Acme use?").text == ""
    assert Visitor(served, "eve").get(PAGE).status_code == 403
    assert "ada\nben</textarea>" in root.get(PAGE).text
    assert "memory off" in root.get("/instances").text
    root.send("/instances/settings", **BOT, memory="on", access="open")
    assert "Memory is off" not in Visitor(served, "eve").get(PAGE).text


@pytest.mark.postgres_long
@pytest.mark.feature("I3")
def test_the_embedder_matters_only_while_memory_is_on(serve: Callable[..., Served]) -> None:
    broken = {"provider": "openai", "url": "http://127.0.0.1:1/v1", "model": "m", "dimensions": 4}
    served = serve("instances", embedding=broken)
    ada = Visitor(served, "ada", ("instances:admin",))
    shown = (ada.get(PAGE).text for _ in range(30))  # a page does not wait for long
    assert any("Embedding fails" in one for one in shown)

    ada.send("/instances/settings", **BOT, access="open")

    assert "Embedding fails" not in ada.get(PAGE).text
