"""P4: 300 profile, 500 finance_context, 200 response_style, 500 fact; the rest through recall."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import count_tokens

pytestmark = [pytest.mark.feature("P4"), pytest.mark.postgres_long]

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
