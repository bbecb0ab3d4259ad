"""A9, P3: in a chat, what is cached stays byte-identical; notes come after it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.testing import ModelEndpoint, streams
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A9", "P3")

ASKED = ("What is my boat called?", "Where do I live?", "What do I drink?")


@pytest.fixture(params=["openai", "anthropic"])
def talking(request: pytest.FixtureRequest, model: ModelEndpoint) -> dict[str, Any]:
    """The model to talk with, over either protocol."""
    model.default = streams("Well.")
    url = model.openai if request.param == "openai" else model.url
    return {"chat": {"provider": request.param, "url": url, "model": "m", "key": "k" * 20}}


def prefix_and_latest(body: dict[str, Any]) -> tuple[Any, str]:
    """What may be cached of a request, and the message that comes after it."""
    rest = {name: value for name, value in body.items() if name != "messages"}
    return rest, str(body["messages"][-1])


def test_A9_the_note_of_each_message_stands_after_all_that_is_cached(
    open_memory: Open, talking: dict[str, Any], model: ModelEndpoint
) -> None:
    store = open_memory("assistant", models=talking)
    me = store.for_user("ada")
    for content in ("The boat is called Bluebird.", "Ada lives in Oslo.", "Ada drinks tea."):
        me.remember(content)
    chat = chat_of(store)
    for text in ASKED:
        say(chat, text)

    requests = [one.json for one in model.requests]
    assert len({str(prefix_and_latest(one)[0]) for one in requests}) == 1
    for text, body in zip(ASKED, requests, strict=True):
        latest = prefix_and_latest(body)[1]
        assert text in latest
        assert "<remembered>" in latest
        assert "<remembered>" not in str(body["messages"][1:-1])
    earlier, later = requests[1]["messages"], requests[2]["messages"]
    assert without_marks(later[: len(earlier) - 1]) == without_marks(earlier[:-1])


def test_P3_the_hot_set_is_the_same_for_the_whole_chat_and_new_in_the_next(
    open_memory: Open, talking: dict[str, Any], model: ModelEndpoint, clock: ManualClock
) -> None:
    store = open_memory("advisor", models=talking)
    me = store.for_user("ada")
    me.remember("Funds only, no individual stocks.", category="finance_context")
    chat = chat_of(store)
    say(chat, "Hello")
    clock.advance(timedelta(minutes=1))
    say(chat, "Remember that I live in Thailand.")
    clock.advance(timedelta(minutes=1))
    say(chat, "And now?")
    say(chat_of(store), "Hello again")

    first, second, third = (prefix_and_latest(one.json)[0] for one in model.requests)
    system = [system_of(one.json) for one in model.requests]
    assert first == second
    assert system[0] == system[1] != system[2]
    assert "Funds only" in system[0]
    assert "Thailand" not in system[0]
    assert "Thailand" in system[2]
    assert third.keys() == first.keys()


def system_of(body: dict[str, Any]) -> str:
    return str(body.get("system") or body["messages"][0])


def without_marks(messages: list[Any]) -> str:
    """Messages without the cache breakpoint, which wanders to the end of what is known."""
    return str(messages).replace(", 'cache_control': {'type': 'ephemeral'}", "")
