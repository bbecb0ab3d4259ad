"""N4: learning comes after actions or every N turns (the library's side of the LangGraph nodes)."""

from __future__ import annotations

import pytest

from remembrancer.sessions.turns import TurnInput
from tests.support.opening import Open

pytestmark = pytest.mark.feature("N4")


def turn(role: str, words: str) -> TurnInput:
    return {"role": role, "content": words}


def test_N4_after_every_five_turns(open_memory: Open, tenant: str) -> None:
    store = open_memory("namespaces")
    me = store.for_namespace([tenant, "ada", "chat"])
    me.learn([turn("user", "I live in Oslo."), turn("assistant", "Nice.")], "x")
    me.learn([turn("user", "And rain?"), turn("assistant", "Often.")], "x")
    store.flush()
    assert me.session("x").watermark == 0

    me.learn([turn("user", "Thanks.")], "x")
    store.flush()

    assert me.session("x").watermark == 5
    (kept,) = me.list().items
    assert (kept.content, kept.scope) == ("Lives in Oslo", "chat")


def test_N4_after_an_action(open_memory: Open, tenant: str) -> None:
    store = open_memory("namespaces")
    me = store.for_namespace([tenant, "ada", "chat"])

    me.learn([turn("user", "I live in Oslo."), turn("tool", "Booked: seat 4A.")], "x")
    store.flush()

    assert me.session("x").watermark == 2
    assert [one.content for one in me.list().items] == ["Lives in Oslo"]


def test_N4_what_another_namespace_says_is_not_learned_here(open_memory: Open, tenant: str) -> None:
    store = open_memory("namespaces")
    other = store.for_namespace([tenant, "bob", "chat"])
    other.learn([turn("user", "I live in Rome."), turn("tool", "Done.")], "x")
    store.flush()

    assert not store.for_namespace([tenant, "ada"]).list().items
    assert [one.content for one in store.for_namespace([tenant, "bob"]).list().items] == [
        "Lives in Rome"
    ]
