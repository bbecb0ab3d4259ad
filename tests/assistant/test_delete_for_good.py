"""A5, X2: "Delete … for good" forgets, asks once, and then destroys it with what was said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer.assistant.commands import DeleteForGood, parse_command
from remembrancer.engine import Remembrancer
from remembrancer.types import Status
from tests.assistant.talk import chat_of, say
from tests.support.files import bytes_below
from tests.support.opening import Open

pytestmark = pytest.mark.feature("P7")

REQUESTS = {
    "Delete my dentist for good": "my dentist",
    "Please forget that I smoke for good.": "I smoke",
    "Could you permanently delete my address?": "my address",
    "erase my phone number forever": "my phone number",
    "Delete it for good.": "it",
}
TALK = (
    "Did you delete my dentist for good?",
    "I want to delete my account for good, how does that work?",
    "We removed the wall for good and painted it.",
    "delete the file for good measure",
)


@pytest.mark.parametrize(("message", "topic"), REQUESTS.items())
def test_such_messages_ask_to_delete_for_good(message: str, topic: str) -> None:
    assert parse_command(message) == DeleteForGood(topic)


@pytest.mark.parametrize("message", TALK)
def test_others_do_not(message: str) -> None:
    assert not isinstance(parse_command(message), DeleteForGood)


def test_a_yes_deletes_it_with_what_the_conversation_says_of_it(
    open_memory: Open, place: str
) -> None:
    store = open_memory("assistant")
    chat, me = chat_of(store), store.for_user("ada")
    say(chat, "Remember that my dentist is Doctor Quagglemire.")

    asked = say(chat, "Delete my dentist for good")
    assert "cannot be undone" in asked.text
    assert [one.status for one in me.list(status="forgotten").items] == [Status.FORGOTTEN]
    done = say(chat, "yes")

    assert "Deleted for good" in done.text
    assert not any(me.list(status=one).items for one in Status)
    assert "quagglemire" not in " ".join(one.content for one in me.turns(chat.session)).casefold()
    if not place.startswith("postgresql"):
        assert b"quagglemire" not in bytes_below(Path(place)).lower()


def test_anything_else_leaves_it_where_it_can_be_restored(store: Remembrancer) -> None:
    chat, me = chat_of(store), store.for_user("ada")
    say(chat, "Remember that my dentist is Doctor Quagglemire.")

    say(chat, "Delete my dentist for good")
    say(chat, "No, wait.")

    assert [one.status for one in me.list(status="forgotten").items] == [Status.FORGOTTEN]
    say(chat, "undo")
    assert len(me.list().items) == 1
