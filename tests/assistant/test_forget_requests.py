"""Which messages with "forget" ask to have a memory forgotten, and which are talk."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.assistant.commands import Forget, parse_command
from remembrancer.testing import ModelEndpoint
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

REQUESTS = {
    "Forget bonds.": "bonds",
    "forget my address": "my address",
    "Forget that I like gold": "I like gold",
    "forget gold and silver": "gold and silver",
    "Forget that I live in Oslo and work at Acme.": "I live in Oslo and work at Acme",
    "forget what I told you about my knee": "my knee",
    "Forget about the meeting in May, please": "the meeting in May",
    "forget everything about Anna": "Anna",
    "Forget my old address, it's wrong.": "my old address",
    "forget that I smoke, that is no longer true": "I smoke",
    "Forget my employer, I changed my mind.": "my employer",
    "please forget my birthday, thanks": "my birthday",
    "Forget that I want to move to Rome.": "I want to move to Rome",
    "forget that my sister is called Ana": "my sister is called Ana",
    "Forget that I like tea, coffee and cake.": "I like tea, coffee and cake",
    "forget my dentist, who is in Oslo": "my dentist, who is in Oslo",
    "forget that I sing and play chess": "I sing and play chess",
    "Forget where I live and what I do.": "where I live and what I do",
    "Forget my address, 12 Main Street, Oslo": "my address, 12 Main Street, Oslo",
    "forget the plan to sell the house": "the plan to sell the house",
    "Forget the idea of buying a boat.": "the idea of buying a boat",
    "/forget my 401k at Fidelity": "my 401k at Fidelity",
    "Forget that I told my boss about the offer": "I told my boss about the offer",
    "forget that I have a question about taxes every May": (
        "I have a question about taxes every May"
    ),
    "Could you forget that I hold gold?": "I hold gold",
    "Forget that I am saving for a house": "I am saving for a house",
    "forget how much I earn": "how much I earn",
    "Forget my risk tolerance": "my risk tolerance",
    "forget the fact that I retired early": "the fact that I retired early",
    "Forget what I said about short answers, please.": "short answers",
    "Forget my mortgage.": "my mortgage",
    "forget that my rent is 900 a month": "my rent is 900 a month",
    "Forget that we bought a car and a boat.": "we bought a car and a boat",
    "Forget about Rex, thanks.": "Rex",
    "please forget that I was born in Lima": "I was born in Lima",
    "Forget my second job, I made that up.": "my second job",
    "forget that I prefer emails to calls": "I prefer emails to calls",
    "Forget the name of my dog": "the name of my dog",
    "forget what you know about my diet": "what you know about my diet",
    "Forget that I never fly and always take trains": "I never fly and always take trains",
    "Would you forget my phone number?": "my phone number",
    "forget that I am allergic to nuts, fish and eggs": "I am allergic to nuts, fish and eggs",
    "Forget that my goal is to retire at 50, it is outdated": "my goal is to retire at 50",
    "forget that I check my portfolio on Fridays": "I check my portfolio on Fridays",
    "Forget the trip to Japan and Korea.": "the trip to Japan and Korea",
    "forget my bonds": "my bonds",
    "forget that I hold bonds": "I hold bonds",
    "forget what I said about bonds": "bonds",
    "Forget that I asked my boss for a raise": "I asked my boss for a raise",
    "Forget that I asked for short answers": "I asked for short answers",
    "forget that I mentioned my address": "I mentioned my address",
    "Forget that I take the bus instead": "I take the bus instead",
    "forget those bonds": "those bonds",
    "Forget these three funds": "these three funds",
    "/forget I asked about bonds": "I asked about bonds",
    "/forget that plan": "plan",
    "/forget gold for now": "gold for now",
}
TALK = (
    "Forget that idea and tell me about gold",
    "forget the past, should I buy gold",
    "Forget bonds, they are boring",
    "forget about it and explain ETFs",
    "Forget it, how do I start",
    "Forget that and give me a recipe",
    "forget about gold, is silver better",
    "Forget the past and focus on the future",
    "Forget stocks for a moment and tell me about bonds",
    "forget gold for now",
    "Forget that plan.",
    "forget I asked",
    "Forget I said anything, let's start over",
    "Forget gold, silver is what matters",
    "Forget bonds and suggest a fund",
    "forget my last question, what about bonds",
    "Forget gold; buy funds instead",
    "forget the idea, I want to talk about bonds",
    "Forget crypto - what should a beginner hold",
    "Forget my address and remember that I live in Rome",
    "Forget gold but keep my bonds",
    "forget stocks. I need advice on bonds",
    "Forget what the papers say, can you explain inflation",
    "Forget that I like gold and tell me about silver",
    "forget this topic, any ideas for dinner",
    "Forget gold and I'll take bonds",
    "forget bonds, do they even pay",
    "Forget the bank, I moved to a broker in Rome",
    "forget that suggestion; why not bonds",
    "Can you forget that and tell me about gold?",
    "Forget the weather, what's for dinner",
    "Forget all that and help me write an email",
    "forget taxes, tell me a joke",
    "Forget what I just asked and start from scratch",
    "Forget this for a second, could we talk about bonds",
    "Forget the rules and just answer",
    "forget about my boss, she is impossible",
    "Forget it all and show me funds",
    "forget real estate, I'd rather own shares",
    "Forget dinner. Where can I get a good coffee",
    "forget gold then, and list some ETFs instead",
    "Forget Bitcoin, everyone loses money with it",
    "Forget last year and look at this one",
    "forget the question about bonds and answer the one on taxes",
    "Forget numbers: give me your honest view",
    "Forget it I guess",
    "forget it already",
    "forget you heard that",
    "Forget it - bonds!",
    "Forget I asked about bonds",
    "Forget that I asked about bonds",
    "forget I ever asked you about bonds",
    "Forget I said anything about bonds",
    "Forget I mentioned bonds",
    "forget what I was asking",
    "Forget my question about bonds",
    "Forget your ideas about bonds",
    "forget I brought up bonds",
    "forget what I just asked",
    "forget what I asked about bonds",
    "Forget those ideas, bonds instead",
    "Forget them, bonds instead",
    "forget gold, bonds instead",
    "Forget bonds for a moment",
    "Forget bonds for the time being",
    "Vergiss, dass ich gefragt habe",
)


@pytest.mark.parametrize(("said", "topic"), REQUESTS.items())
def test_a_request_to_forget_is_a_command_as_a_whole(said: str, topic: str) -> None:
    assert parse_command(said) == Forget(topic)


@pytest.mark.parametrize("said", TALK)
def test_forgetting_that_leads_to_another_topic_is_talk(said: str) -> None:
    assert parse_command(said) is None


IDIOMS = (
    "Forget I asked about bonds",
    "Forget those ideas, bonds instead",
    "Forget I said anything about bonds",
)
HELD = {"Holds bonds and stocks", "Likes gold"}


@pytest.mark.feature("P1", "A2")
@pytest.mark.parametrize("said", [*TALK[:4], *TALK[6:10], *IDIOMS])
def test_talk_forgets_nothing_without_a_model(open_memory: Open, said: str) -> None:
    store = open_memory("advisor")
    me = store.for_user("ada")
    for content in HELD:
        me.remember(content)

    heard = say(chat_of(store), said)

    assert heard.events == []
    assert "Forgotten" not in heard.text
    assert "No AI model" in heard.notices[0]
    assert {one.content for one in me.list().items} == HELD


@pytest.mark.feature("P1", "A2")
def test_talk_goes_to_the_model(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    store = open_memory("advisor", models=models)
    store.for_user("ada").remember("Likes gold")

    heard = say(chat_of(store), "Forget that idea and tell me about gold")

    assert heard.text == "Good day."
    assert "tell me about gold" in str(model.requests[-1].json)
    assert [one.content for one in store.for_user("ada").list().items] == ["Likes gold"]


@pytest.mark.parametrize(
    "words", ["Forget about gold and bonds.", "forget my gold, bonds", "forget bonds and the gold"]
)
def test_A2_two_things_that_two_memories_are_about_are_asked_about(
    open_memory: Open, words: str
) -> None:
    store = open_memory("advisor")
    me = store.for_user("ada")
    kept = [
        me.remember(one).memory.content for one in ("Likes gold", "Holds bonds", "Is left-handed")
    ]
    chat = chat_of(store)

    heard = say(chat, words)

    assert "Several memories match" in heard.text
    assert "“Likes gold”" in heard.text
    assert "“Holds bonds”" in heard.text
    assert "left-handed" not in heard.text
    assert not heard.events
    assert len(me.list().items) == len(kept)
    assert "Forgotten: “Likes gold”" in say(chat, "Forget likes gold").text


@pytest.mark.parametrize(
    "others", [("Bakes cake",), ("Drinks tea, coffee and cake shakes in Rome",), ()]
)
def test_A2_an_enumeration_that_one_memory_holds_ends_that_one(
    open_memory: Open, others: tuple[str, ...]
) -> None:
    store = open_memory("advisor")
    me = store.for_user("ada")
    for one in ("Likes coffee and cake", *others):
        me.remember(one)

    heard = say(chat_of(store), "Forget that I like coffee and cake.")

    assert "Forgotten: “Likes coffee and cake”" in heard.text
    assert [one.content for one in me.list().items] == list(others)
