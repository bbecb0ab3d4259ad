"""P4: 300 profile, 500 finance_context, 200 response_style, 500 fact; the rest through recall.

What is told is filed by its words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.assistant.chat import Chat
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import count_tokens
from remembrancer.testing import ModelEndpoint
from remembrancer.types import Fact
from tests.support.proposals import proposal, proposes

pytestmark = [pytest.mark.feature("P4"), pytest.mark.postgres_long]

STYLE = "response_style"
BUDGETS = {"profile": 300, "finance_context": 500, "response_style": 200, "fact": 500}

Open = Callable[..., Remembrancer]


@pytest.fixture
def me(open_fake: Open) -> Memory:
    return open_fake("advisor").for_user("ada")


def fill(me: Memory, category: str, count: int = 40, length: int = 60) -> None:
    for number in range(count):
        me.remember(f"{category} {number:03} ".ljust(length, "x"), category=category)


def part(text: str, category: str) -> str:
    """What a category takes: its heading and its lines."""
    heading = f"\n### {category.replace('_', ' ').capitalize()}\n"
    _, found, rest = text.partition(heading)
    lines = rest.partition("\n\n")[0].removesuffix("</remembered>")
    return found + lines


@pytest.mark.parametrize(("category", "budget"), BUDGETS.items())
def test_P4_a_category_fills_its_budget_and_never_exceeds_it(
    category: str, budget: int, me: Memory
) -> None:
    fill(me, category)

    taken = count_tokens(part(me.context().text, category))

    assert budget - 16 < taken <= budget


def test_P4_the_whole_is_within_1500_tokens(me: Memory) -> None:
    for category in BUDGETS:
        fill(me, category)

    context = me.context()

    assert 1400 < context.tokens <= 1500
    for category, budget in BUDGETS.items():
        assert 0 < count_tokens(part(context.text, category)) <= budget


def test_P4_a_full_category_takes_nothing_from_the_others(me: Memory) -> None:
    me.remember("be concise", category="response_style")
    before = part(me.context().text, "response_style")

    fill(me, "profile")
    fill(me, "finance_context")

    assert part(me.context().text, "response_style").strip() == before.strip()


def test_P4_what_is_too_long_is_left_out_whole_and_a_shorter_one_goes_in(me: Memory) -> None:
    me.remember("x" * 1200, category="profile", importance=10)
    short = me.remember("age: 40", category="profile").memory

    assert me.context().memories == (short.id,)


def test_P4_a_summary_makes_a_long_one_fit(me: Memory) -> None:
    me.remember("x" * 5000, category="profile", summary="age: 40")

    assert part(me.context().text, "profile") == "\n### Profile\n- age: 40\n"


def test_P4_the_long_tail_is_reached_through_recall(me: Memory) -> None:
    least = me.remember("The boat is called Nina, after " + "x" * 60, importance=1).memory
    fill(me, "fact", count=60)

    assert least.id not in me.context().memories
    assert least.id in [one.memory.id for one in me.recall("boat Nina", mode="keyword")]


def test_P4_the_budgets_are_choices_of_the_profile(open_fake: Open) -> None:
    adjust = {"categories": {"profile": {"budget_tokens": 40}}, "context": {"budget_tokens": 150}}
    me = open_fake("advisor", profile_overrides=adjust).for_user("ada")
    fill(me, "profile")
    fill(me, "fact")

    context = me.context()

    assert 24 < count_tokens(part(context.text, "profile")) <= 40
    assert 134 < context.tokens <= 150


@pytest.mark.parametrize("budget", [0, 80, 1000])
def test_P4_a_call_may_set_the_whole(budget: int, me: Memory) -> None:
    for category in BUDGETS:
        fill(me, category)

    assert me.context(budget=budget).tokens <= min(budget, 1600)


TOLD = {
    "I pay tax in Thailand": "finance_context",
    "I only do funds.": "finance_context",
    "I no longer hold bonds.": "finance_context",
    "I prefer funds only": "finance_context",
    "my 401k is at Fidelity": "finance_context",
    "Ich habe ein Depot bei der Postbank.": "finance_context",
    "be concise": "response_style",
    "show percentages, not dollars": "response_style",
    "I prefer short answers about my taxes": "response_style",
    "I'm targeting retirement at 50": "profile",
    "my risk tolerance is moderate": "profile",
    "I like tea": "profile",
    "my wife's name is Sarah": "fact",
    "the boat is called Bluebird": "fact",
}


def categories_of(me: Memory) -> dict[str, str]:
    return {one.content: one.category for one in me.list().items if isinstance(one, Fact)}


def test_P4_what_is_told_gets_the_category_its_words_call_for(open_fake: Open) -> None:
    store = open_fake("advisor")
    for words, category in TOLD.items():
        me = store.for_user(f"user-{len(words)}-{category}")
        list(Chat(me, store.models).say(f"Remember: {words}"))

        assert list(categories_of(me).values()) == [category], words


def test_P4_a_statement_and_a_wish_for_answers_are_two_memories(open_fake: Open) -> None:
    store = open_fake("advisor")
    me = store.for_user("ada")

    list(Chat(me, store.models).say("Remember that I pay tax in Thailand and be concise."))

    assert categories_of(me) == {
        "Pays tax in Thailand": "finance_context",
        "Be concise": "response_style",
    }


TOGETHER = {
    "Remember I'm 42 and be concise": {"Is 42 years old": "profile", "Be concise": STYLE},
    "Note that I pay tax in Thailand and show percentages not dollars": {
        "Pays tax in Thailand": "finance_context",
        "Show percentages not dollars": STYLE,
    },
    "Remember I pay tax in Thailand and I like short answers": {
        "Pays tax in Thailand": "finance_context",
        "Likes short answers": STYLE,
    },
    "Please remember: I pay tax in Thailand. Be concise.": {
        "Pays tax in Thailand": "finance_context",
        "Be concise": STYLE,
    },
    "Remember I'm left-handed, but be honest about my portfolio": {
        "Is left-handed": "profile",
        "Be honest about my portfolio": STYLE,
    },
}


@pytest.mark.parametrize(("words", "memories"), TOGETHER.items())
def test_P4_each_wish_for_answers_is_a_memory_of_its_own(
    open_fake: Open, words: str, memories: dict[str, str]
) -> None:
    store = open_fake("advisor")
    me = store.for_user("ada")

    list(Chat(me, store.models).say(words))

    assert categories_of(me) == memories
    assert all(one.evidence and one.evidence[0].quote in words for one in me.list().items)


def chat_and_close(store: Remembrancer, me: Memory, words: str) -> None:
    chat = Chat(me, store.models)
    list(chat.say(words))
    chat.close()
    store.flush()


MERELY_TOLD = {
    "I pay tax in Thailand and be concise": {
        "Pays tax in Thailand": "finance_context",
        "Be concise": STYLE,
    },
    "I live in Oslo and be concise": {"Lives in Oslo": "profile", "Be concise": STYLE},
    "I no longer own any crypto": {"No longer owns any crypto": "finance_context"},
}


@pytest.mark.parametrize(("words", "memories"), MERELY_TOLD.items())
def test_P4_what_is_merely_told_is_filed_without_a_model(
    open_fake: Open, words: str, memories: dict[str, str]
) -> None:
    store = open_fake("advisor")
    me = store.for_user("ada")

    chat_and_close(store, me, words)

    assert categories_of(me) == memories


def test_P4_a_model_that_finds_nothing_does_not_join_what_is_told(
    open_fake: Open, models: dict[str, Any]
) -> None:
    store = open_fake("advisor", models=models)
    me = store.for_user("ada")

    chat_and_close(store, me, "I live in Oslo and be concise")

    assert categories_of(me) == {"Lives in Oslo": "profile", "Be concise": STYLE}


def test_P4_what_a_model_finds_in_one_sentence_keeps_its_categories(
    open_fake: Open, models: dict[str, Any], model: ModelEndpoint
) -> None:
    store = open_fake("advisor", models=models)
    me = store.for_user("ada")
    found = (
        proposal("Pays tax in Thailand", "I pay tax in Thailand", category="finance_context"),
        proposal("Prefers concise answers", "be concise", category=STYLE),
    )
    model.script = proposes(*found)

    chat_and_close(store, me, "I pay tax in Thailand and be concise")

    assert categories_of(me) == {
        "Pays tax in Thailand": "finance_context",
        "Prefers concise answers": STYLE,
    }


def test_P4_what_rules_learn_and_what_comes_without_a_category_is_filed_alike(me: Memory) -> None:
    words = "Actually I prefer funds only. Remember that I only do ETFs. What should I buy?"
    me.append([{"role": "user", "content": words}], "monday")
    me.close("monday")
    me.learn_now("monday")
    me.remember("Has a mortgage with the Postbank.")
    me.remember("Has a mortgage in mind.", category="fact")

    assert categories_of(me) == {
        "Prefers funds only": "finance_context",
        "Only does ETFs": "finance_context",
        "Has a mortgage with the Postbank.": "finance_context",
        "Has a mortgage in mind.": "fact",
    }
