"""The chat as a browser gets it, with and without a script: streams, undo, notes, other people."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from remembrancer.access.keys import CAPABILITIES
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedCall, fails, streams
from tests.support import http_server
from tests.support.http_server import Served
from tests.support.opening import Open
from tests.support.visitor import HOSTILE, Visitor

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]
Lines = list[dict[str, str]]

STREAM = {"Accept": "application/x-ndjson"}
A = "/chat/session_a"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint(default=streams("Good ", "day.")) as endpoint:
        yield endpoint


@pytest.fixture
def served(serve: Serve, model: ModelEndpoint) -> Served:
    models = {"chat": {"url": model.openai, "model": "scripted", "timeout_seconds": 5}}
    return serve("assistant", models=models)


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada", CAPABILITIES)


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


def said(visitor: Visitor, text: str, path: str = A, **fields: str) -> Lines:
    """Say something, and hear the whole stream."""
    form = {"token": visitor.token(), "text": text, **fields}
    answer = visitor.client.post(path, data=form, headers=STREAM)
    assert answer.headers["content-type"].startswith("application/x-ndjson"), answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def heard(lines: Lines) -> str:
    return "".join(line.get("text", "") for line in lines)


def test_an_answer_streams_and_ends_with_the_message_as_the_page_shows_it(
    served: Served, ada: Visitor, me: Memory
) -> None:
    boat = me.remember("The boat in the harbour is called Bluebird.").memory
    lines = said(ada, "What is my boat called?")
    assert [line["text"] for line in lines[:-1]] == ["Good ", "day."]
    assert lines[-1]["title"] == "What is my boat called"
    for shown in (lines[-1]["message"], ada.get(A).text):
        assert "Good day." in shown
        assert f'href="/memory/{boat.id}"' in shown
        assert "Why this answer?" in shown
    assert 'aria-current="page">What is my boat called' in lines[-1]["beside"]


def test_without_a_script_the_answer_is_on_the_next_page(ada: Visitor, me: Memory) -> None:
    page = ada.get("/chat").text
    place = re.findall(r'id="say" method="post" action="([^"]+)"', page)[0]
    answer = ada.send(place, text="My boat leaks.")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{place}#end")
    page = ada.get(place).text
    assert "My boat leaks." in page
    assert "Good day." in page
    assert "<h1>My boat leaks</h1>" in page
    ada.send(place, text="What do you remember about me?")
    assert "I do not remember anything about you yet." in ada.get(place).text
    me.remember("Ada drinks tea.")
    ada.send(place, text="What do you remember about me?")
    assert "- “Ada drinks tea.”" in ada.get(place).text


def test_a_change_is_told_while_it_is_made_and_undone_from_its_line(
    ada: Visitor, me: Memory, model: ModelEndpoint
) -> None:
    saved = streams("A moment. ", ScriptedCall("remember", {"content": "Ada drinks tea."}))
    model.script = [saved, streams("Noted.")]
    lines = said(ada, "I like tea, keep that.")
    assert heard(lines) == "A moment. Noted."
    change = next(line["change"] for line in lines if "change" in line)
    assert "Ada drinks tea." in change
    event = re.findall(r'name="event" value="(event_\w+)"', change)[0]
    assert event in lines[-1]["message"]
    assert event in ada.get(A).text
    answer = ada.send("/undo", event=event, back=A)
    assert answer.headers["location"] == A
    assert me.list().items == ()
    page = ada.get(A).text
    assert "· undone" in page
    assert f'value="{event}"' not in page


def test_whoever_leaves_stops_the_answer_and_what_was_said_is_kept(
    served: Served, ada: Visitor, me: Memory, model: ModelEndpoint
) -> None:
    model.default = streams(*(f"{number} " for number in range(500)), pause=0.05)
    form = {"token": ada.token(), "text": "Count, please."}
    with ada.client.stream("POST", A, data=form, headers=STREAM) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines)) == {"text": "0 "}
    for _ in range(200):
        if turns := me.turns("session_a"):
            break
        time.sleep(0.05)
    assert turns[0].content == "Count, please."
    assert turns[1].content.startswith("0 1")
    assert "400" not in turns[1].content
    assert not [one for one in served.logged() if one["event"] == "unexpected"]


def test_a_server_that_stops_ends_the_answers_and_keeps_what_was_said(
    open_memory: Open, model: ModelEndpoint
) -> None:
    model.default = streams(*(f"{number} " for number in range(500)), pause=0.05)
    models = {"chat": {"url": model.openai, "model": "scripted", "timeout_seconds": 5}}
    store = open_memory("assistant", models=models)
    with http_server.served(store) as running:
        ada = Visitor(running, "ada")
        form = {"token": ada.token(), "text": "Count, please."}
        with ada.client.stream("POST", A, data=form, headers=STREAM) as answer:
            assert json.loads(next(answer.iter_lines())) == {"text": "0 "}
    kept = [one.content for one in store.for_user("ada").turns("session_a")]
    assert kept[0] == "Count, please."
    assert kept[1].startswith("0")


def test_a_model_that_is_down_costs_the_answer_and_nothing_else(
    ada: Visitor, me: Memory, model: ModelEndpoint
) -> None:
    model.default = fails(401)
    me.remember("The boat in the harbour is called Bluebird.")
    lines = said(ada, "What is my boat called?")
    assert "notice" in lines[0]
    assert "Bluebird" in heard(lines)


def test_with_no_model_it_says_so_and_stores_recalls_corrects_lists_and_forgets(
    serve: Serve,
) -> None:
    served = serve("assistant")
    ada, me = Visitor(served, "ada"), served.engine.for_user("ada")
    assert "No AI model is connected" in ada.get("/chat").text
    assert "I will remember" in heard(said(ada, "Remember that my boat is called Bluebird."))
    assert "Bluebird" in heard(said(ada, "What is my boat called?"))
    assert "corrected" in heard(said(ada, "Correction: My boat is called Redbird."))
    assert "Redbird" in heard(said(ada, "What do you remember about me?"))
    forgotten = said(ada, "Forget my boat is called Redbird.")
    assert "Forgotten" in heard(forgotten)
    assert "Redbird" not in str(me.turns("session_a")[-2:])
    assert not [line for line in forgotten if "notice" in line]
    assert me.list().items == ()


def test_beginning_anew_and_forgetting_everything_lead_to_another_conversation(
    ada: Visitor, me: Memory
) -> None:
    me.remember("Ada drinks tea.")
    assert said(ada, "/reset")[-1].keys() == {"go"}
    said(ada, "Forget everything about me")
    place = said(ada, "yes")[-1]["go"]
    assert place != A
    assert me.list().items == ()
    page = ada.get(place).text
    assert "I have forgotten everything about you" in page
    assert 'name="event"' not in page, "it cannot be undone"


def test_conversations_are_found_renamed_put_away_thrown_away_and_brought_back(
    ada: Visitor, me: Memory
) -> None:
    said(ada, "My boat leaks.")
    said(ada, "The garden needs water.", "/chat/session_b")
    page = ada.get(f"{A}?q=watering+the+garden").text
    assert "/chat/session_b#turn_" in page
    ada.send("/conversations/session_a/rename", title="The boat", back=A)
    assert "<h1>The boat</h1>" in ada.get(A).text
    ada.send("/conversations/session_a/archive", back=A)
    page = ada.get(A).text
    assert page.index("<h2>Archived</h2>") > page.index("<h2>Today</h2>")
    back = re.findall(r'session_a/delete">.*?name="back" value="([^"]+)"', page)
    assert back == ["/chat"]
    gone = ada.send("/conversations/session_a/delete", back="/chat")
    assert gone.headers["location"] == "/chat"
    page = ada.get(A).text
    assert "in the trash" in page
    assert "My boat leaks." not in page
    ada.send("/conversations/session_a/restore", back=A)
    assert "My boat leaks." in ada.get(A).text


@pytest.mark.feature("P1")
def test_P1_a_status_line_opens_what_changed(
    ada: Visitor, me: Memory, model: ModelEndpoint
) -> None:
    model.script = [
        streams(ScriptedCall("remember", {"content": "Ada drinks tea."})),
        streams("Ok"),
    ]
    streamed = [one["change"] for one in said(ada, "I drink tea.") if "change" in one]
    (tea,) = me.list().items
    link = f'<a href="/memory/{tea.id}" data-open>'
    assert link in streamed[0]
    assert link in ada.get(A).text
    said(ada, "Forget that I drink tea.")
    assert f"{link}Forgotten" in ada.get(A).text
    assert "Restore" in ada.get(f"/memory/{tea.id}").text


def test_a_long_conversation_says_that_its_beginning_is_summarised(
    ada: Visitor, me: Memory
) -> None:
    me.append([{"role": "user", "content": "x " * 60_000}] * 2, "session_a")
    hidden = r"data-brief hidden>"
    assert not re.search(hidden, ada.get(A).text)
    assert re.search(hidden, ada.get("/chat").text)


def test_nobody_reaches_the_chats_of_another(served: Served, ada: Visitor, me: Memory) -> None:
    said(ada, "My boat leaks.")
    secret = me.remember("Ada drinks tea.").memory
    bob = Visitor(served, "bob")
    assert "boat" not in bob.get(A).text
    assert bob.client.get(A).headers["location"] == "/chat"
    assert bob.get(f"/chat?about={secret.id}").status_code == 404
    assert "tea" not in str(said(bob, "What is this?", about=secret.id))
    turn = me.turns("session_a")[-1].id
    assert bob.send(f"{A}/notes", turn=turn).status_code == 404
    assert len(me.turns("session_a")) == 2


def test_forged_messages_change_nothing(served: Served, ada: Visitor, me: Memory) -> None:
    for token in ("", Visitor(served, "bob").token()):
        for path in (A, f"{A}/notes"):
            form = {"token": token, "text": "Remember that I like gin."}
            assert ada.client.post(path, data=form).status_code == 403
            assert ada.client.post(path, data=form, headers=STREAM).status_code == 403
    assert me.sessions().items == ()


def test_hostile_words_are_told_as_words(ada: Visitor, model: ModelEndpoint) -> None:
    model.default = streams(HOSTILE)
    lines = said(ada, HOSTILE)
    for shown in (lines[-1]["message"], lines[-1]["beside"], ada.get(A).text):
        for tag in ("<script>alert", "<img src=x", "<svg onload"):
            assert tag not in shown


def test_an_agent_has_conversations_of_its_own(serve: Serve) -> None:
    served = serve("instances")
    ada = Visitor(served, "ada")
    assert "Choose an instance" in ada.get("/chat").text
    place = "/agents/support/chat/session_a"
    assert "remember" in heard(said(ada, "Remember that refunds need a signature.", place))
    assert "refunds need a signature" in ada.get(place).text
    assert "refunds" not in ada.get("/agents/sales/chat").text


def test_a_chat_takes_as_many_queries_for_many_messages_as_for_few(
    ada: Visitor, me: Memory, queries: Callable[[], int]
) -> None:
    def asked() -> int:
        before = queries()
        assert ada.get(A).status_code == 200
        return queries() - before

    for number in range(3):
        said(ada, f"Remember that number {number} is lucky.")
    few = asked()
    for number in range(3, 12):
        said(ada, f"Remember that number {number} is lucky.")
    assert asked() == few


@pytest.fixture
def queries() -> Iterator[Callable[[], int]]:
    """How many statements were executed so far."""
    from sqlalchemy import Engine, event

    counted = [0]

    def count(*_: Any) -> None:
        counted[0] += 1

    event.listen(Engine, "before_cursor_execute", count)
    yield lambda: counted[0]
    event.remove(Engine, "before_cursor_execute", count)


@pytest.mark.feature("P1")
def test_P1_the_line_of_a_change_names_the_new_version_of_a_linked_memory(
    serve: Serve, model: ModelEndpoint
) -> None:
    models = {"chat": {"url": model.openai, "model": "scripted", "timeout_seconds": 5}}
    served = serve("advisor", models=models)
    me, ada = served.engine.for_user("ada"), Visitor(served, "ada")
    goal = me.remember("Targets retirement at 50.").memory
    reason = me.remember("Lost money on stocks.").memory
    me.link(reason.id, goal.id, "supports")
    change = {"id_or_substring": "at 50", "new_content": "Targets retirement at 55."}
    model.script = [streams(ScriptedCall("update_preference", change)), streams("Done.")]

    (line,) = [one["change"] for one in said(ada, "Make it 55.") if "change" in one]

    (current,) = [one for one in me.list().items if one.id != reason.id]
    assert current.content == "Targets retirement at 55."
    corrected = "Corrected: “Targets retirement at 55.”"
    assert f'href="/memory/{current.id}"' in line
    assert f'<a href="/memory/{current.id}" data-open>{corrected}</a>' in ada.get(A).text
    (row,) = re.findall(r"<li>(?:(?!</li>).)*Corrected.*?</li>", ada.get("/activity").text, re.S)
    assert f'href="/memory/{current.id}"' in row
    assert "stocks" not in row
