"""P8: Edit opens a chat about a memory, whose full text is told to the model and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedCall, streams
from tests.assistant.talk import say
from tests.support.http_server import Served
from tests.support.opening import Open
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("P8")

Serve = Callable[..., Served]
BODY = "Decided with the accountant after the long winter of spreadsheets."


@pytest.fixture
def talking(model: ModelEndpoint) -> dict[str, Any]:
    return {"chat": {"url": model.openai, "model": "scripted", "timeout_seconds": 5}}


def sent(model: ModelEndpoint, number: int = -1) -> str:
    return str(model.requests[number].json["messages"])


def test_P8_the_whole_memory_is_told_to_the_model_and_nothing_of_it_is_kept(
    open_memory: Open, talking: dict[str, Any], model: ModelEndpoint
) -> None:
    from remembrancer.assistant.chat import Chat

    store = open_memory("advisor", models=talking)
    me = store.for_user("ada")
    goal = me.remember("Wants to retire at 50.", category="profile", body=BODY).memory
    change = {"id_or_substring": goal.id, "new_content": "Wants to retire at 55."}
    answers = ("What should it be?", ScriptedCall("update_preference", change), "Done.", "Gladly.")
    model.script = [streams(one) for one in answers]
    chat = Chat(me, store.models, about=goal.id)
    say(chat, "That is no longer right.")
    assert BODY in sent(model)
    assert goal.id in sent(model)

    again = Chat(me, store.models, chat.session)
    heard = say(again, "Make it 55.")
    assert len(heard.events) == 1
    assert BODY in sent(model, 1)
    assert [one.content for one in me.list().items] == ["Wants to retire at 55."]

    say(Chat(me, store.models, chat.session), "Thank you.")
    assert "- fact_" in sent(model)
    assert "Wants to retire at 55." in sent(model)
    assert BODY not in str([one.content for one in me.turns(chat.session)])
    assert me.session(chat.session).title == "That is no longer right"
    me.close(chat.session)
    store.flush()
    assert [one.content for one in me.list().items] == ["Wants to retire at 55."]


def test_P8_without_a_model_the_memory_itself_is_corrected_and_forgotten(open_memory: Open) -> None:
    from remembrancer.assistant.chat import Chat

    store = open_memory("advisor")
    me = store.for_user("ada")
    me.remember("Likes to be called in the evening.")
    goal = me.remember("Wants to retire at 50.").memory
    chat = Chat(me, store.models, about=goal.id)
    assert "corrected" in say(chat, "Correction: prefers window seats.").text
    assert [one.content for one in me.history(goal.id).versions] == [
        "Wants to retire at 50.",
        "Prefers window seats.",
    ]
    say(chat, "Forget it.")
    assert contents(me) == {"Likes to be called in the evening."}
    say(chat, "Undo")
    assert contents(me) == {"Likes to be called in the evening.", "Prefers window seats."}


def contents(me: Memory) -> set[str]:
    return {one.content for one in me.list().items}


def test_P8_edit_in_the_journal_opens_a_chat_that_does_not_show_the_full_text(serve: Serve) -> None:
    served = serve("advisor")
    me = served.engine.for_user("ada")
    goal = me.remember("Wants to retire at 50.", category="profile", body=BODY).memory
    ada = Visitor(served, "ada")
    place = f"/chat?about={goal.id}"
    assert f'href="{place}"' in ada.get("/journal/memory").text
    page = ada.get(place).text
    assert "What would you like to change about this?" in page
    assert BODY not in page
    answer = ada.send("/chat/session_a", text="Correction: Wants to retire at 55.", about=goal.id)
    page = ada.get(answer.headers["location"]).text
    assert BODY not in page
    assert "What would you like to change about this?" in page
    assert contents(me) == {"Wants to retire at 55."}
