"""One person teaches, corrects, shares with the team and forgets, in the chat, without a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.types import Status
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A1", "A2", "A3", "A14", "A15", "A17", "A22")

Rows = dict[str, list[dict[str, Any]]]

IOS = "Works mostly on the iOS app"
LEARNED = {
    "Keep answers short, code first": "preference",
    "Main bmc machine is Serebanos-MacBook-Air": "fact",
    "Staging API is at staging.example.com": "fact",
    "Always wants HAR exports, not screenshots": "preference",
}
TEAM_FACTS = (
    "The PAC pool is ports 9000–9999.",
    "Block rules live in settings_*.data.blockRules.",
    "The team prefers HAR exports over screenshots.",
)


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


def test_what_is_taught_is_kept_and_the_correction_replaces_it(store: Remembrancer) -> None:
    chat, me = chat_of(store), store.for_user("ada")
    say(chat, "I work mostly on the iOS app.")
    say(chat, "Keep answers short, code first.")
    say(chat, "My main bmc machine is Serebanos-MacBook-Air.")
    say(chat, "Remember that our staging API is at staging.example.com.")
    say(chat, "Note that I always want HAR exports, not screenshots.")
    listed = say(chat, "what do you remember about me?").text
    assert all(content in listed for content in (IOS, *LEARNED))

    corrected = say(chat, "Actually I moved off the iOS app, I'm on the dashboard now.").text

    assert f"instead of “{IOS}”" in corrected
    known = {one.content: getattr(one, "category", "") for one in me.list().items}
    assert known.items() >= LEARNED.items()
    assert IOS not in known
    assert any("dashboard" in content for content in known)
    assert [one.content for one in me.list(status=Status.SUPERSEDED).items] == [IOS]


def test_two_people_make_team_facts_and_none_about_a_machine(store: Remembrancer) -> None:
    for user in ("ada", "bob"):
        for fact in TEAM_FACTS:
            say(chat_of(store, user), f"Remember this for the team: {fact}")
        machine = "Remember this for the team: the main bmc host is Serebanos-MacBook-Air."
        assert "cannot be shared" in say(chat_of(store, user), machine).text

    entries = store.review().list().items
    assert {(one.fact.content, one.fact.status, one.contributors) for one in entries} == {
        (fact, "approved", 2) for fact in TEAM_FACTS
    }


def test_nothing_is_left_of_what_was_taught(
    store: Remembrancer, stored: Callable[[], Rows]
) -> None:
    chat = chat_of(store)
    say(chat, "Remember that I prefer lithium batteries.")
    say(chat, "Remember this for the team: spare lithium batteries are in the blue cabinet.")
    say(chat_of(store, "bob"), "Remember this for the team: The lab door is green.")
    say(chat, "Remember this for the team: the lab door is green.")
    assert say(chat, "Forget that I prefer lithium batteries.").text.startswith("Forgotten")

    question = say(chat, "/forget all").text
    assert "with 1 team fact that only you told" in question
    assert "forgotten everything" in say(chat, "yes").text

    assert "lithium" not in str(stored())
    (left,) = store.review().list().items
    assert (left.fact.content, left.contributors) == ("The lab door is green.", 1)
