"""A2: remember, list, forget, wipe and reset, said in the chat; at once, and without a model."""

from __future__ import annotations

import pytest

from remembrancer.assistant.chat import Chat
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from tests.assistant.talk import chat_of, say
from tests.support.files import bytes_of
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A2")

PORTS = "The proxy pool uses ports 9000 to 9999."
CACHE = "The build cache lives for 83 hours."


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


@pytest.fixture
def chat(store: Remembrancer) -> Chat:
    return chat_of(store)


def contents(me: Memory) -> set[str]:
    return {one.content for one in me.list().items}


def test_A2_remember_that_is_saved_at_once_and_confirmed(chat: Chat, me: Memory) -> None:
    heard = say(chat, "Remember that our staging API is at staging.example.com.")

    assert contents(me) == {"Staging API is at staging.example.com"}
    assert "staging.example.com" in heard.text
    assert len(heard.events) == 1


def test_A2_what_do_you_remember_lists_with_dates(chat: Chat, me: Memory) -> None:
    nothing = "I do not remember anything about you yet."
    assert say(chat, "What do you remember about me?").text == nothing
    me.remember("Ada dives.")
    me.remember("Ada likes green tea.")

    told = say(chat, "What do you remember about me?").text

    assert "- “Ada dives.” (2 Mar 2026)" in told
    assert "- “Ada likes green tea.” (2 Mar 2026)" in told


def test_A2_forget_removes_the_closest_match_and_says_which(chat: Chat, me: Memory) -> None:
    me.remember("Keep answers short, code first.")
    me.remember("Ada lives in Berlin.")

    heard = say(chat, "Forget that I prefer short answers.")

    assert heard.text == "Forgotten: “Keep answers short, code first.”"
    assert contents(me) == {"Ada lives in Berlin."}


def test_A2_what_was_to_be_forgotten_is_not_kept_in_the_request(chat: Chat, me: Memory) -> None:
    me.remember("Ada takes lithium.")

    say(chat, "Forget that I take lithium.")

    assert "lithium" not in str(me.turns(chat.session))
    assert me.recall("lithium") == []


def test_A2_forget_asks_when_several_fit_and_says_when_none_does(chat: Chat, me: Memory) -> None:
    me.remember("The dentist is Dr. Vogel in Berlin.")
    me.remember("The dentist wants to be paid in cash.")

    assert "Several memories match" in say(chat, "forget the dentist").text
    assert say(chat, "forget quantum chromodynamics lectures").events == []
    assert len(contents(me)) == 2


def live(store: Remembrancer, chat: Chat) -> None:
    """What a person leaves behind: memories, conversations, facts of the team."""
    ada, bob = store.for_user("ada"), store.for_user("bob")
    say(chat, "Remember that I take rubidium salts.")
    ada.update(ada.remember("I keep a quokka.").memory.id, "I keep two quokkas, and a wombat.")
    ada.append([{"role": "user", "content": "The wombat is called Zebulon."}], "monday")
    for fact, people in ((PORTS, (ada, bob)), (CACHE, (ada,))):
        for person in people:
            person.propose(fact)


@pytest.mark.feature("A22")
def test_A2_forgetting_everything_asks_once_then_erases_it_for_good(
    store: Remembrancer, chat: Chat, me: Memory, place: str
) -> None:
    live(store, chat)
    key = store.create_key("ada", tenant=me.principal.owner.tenant)

    asked = say(chat, "/forget all").text
    assert "2 memories, 2 conversations, 2 contributions to the team" in asked
    assert "1 team fact that only you told" in asked
    assert "cannot be undone" in asked
    assert "rubidium" in str(contents(me))
    done = say(chat, "yes")

    assert done.text == "I have forgotten everything about you. We start anew."
    assert done.events == []
    assert [one.content for one in me.turns(chat.session)] == ["/forget", done.text]
    assert [one.id for one in me.sessions().items] == [chat.session]
    left = bytes_of(place)
    for word in (b"rubidium", b"quokka", b"Zebulon", CACHE.encode()):
        assert word not in left, word
    (fact,) = store.review().list().items
    assert (fact.fact.content, fact.contributors) == (PORTS, 1)
    assert store.principal_of(key.secret) is not None
    say(chat, "Remember that I like tea.")
    assert contents(me) == {"Likes tea"}


