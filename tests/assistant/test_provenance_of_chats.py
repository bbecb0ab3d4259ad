"""What is saved in a chat knows its conversation and its message, by word and by the model."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.assistant.chat import Chat
from remembrancer.remember.provenance import describe_provenance, trace_provenance
from remembrancer.testing import ModelEndpoint, ScriptedCall, streams
from remembrancer.types import Record
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("P1", "P8")

GOAL = "I'm targeting retirement at 50."
SAVE = ScriptedCall(
    "save_preference", {"category": "profile", "content": "Targets retirement at 50."}
)


def phrase(record: Record) -> str:
    return describe_provenance(trace_provenance(record))


def test_P8_what_is_remembered_by_word_cites_the_message(open_memory: Open) -> None:
    store = open_memory("advisor")
    chat = chat_of(store)
    say(chat, "Remember I'm targeting retirement at 50.")

    (saved,) = store.for_user("ada").list().items

    message = store.for_user("ada").turns(chat.session)[0]
    assert (saved.session_id, saved.evidence[0].turn_id) == (chat.session, message.id)
    assert phrase(saved) == "you said so"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (GOAL, "saved by the assistant"),
        (f"Please save this for later: {GOAL}", "saved by the assistant because you asked"),
        (f"{GOAL} Can you remember my age?", "saved by the assistant because you asked"),
        (f"{GOAL} I can't remember when I began.", "saved by the assistant"),
    ],
)
@pytest.mark.postgres_long
def test_P8_what_the_model_saves_cites_the_message_and_says_if_it_was_asked(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any], message: str, expected: str
) -> None:
    store = open_memory("advisor", models=models)
    me, chat = store.for_user("ada"), chat_of(store)
    model.script = [streams("", SAVE), streams("Noted.")]

    say(chat, message)

    (saved,) = me.list().items
    question, answer = me.turns(chat.session)
    assert (question.content, answer.content) == (message, "Noted.")
    assert (saved.session_id, saved.evidence[0].turn_id) == (chat.session, question.id)
    assert saved.evidence[0].quote == message
    assert phrase(saved) == expected


def test_P1_a_correction_cites_the_message_that_corrects(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    store = open_memory("advisor", models=models)
    me = store.for_user("ada", surface="web")
    first, second = chat_of(store), chat_of(store)
    update = {"id_or_substring": "at 50", "new_content": "Targets retirement at 55."}
    change = ScriptedCall("update_preference", update)
    model.script = [streams(SAVE), streams("Noted."), streams(change), streams("Done.")]
    say(first, GOAL)

    say(second, "Actually, change that to age 55.")

    (updated,) = me.list().items
    assert updated.session_id == updated.evidence[0].session_id == second.session
    assert phrase(updated) == "saved by the assistant because you asked"
    say(Chat(me, store.models, about=updated.id), "Correction: I am targeting retirement at 60.")
    (corrected,) = me.list().items
    assert phrase(corrected) == "you said so"
    edited = me.update(corrected.id, "Targets retirement at 61.").memory
    assert (phrase(edited), edited.session_id) == ("saved directly", None)


@pytest.mark.parametrize(
    ("message", "saved", "learned"),
    [
        (
            "Actually I prefer funds only. I live in Oslo.",
            "No individual stocks, only funds",
            {"Lives in Oslo"},
        ),
        (
            "I'm 42 and I live in Oslo. Please keep it short.",
            "Be brief",
            {"Is 42 years old", "Lives in Oslo", "Keep it short"},
        ),
        (
            "I live in Oslo. I work at Acme.",
            "Employed full time",
            {"Lives in Oslo", "Works at Acme"},
        ),
    ],
)
def test_P8_what_the_model_saved_of_a_message_is_not_learned_from_it_again(
    open_memory: Open,
    model: ModelEndpoint,
    models: dict[str, Any],
    message: str,
    saved: str,
    learned: set[str],
) -> None:
    store = open_memory("advisor", models=models)
    me, chat = store.for_user("ada"), chat_of(store)
    save = ScriptedCall("save_preference", {"category": "profile", "content": saved})
    model.script = [streams(save), streams("Noted.")]

    say(chat, message)
    chat.close()
    store.flush()

    assert {one.content for one in me.list().items} == {saved, *learned}


def test_P8_what_the_model_saved_and_the_person_undid_is_not_learned_from_the_message(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    store = open_memory("advisor", models=models)
    me, chat = store.for_user("ada"), chat_of(store)
    save = ScriptedCall("save_preference", {"category": "finance_context", "content": "Only funds"})
    model.script = [streams(save), streams("Noted.")]
    say(chat, "Actually I prefer funds only.")
    (saved,) = me.list().items

    me.undo(me.history(saved.id).events[-1].id)
    chat.close()
    store.flush()

    assert me.list().items == ()
