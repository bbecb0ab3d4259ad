"""P14: conversations by recency beside the chat, found by their words; replies kept as notes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from mcp_types import TextContent

from remembrancer.assistant.chat import Chat
from remembrancer.assistant.events import TextChunk
from remembrancer.clock import ManualClock
from remembrancer.mcp.prompts import render_prompt
from remembrancer.memory import Memory
from remembrancer.store.contract import Patch
from remembrancer.testing import ModelEndpoint, fails, says, streams
from remembrancer.tools.caller import Caller
from remembrancer.types import Action, Backlog
from tests.support.http_server import Served
from tests.support.plans import plans
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("P14")

Serve = Callable[..., Served]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve("assistant")


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


def talked(me: Memory, name: str, words: str) -> None:
    me.append(
        [{"role": "user", "content": words}, {"role": "assistant", "content": "I see."}], name
    )


@pytest.mark.parametrize("root", ["", "/agents/health"])
def test_P14_a_conversation_with_any_name_is_opened_renamed_and_deleted(
    served: Served, root: str
) -> None:
    name = "a/b c?d#e%2F"
    me = served.engine.for_user("ada", agent="health" if root else None)
    talked(me, name, "Sails are expensive.")
    ada = Visitor(served, "ada")
    shown = ada.get(f"{root}/conversations").text
    (link,) = set(re.findall(rf'href="({root}/conversations/[^"]+)"', shown))

    page = ada.get(link).text
    assert "Sails are expensive." in page
    assert f'name="back" value="{link}"' in page
    assert "Sails are expensive." in ada.get(link.replace("conversations", "chat")).text
    ada.send(f"{link}/rename", title="Rigging")
    assert me.session(name).title == "Rigging"
    ada.send(f"{link}/delete")
    assert not me.sessions().items


def test_P14_conversations_stand_by_recency_with_titles_of_their_own(
    served: Served, me: Memory, clock: ManualClock
) -> None:
    for days, words in ((9, "Sails"), (2, "Ropes"), (1, "Anchors"), (0, "Harbours")):
        talked(me, words.casefold(), f"{words} are expensive.")
        if days:
            clock.advance(timedelta(days={9: 7, 2: 1, 1: 1}[days]))
    me.archive("ropes")
    ada = Visitor(served, "ada")
    page = ada.get("/chat").text
    groups = re.findall(r"<h2>([\w ]+)</h2><ul>(.*?)</ul></section>", page, re.S)
    told = {name: re.findall(r">(\w+) are expensive<", rows) for name, rows in groups}
    assert told == {
        "Today": ["Harbours"],
        "Yesterday": ["Anchors"],
        "Older": ["Sails"],
        "Archived": ["Ropes"],
    }
    assert list(told)[-1] == "Archived"
    assert 'aria-current="page">Anchors' in ada.get("/chat/anchors").text


def test_P14_what_was_said_is_found_in_every_chat(served: Served, me: Memory) -> None:
    talked(me, "monday", "My boat leaks at the stern.")
    talked(me, "tuesday", "The garden is dry.")
    page = Visitor(served, "ada").get("/chat?q=leaking+boat").text
    found = re.findall(r'href="/chat/(\w+)#turn_', page)
    assert found[0] == "monday"


def test_P14_a_reply_is_kept_as_a_note_in_the_journal_once_and_can_be_undone(
    served: Served, me: Memory
) -> None:
    fact = me.remember("The boat is called Bluebird.").memory
    reply = "The boat is called Bluebird."
    me.append(
        [
            {"role": "user", "content": "What is its name?"},
            {"role": "assistant", "content": reply},
        ],
        "monday",
    )
    ada = Visitor(served, "ada")
    turn = me.turns("monday")[-1]
    for _ in range(2):
        ada.send("/chat/monday/notes", turn=turn.id, back="/chat/monday")
    (note,) = me.list(kinds=["episode"]).items
    assert (note.content, note.session_id, note.permanence) == (reply, "monday", "permanent")
    assert me.get(fact.id).status == "active"
    assert "Bookmarked" in ada.get("/chat/monday").text
    journal = ada.get("/journal/memory").text
    assert f'href="/memory/{note.id}"' in journal
    assert "Replies that you bookmarked" in journal
    page = ada.get(f"/memory/{note.id}").text
    (saved,) = ada.client.get("/api/sessions/monday/memories").json()["items"]
    assert saved["provenance"]["kind"] == "bookmarked"
    for shown in (journal, page):
        assert "reply that you bookmarked" in shown
        assert "imported" not in shown
        assert 'href="/conversations/monday"' in shown
    me.undo()
    assert 'name="turn"' in ada.get("/chat/monday").text


def test_P14_the_palette_leads_to_a_new_chat_and_to_every_other(served: Served, me: Memory) -> None:
    talked(me, "monday", "My boat leaks at the stern.")
    items = Visitor(served, "ada").get("/palette.json?q=").json()["items"]
    told = {one["name"]: one.get("href") for one in items}
    assert told["New chat"] == "/chat"
    assert told["My boat leaks at the stern"] == "/chat/monday"


def test_P14_a_model_names_a_chat_after_its_first_exchange(
    serve: Serve, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    chat = models | {"chat": models["fast"]}
    served = serve("advisor", models=chat)
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    model.script = [streams("Hold broad funds."), says({"title": "Choosing broad index funds"})]
    model.default = streams("Gladly.")

    ada.send("/chat/session_a", text="Which of all the funds there are would suit me best now?")
    served.engine.flush()
    page = ada.get("/chat/session_a").text
    ada.send("/chat/session_a", text="Thank you.")
    served.engine.flush()

    assert "<h1>Choosing broad index funds</h1>" in page
    assert len(model.requests) == 3
    model.script = [streams("Yes."), fails(401)]
    ada.send("/chat/session_b", text="Is gold a good idea?")
    served.engine.flush()
    assert me.session("session_b").title == "Is gold a good idea"


def test_P14_a_chat_that_begins_with_a_greeting_is_named_after_its_first_question(
    serve: Serve, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    served = serve("advisor", models=models | {"chat": models["fast"]})
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    model.script = [streams("Hello!"), streams("A fund."), says({"title": "What ETFs are"})]

    for words in ("hello", "/help", "What is an ETF?"):
        ada.send("/chat/session_a", text=words)
        served.engine.flush()

    assert me.session("session_a").title == "What ETFs are"
    assert "What is an ETF?" in str(model.requests[-1])
    assert "hello" not in str(model.requests[-1])


def test_P14_a_chat_without_a_title_is_never_shown_by_its_id(served: Served, me: Memory) -> None:
    ada = Visitor(served, "ada")
    ada.send("/chat/session_a", text="/help")
    ada.send("/chat/session_a", text="hi there")

    assert me.session("session_a").title is None
    for page in ("/chat", "/chat/session_a", "/conversations", "/conversations/session_a"):
        shown = ada.get(page).text
        assert "New chat" in shown
        assert ">session_a<" not in shown
        assert 'value="session_a"' not in shown
    items = ada.get("/palette.json?q=").json()["items"]
    names = [one["name"] for one in items if one["kind"] == "conversation"]
    assert names == ["New chat of 2 March"]


def test_P14_a_disclaimer_stands_under_every_chat(serve: Serve, served: Served) -> None:
    page = Visitor(served, "ada").get("/chat").text
    assert "No AI model is connected" in page


def test_P14_a_bookmarked_reply_never_becomes_a_fact_about_the_person(
    serve: Serve, model: ModelEndpoint, models: dict[str, Any], tenant: str
) -> None:
    served = serve("advisor", models=models)
    me = served.engine.for_user("ada")
    reply = "A cautious investor holds mostly government bonds."
    asked = {"role": "user", "content": "What do cautious people hold?"}
    me.append([asked, {"role": "assistant", "content": reply}], "monday")
    ada = Visitor(served, "ada")
    ada.send("/chat/monday/notes", turn=me.turns("monday")[-1].id, back="/chat/monday")
    bonds = {"subject": "user", "predicate": "risk", "content": "Holds mostly government bonds"}
    model.script = plans({"facts": [bonds | {"episodes": ["e1"]}]})

    served.engine.run_job("consolidate", tenant=tenant)

    assert model.requests == []
    assert me.list(kinds=["fact"]).items == ()
    assert me.stats().backlog == 0
    assert me.plan_consolidation() == []
    prompt = render_prompt(Caller(me), "consolidate").messages[0].content
    assert isinstance(prompt, TextContent)
    assert reply not in prompt.text


def test_P14_a_note_of_an_earlier_version_is_no_episode_to_consolidate(
    serve: Serve, model: ModelEndpoint, models: dict[str, Any], tenant: str
) -> None:
    engine = serve("advisor", models=models).engine
    me = engine.for_user("ada")
    (turn,) = me.append([{"role": "assistant", "content": "Bonds are safe."}], "monday")
    me.remember("Bonds are safe.", kind="episode", tags=["note"], metadata={"note": turn.id})
    note = me.list(kinds=["episode"]).items[0]
    call = me._call
    with call.open_writer() as writer:
        event = call.new_event(Action.UPDATED, call.now())
        writer.apply(event, [Patch(note.id, {"backlog": Backlog.PENDING})])

    engine.run_job("consolidate", tenant=tenant)

    assert model.requests == []


def test_M11_without_a_model_the_overview_says_that_episodes_wait(serve: Serve) -> None:
    served = serve("agents")
    served.engine.for_user("ada").remember("Watered the basil.", kind="episode")
    served.engine.run_job("consolidate")

    page = Visitor(served, "ada").get("/memory").text

    assert "1 episode waits: no model is configured." in page


@pytest.mark.parametrize("profile", ["advisor", "default"])
def test_P14_a_bookmarked_reply_is_not_listed_as_known_about_the_person(
    serve: Serve, profile: str
) -> None:
    served = serve(profile)
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    me.append([{"role": "assistant", "content": "Index funds are cheap."}], "monday")
    ada.send("/chat/monday/notes", turn=me.turns("monday")[-1].id, back="/chat/monday")
    me.remember("Is left-handed")

    told = Chat(me, served.engine.models).say("What do you remember about me?")

    text = "".join(one.text for one in told if isinstance(one, TextChunk))
    assert "Is left-handed" in text
    assert "Index funds" not in text


@pytest.mark.parametrize("words", ["Forget index funds.", "Forget funds."])
@pytest.mark.parametrize(
    ("fact", "left"), [("Only buys funds", []), ("Is left-handed", ["Is left-handed"])]
)
def test_P14_words_in_a_chat_never_name_a_bookmarked_reply(
    serve: Serve, words: str, fact: str, left: list[str]
) -> None:
    served = serve("advisor")
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    me.append([{"role": "assistant", "content": "Broad index funds are cheap."}], "monday")
    ada.send("/chat/monday/notes", turn=me.turns("monday")[-1].id, back="/chat/monday")
    me.remember(fact)

    ada.send("/chat/tuesday", text=words)

    (note,) = me.list(kinds=["episode"]).items
    assert note.content == "Broad index funds are cheap."
    assert [one.content for one in me.list(kinds=["fact"]).items] == left
    me.forget(note.id)
    assert me.list(kinds=["episode"]).items == ()
