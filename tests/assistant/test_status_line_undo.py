"""P1: a write in mid-chat shows a quiet line with Undo, for save, update and forget."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedCall, streams
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("P1")

SAID = "Ada prefers index funds."
SAVE = ScriptedCall("save_preference", {"category": "fact", "content": "Ada pays tax in Thailand."})
UPDATE = ScriptedCall(
    "update_preference", {"id_or_substring": "index", "new_content": "Ada likes bonds."}
)
FORGET = ScriptedCall("forget_preference", {"id_or_substring": "index funds"})


def contents(me: Memory) -> set[str]:
    return {one.content for one in me.list().items}


@pytest.mark.parametrize(
    ("call", "line", "after"),
    [
        (SAVE, "Remembered: “Ada pays tax in Thailand.”", {SAID, "Ada pays tax in Thailand."}),
        (
            UPDATE,
            f"Updated: “Ada likes bonds.”, instead of “{SAID}”",
            {"Ada likes bonds."},
        ),
        (FORGET, f"Forgotten: “{SAID}”", set()),
    ],
    ids=["save", "update", "forget"],
)
def test_P1_the_models_writes_are_told_and_undone(
    open_memory: Open,
    model: ModelEndpoint,
    models: dict[str, Any],
    call: ScriptedCall,
    line: str,
    after: set[str],
) -> None:
    me = (store := open_memory("advisor", models=models)).for_user("ada")
    me.remember(SAID)
    model.script = [streams(call), streams("Done.")]
    chat = chat_of(store)

    heard = say(chat, "Please see to it.")

    assert heard.statuses == [line]
    assert contents(me) == after
    say(chat, "undo")
    assert contents(me) == {SAID}


def test_P1_what_a_person_says_is_told_and_undone_by_its_event(open_memory: Open) -> None:
    store = open_memory("advisor")
    me, chat = store.for_user("ada"), chat_of(store)
    for text in ("Remember that I like tea.", "Correction: I like coffee.", "Forget coffee."):
        before = contents(me)
        (event,) = say(chat, text).events
        assert contents(me) != before

        me.undo(event)

        assert contents(me) == before
        say(chat, text)
