"""A2: what a person asks to have remembered is stored at once; a question is answered."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.assistant.commands import Remember, parse_command
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A2", "P4")

REQUESTS = {
    "Remember that I only do funds, what should I buy?": ("I only do funds", "what should I buy?"),
    "Remember that I only do funds. What should I buy?": ("I only do funds.", "What should I buy?"),
    "Remember that I only do funds - is gold any good?": ("I only do funds", "is gold any good?"),
    "remember I'm 42 and tell me about pensions": ("I'm 42", "tell me about pensions"),
    "Please remember: tea at four, is that ok?": ("Tea at four", "is that ok?"),
    "Can you remember that I like tea? Which one should I try?": (
        "I like tea",
        "Which one should I try?",
    ),
    "Remember that I only do funds, ok?": ("I only do funds", ""),
    "Remember that I am always right": ("I am always right", ""),
    "Remember that our rule is: what is measured is done": (
        "Our rule is: what is measured is done",
        "",
    ),
    "Remember that I live in Oslo and I want to retire at 50": (
        "I live in Oslo and I want to retire at 50",
        "",
    ),
    "Remember that my sister is Ana, who is in Oslo": ("My sister is Ana, who is in Oslo", ""),
    "Remember to be concise": ("Be concise", ""),
    "Remember show percentages not dollars": ("Show percentages not dollars", ""),
    "Remember don't suggest individual stocks": ("Don't suggest individual stocks", ""),
    "Please remember keep answers short. What is an ETF?": (
        "Keep answers short.",
        "What is an ETF?",
    ),
    "Don't forget to be brief, is gold safe?": ("Be brief", "is gold safe?"),
    "Always be concise.": ("Always be concise.", ""),
    "From now on answer in German.": ("From now on answer in German.", ""),
    "Never use emojis. What is an ETF?": ("Never use emojis.", "What is an ETF?"),
}
TALK = (
    "Remember that film we saw?",
    "Remember that film we saw, what was it called?",
    "Remember that I like tea?",
    "Remember to buy milk",
    "Remember buy milk",
    "Remember when we went to Oslo?",
    "Remember when we went to Oslo",
    "Remember me?",
    "Remember me",
    "Remember the Alamo?",
    "Remember the Alamo",
    "Remember show business?",
    "I remember show percentages not dollars",
    "I remember that I like tea",
    "Do you remember show percentages not dollars?",
    "Do you remember show percentages not dollars",
    "Always be careful with knives",
    "Be concise: what is an ETF?",
    "Never mind.",
)


@pytest.mark.parametrize(("said", "parts"), REQUESTS.items())
def test_a_request_is_read_apart_from_the_question_behind_it(
    said: str, parts: tuple[str, str]
) -> None:
    assert parse_command(said) == Remember(*parts)


@pytest.mark.parametrize("said", TALK)
def test_a_question_and_a_wish_for_one_answer_are_no_request(said: str) -> None:
    assert parse_command(said) is None


def contents(me: Memory) -> list[str]:
    return [one.content for one in me.list().items]


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ("Remember that I only do funds, what should I buy?", "Only does funds"),
        ("Remember to be concise", "Be concise"),
        ("Remember show percentages not dollars", "Show percentages not dollars"),
        ("Always be concise", "Always be concise"),
    ],
)
def test_A2_a_request_is_carried_out_without_a_model(
    open_memory: Open, words: str, content: str
) -> None:
    store = open_memory("advisor")
    me = store.for_user("ada")

    heard = say(chat_of(store), words)

    assert contents(me) == [content]
    assert heard.text.startswith(f"I will remember that: “{content}”")
    assert len(heard.events) == 1


def test_A2_the_question_behind_a_request_is_looked_up_without_a_model(
    open_memory: Open,
) -> None:
    store = open_memory("advisor")
    store.for_user("ada").remember("The boat in the harbour is called Bluebird.")
    chat = chat_of(store)

    heard = say(chat, "Remember that I live in Oslo, what is the boat in the harbour called?")

    assert "I will remember that: “Lives in Oslo”" in heard.text
    assert "Bluebird" in heard.text
    assert "No AI model" in heard.notices[0]
    assert "Bluebird" in say(chat, "/why").text


@pytest.fixture
def talking(open_memory: Open, model: ModelEndpoint, models: dict[str, Any]) -> Remembrancer:
    return open_memory("advisor", models=models)


def test_A2_the_model_answers_the_question_and_knows_what_is_stored(
    talking: Remembrancer, model: ModelEndpoint
) -> None:
    me, chat = talking.for_user("ada"), chat_of(talking)
    say(chat, "Good morning.")

    heard = say(chat, "Remember that I only do funds, what should I buy?")

    assert heard.text == "I will remember that: “Only does funds”\n\nGood day."
    assert contents(me) == ["Only does funds"]
    messages = model.requests[-1].json["messages"]
    assert str(messages).count("what should I buy?") == 1
    assert "do not save it again" in str(messages)
    chat.close()
    talking.flush()
    assert contents(me) == ["Only does funds"]
    say(chat, "undo")
    assert contents(me) == []


def test_A2_a_request_that_is_refused_says_why_and_the_question_is_answered(
    talking: Remembrancer,
) -> None:
    me = talking.for_user("ada")

    heard = say(chat_of(talking), f"Remember that I {'really ' * 3000}dive, is that safe?")

    assert contents(me) == []
    assert "characters" in heard.text
    assert heard.text.endswith("Good day.")


def test_A2_a_request_in_mid_message_is_learned_with_a_question_behind_it(
    open_memory: Open,
) -> None:
    store = open_memory("advisor")
    chat = chat_of(store)

    say(chat, "I'm new here. Remember that I only do funds, what should I buy?")
    chat.close()
    store.flush()

    assert contents(store.for_user("ada")) == ["Only does funds"]
