"""A1, X1: learning runs after the reply, keeps what lasts, and usually keeps nothing; no model."""

from __future__ import annotations

import threading

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint, says
from remembrancer.types import Action, Source
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A1")


def said(*words: str) -> list[TurnInput]:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": one} for number, one in enumerate(words)]


def contents(me: Memory) -> set[str]:
    return {one.content for one in me.list().items}


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


def test_A1_what_lasts_is_kept_with_the_turn_that_says_so(store: Remembrancer, me: Memory) -> None:
    turns = me.learn(said("I'm allergic to peanuts.", "Thank you for telling me."), "chat")
    store.flush()

    (kept,) = me.list().items
    assert (kept.content, kept.source) == ("Is allergic to peanuts", Source.EXTRACTED)
    assert [one.turn_id for one in kept.evidence] == [turns[0].id]
    assert kept.evidence[0].quote == "I'm allergic to peanuts"


@pytest.mark.parametrize(
    "words",
    [
        "Can you help me with my tax form?",
        "Thanks, that was great!",
        "I'm a bit tired today.",
        "If I lived in Rome, I would eat pasta every day.",
        "What would you do if I were allergic to nuts?",
    ],
)
def test_A1_in_the_common_case_nothing_is_kept(store: Remembrancer, me: Memory, words: str) -> None:
    me.learn(said(words, "Of course."), "chat")
    store.flush()

    assert contents(me) == set()
    assert me.session("chat").watermark == 2


def test_A1_nobody_waits_for_it(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    answered = threading.Event()

    def slow(request: object) -> object:
        answered.wait(10)
        return says({"operations": []})

    model.script = slow  # type: ignore[assignment]
    store = open_memory("assistant", models=models)
    me = store.for_user("ada")

    me.learn(said("I like tea.", "So do many."), "chat")

    # The model has not answered yet, and what was said is stored and found already.
    assert [one.content for one in me.turns("chat")] == ["I like tea.", "So do many."]
    assert me.recall("tea", kinds=("turn",), mode="keyword")
    answered.set()
    store.flush()
    assert me.session("chat").watermark == 2


def test_A1_what_was_learned_is_in_the_activity_and_is_not_what_a_bare_undo_means(
    store: Remembrancer, me: Memory
) -> None:
    own = me.remember("Keep answers short.").memory
    me.learn(said("I live in Oslo.", "Nice."), "chat")
    store.flush()

    events = {one.action: one for one in me.activity().items}
    assert events[Action.LEARNED].note is not None
    assert events[Action.LEARNED].note.startswith("1 kept")
    undone = me.undo()
    assert undone.memory.id in {own.id, *(one.id for one in me.turns("chat"))}
    assert "Lives in Oslo" in contents(me)


def test_A1_what_is_learned_can_be_taken_back_by_its_own_event(
    store: Remembrancer, me: Memory
) -> None:
    me.learn(said("I live in Oslo.", "Nice."), "chat")
    store.flush()
    (kept,) = me.list().items

    me.undo(me.history(kept.id).events[0].id)

    assert contents(me) == set()


def test_X1_a_whole_conversation_teaches_without_model_key_or_network(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    def refuse(*_: object) -> None:
        raise AssertionError("something reached for the network")

    store = open_memory()
    me = store.for_user("ada")
    me.remember("Warm up: connections are open.")
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    me.learn(said("Please remember that my sister Ida visits on Fridays.", "I will."))
    store.flush()

    (kept,) = [one for one in me.list().items if "Ida" in one.content]
    assert kept.source is Source.EXPLICIT
    assert me.recall("When does Ida visit?", limit=1)[0].memory.id == kept.id