@pytest.mark.parametrize(
    "words",
    ["/forget", "Forget everything about me.", "wipe whatever you've got on me",
     "Please get rid of everything you know about me!", "Lösche alle meine Daten."],
)  # fmt: skip
def test_A2_no_request_to_forget_everything_is_taken_for_a_search(
    chat: Chat, me: Memory, words: str
) -> None:
    me.remember("All my cats are black, everything else is grey.")

    assert "Are you sure?" in say(chat, words).text
    say(chat, "yes")

    assert contents(me) == set()


def test_A2_everything_about_a_topic_is_one_memory(chat: Chat, me: Memory) -> None:
    me.remember("The meeting with Dr. Vogel is in room 4.")
    me.remember("All my cats are black.")

    heard = say(chat, "forget all about the meeting with Dr. Vogel")

    assert heard.text == "Forgotten: “The meeting with Dr. Vogel is in room 4.”"
    assert contents(me) == {"All my cats are black."}


def test_A2_anything_but_yes_keeps_it(chat: Chat, me: Memory) -> None:
    me.remember("Ada dives.")
    say(chat, "/forget")

    say(chat, "no, keep it")
    say(chat, "yes")

    assert contents(me) == {"Ada dives."}


def test_A2_the_question_is_remembered_by_whoever_goes_on(
    store: Remembrancer, chat: Chat, me: Memory
) -> None:
    me.remember("Ada dives.")
    say(chat, "/forget")

    say(chat_of(store, session=chat.session), "yes")

    assert contents(me) == set()


def test_A2_reset_leaves_only_the_recent_turns_behind(chat: Chat, me: Memory) -> None:
    say(chat, "Remember that I like tea.")
    say(chat, "Hello there.")
    before = chat.session

    say(chat, "/reset")

    assert chat.session != before
    assert me.turns(chat.session) == ()
    assert contents(me) == {"Likes tea"}
    assert me.turns(before)


def test_A2_undo_takes_back_the_last_change_of_the_conversation(chat: Chat, me: Memory) -> None:
    say(chat, "Remember that I like tea.")
    say(chat, "Remember that I live in Hamburg.")

    assert "Hamburg" in say(chat, "undo").text
    assert contents(me) == {"Likes tea"}
    say(chat, "undo")
    assert contents(me) == set()
    assert say(chat, "undo").text == "There is nothing to undo in this conversation."


def test_A2_a_correction_replaces_what_it_is_about(chat: Chat, me: Memory) -> None:
    me.remember("I work on the iOS app.")

    heard = say(chat, "Correction: I work on the dashboard, not on the iOS app.")

    assert contents(me) == {"Works on the dashboard, not on the iOS app"}
    assert "instead of “I work on the iOS app.”" in heard.text


def test_A2_without_a_model_it_looks_up_and_says_that_it_cannot_think(
    chat: Chat, me: Memory
) -> None:
    me.remember("The boat in the harbour is called Bluebird.")

    heard = say(chat, "What is the boat in the harbour called?")

    assert "No AI model" in heard.notices[0]
    assert heard.text == (
        "From your memory:\n- “The boat in the harbour is called Bluebird.” (2 Mar 2026)"
    )
    assert say(chat, "/why").text.startswith("I used these memories:\n- “The boat")


def test_A2_what_was_carried_out_is_not_learned_from_again(
    store: Remembrancer, chat: Chat, me: Memory
) -> None:
    say(chat, "Remember that I prefer tea to coffee.")
    say(chat, "undo")

    chat.close()
    store.flush()

    assert contents(me) == set()


def test_A2_secrets_are_left_out_and_said_to_be(chat: Chat, me: Memory) -> None:
    heard = say(chat, "Remember that the database password is kX9-vQ27-mmT4, on port 5433.")

    assert "Secrets are never stored" in heard.text
    assert "kX9-vQ27-mmT4" not in str([me.list().items, me.turns(chat.session)])


def test_A2_words_that_were_obeyed_are_not_brought_up_once_they_hold_no_more(
    open_memory: Open,
) -> None:
    store = open_memory("default")
    me, chat = store.for_user("ada"), chat_of(store)
    say(chat, "Remember that the boat is called Bluebird.")
    say(chat, "Correction: the boat is called Kingfisher.")

    assert not any(
        "Bluebird" in one.memory.content for one in me.recall("what is the boat called?")
    )
    assert me.recall("Bluebird", kinds=["turn"], mode="keyword"), "whoever looks for words said"

    assert me.undo().memory.content == "The boat is called Bluebird.", "not the words themselves"
    assert not any("Kingfisher" in one.memory.content for one in me.recall("the boat's name?"))
