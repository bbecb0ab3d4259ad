"""A1, A2, A3, A10: what people teach in the chat, and how what they say later replaces it."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.assistant.chat import Chat
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedReply, streams
from remembrancer.types import Fact, Source, Status
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open
from tests.support.proposals import contents, proposal, proposes

MOVED = "Actually I moved off the iOS app, I'm on the dashboard now."
TAUGHT = {
    "I work mostly on the iOS app.": ("Works mostly on the iOS app", "fact"),
    "Keep answers short, code first.": ("Keep answers short, code first", "preference"),
    "My main bmc machine is Serebanos-MacBook-Air.": (
        "Main bmc machine is Serebanos-MacBook-Air",
        "fact",
    ),
}


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


@pytest.fixture
def chat(store: Remembrancer) -> Chat:
    return chat_of(store)


def known(me: Memory) -> dict[str, str]:
    return {one.content: one.category for one in me.list().items if isinstance(one, Fact)}


@pytest.mark.feature("A1")
def test_A1_what_is_taught_in_passing_is_kept_and_the_answer_says_so(
    store: Remembrancer, chat: Chat, me: Memory
) -> None:
    heard = [say(chat, words) for words in TAUGHT]
    store.flush()

    assert known(me) == dict(TAUGHT.values())
    assert heard[0].text == "I will remember that: “Works mostly on the iOS app”"
    (machine, *_) = me.list().items
    assert machine.evidence[0].quote == "My main bmc machine is Serebanos-MacBook-Air"
    assert machine.source is Source.EXTRACTED
    me.undo(heard[2].events[0])
    assert machine.content not in known(me)


@pytest.mark.feature("A1")
@pytest.mark.postgres_long
def test_A1_a_model_keeps_what_is_taught_in_passing(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    categories = ("fact", "preference", "fact")
    proposed = proposes(
        *(
            proposal(content, said.rstrip("."), category=category)
            for (said, (content, _)), category in zip(TAUGHT.items(), categories, strict=True)
        )
    )

    def answer(request: dict[str, Any]) -> ScriptedReply:
        return streams("Noted.") if request.get("stream") else proposed(request)

    model.script = answer
    store = open_memory("assistant", models={**models, "fast": models["chat"]})
    chat = chat_of(store)
    for words in TAUGHT:
        assert say(chat, words).text == "Noted."
        store.flush()

    assert known(store.for_user("ada")) == dict(TAUGHT.values())


@pytest.mark.feature("A3")
@pytest.mark.parametrize("taught", ["Remember that I work mostly on the iOS app.", *TAUGHT][:2])
def test_A3_the_correction_replaces_what_was_told_and_what_was_learned(
    store: Remembrancer, chat: Chat, me: Memory, taught: str
) -> None:
    for words in (taught, "Remember that I have two cats.", "I live in Lisbon."):
        say(chat, words)
    heard = say(chat, MOVED)

    old, new = "Works mostly on the iOS app", "Moved off the iOS app, is on the dashboard"
    assert heard.text == f"I have corrected that: “{new}”, instead of “{old}”"
    assert contents(me) == ["Has two cats", "Lives in Lisbon", new]
    (current,) = [one for one in me.list().items if one.content == new]
    assert [(one.content, one.status) for one in me.history(current.id).versions] == [
        (old, Status.SUPERSEDED),
        (new, Status.ACTIVE),
    ]
    assert current.evidence[0].quote == MOVED.rstrip(".")
    me.undo(heard.events[0])
    assert old in contents(me)


DASHBOARD = "Works on the dashboard"


@pytest.mark.postgres_long
@pytest.mark.feature("A3")
@pytest.mark.parametrize(
    "proposed",
    [
        proposal(DASHBOARD, MOVED.rstrip("."), updates="Works mostly on the iOS app"),
        proposal(DASHBOARD, MOVED.rstrip("."), predicate="main_work"),
        proposal(DASHBOARD, MOVED.rstrip("."), predicate="project"),
    ],
    ids=["update", "addition with the same key", "addition under another key"],
)
def test_A3_the_correction_replaces_it_however_a_model_proposes_it(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any], proposed: Any
) -> None:
    model.script = proposes(proposed)
    store = open_memory("assistant", models={"fast": models["chat"]})
    me = store.for_user("ada")
    say(chat_of(store), "Remember that I work mostly on the iOS app.")
    say(chat_of(store), MOVED)
    store.flush()

    (current,) = me.list().items
    assert current.content == DASHBOARD
    assert me.history(current.id).versions[0].status is Status.SUPERSEDED


@pytest.mark.feature("A10")
def test_A10_what_is_put_right_is_a_correction_of_its_own_importance(
    chat: Chat, me: Memory
) -> None:
    say(chat, "Remember that my dentist is Dr. Vogel.")
    say(chat, "Correction: my dentist is Dr. Braun.")

    (current,) = me.list().items
    assert isinstance(current, Fact)
    assert current.content == "Dentist is Dr. Braun"
    assert (current.category, current.importance) == ("correction", 4)


@pytest.mark.feature("A3")
@pytest.mark.postgres_long
def test_A3_a_correction_of_nothing_that_is_known_stands_beside_it(chat: Chat, me: Memory) -> None:
    say(chat, "Remember that our production API is at api.example.com.")
    heard = say(chat, "Correction: our staging API is at stage.example.org.")

    assert "instead of" not in heard.text
    assert len(contents(me)) == 2


@pytest.mark.feature("A2")
@pytest.mark.postgres_long
def test_A2_a_request_to_remember_keeps_the_persons_words_as_evidence(
    chat: Chat, me: Memory
) -> None:
    heard = say(chat, "Note that I always want HAR exports, not screenshots.")

    (kept,) = me.list().items
    assert isinstance(kept, Fact)
    assert (kept.content, kept.category) == (
        "Always wants HAR exports, not screenshots",
        "preference",
    )
    assert kept.evidence[0].quote == "I always want HAR exports, not screenshots"
    assert heard.statuses == ["Remembered: “Always wants HAR exports, not screenshots”"]
    assert me.turns(chat.session)[0].id == kept.evidence[0].turn_id
