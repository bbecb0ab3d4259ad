"""A17: "remember this for the team" in the chat: answered at once, never a personal memory."""

from __future__ import annotations

import pytest

from remembrancer.assistant.chat import Chat
from remembrancer.engine import Remembrancer
from remembrancer.testing import ModelEndpoint, ScriptedCall, streams
from remembrancer.types import TeamOrigin, TeamStatus
from tests.assistant.talk import Heard, chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A17")

PORTS = "The PAC pool is ports 9000-9999."
ASKED = f"Remember this for the team: {PORTS}"
WAITS = "It is pending until someone else proposes the same or a reviewer approves it."


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


def tell(store: Remembrancer, user: str, message: str) -> Heard:
    heard = say(chat_of(store, user), message)
    store.flush()
    return heard


def test_A17_each_outcome_is_told_at_once(store: Remembrancer) -> None:
    assert tell(store, "ada", ASKED).text == f"Proposed to the team. {WAITS}\n“{PORTS}”"
    (entry,) = store.review().queue().items
    assert (entry.fact.origin, entry.contributors) == (TeamOrigin.USER, 1)
    assert tell(store, "ada", ASKED).text.startswith(f"You have proposed this before. {WAITS}")
    assert tell(store, "bob", f"Please note for the team: {PORTS}").text.startswith("Approved: ")
    assert "counted as one more. The team can recall it." in tell(store, "eve", ASKED).text

    rival = "For the whole team: the PAC pool is ports 8000-8999."
    told = tell(store, "ada", rival).text
    assert f"It contradicts “{PORTS}”, so a reviewer has to decide." in told
    (contested,) = store.review().queue().items
    store.review().reject(contested.fact.id)
    assert tell(store, "bob", rival).text.startswith("A reviewer has rejected this before")

    refused = tell(store, "ada", "Tell the team: Maria Lopez runs the proxy.").text
    assert refused == ("This cannot be shared with the team. It contains the name of a person.")
    for user in ("ada", "bob", "eve"):
        assert not store.for_user(user).list().items


def test_A17_that_is_what_was_said_before(store: Remembrancer) -> None:
    chat = chat_of(store)
    assert say(chat, "Remember that for the team.").text.startswith("What should I propose")
    say(chat, PORTS)
    assert PORTS in say(chat, "Remember that for the team.").text
    say(chat, "Which port is free?")
    assert say(chat, "Remember that for the team.").text.startswith("What should I propose")
    assert [one.fact.content for one in store.review().queue().items] == [PORTS]


def test_A17_a_pending_proposal_can_be_taken_back(store: Remembrancer) -> None:
    chat = chat_of(store)
    say(chat, "Remember that I like tea.")
    say(chat, ASKED)
    assert say(chat, "undo").text == f"Withdrawn from the team: “{PORTS}”"
    assert not store.review().list().items
    assert say(chat, "undo").text.startswith("Undone")

    say(chat, ASKED)
    (entry,) = store.review().queue().items
    store.review().approve(entry.fact.id)
    assert say(chat, "undo").text == "It is approved already. A reviewer can change that."
    assert store.review().get(entry.fact.id).fact.status is TeamStatus.APPROVED


def test_A17_a_request_is_proposed_though_team_learning_is_off(store: Remembrancer) -> None:
    store.review().change_settings(team_learning=False)
    assert tell(store, "ada", ASKED).text.startswith("Proposed to the team.")


def test_A17_without_a_team_the_chat_says_so(open_memory: Open) -> None:
    store = open_memory("default")
    assert tell(store, "ada", ASKED).text.startswith("There is no team memory here")
    assert not store.for_user("ada").list().items


@pytest.mark.feature("A19")
def test_A17_a_model_proposes_what_the_person_asked_for(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    call = ScriptedCall("propose_to_team", {"content": PORTS})
    model.script = [streams(call), streams("Proposed.")]
    store = open_memory("assistant", models=models)
    chat: Chat = chat_of(store)
    say(chat, "The PAC pool is ports 9000-9999, could everyone get to know that?")

    (entry,) = store.review().queue().items
    assert (entry.fact.content, entry.fact.origin) == (PORTS, TeamOrigin.USER)
    assert WAITS in str(model.requests[-1])
    assert say(chat, ASKED).text.startswith("You have proposed this before.")
