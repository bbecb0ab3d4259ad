"""I4: six categories; search and list filter by them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.types import Fact

pytestmark = [pytest.mark.feature("I4"), pytest.mark.postgres_long]

EXAMPLES = {
    "general": "Acme uses Slack as its primary tool.",
    "preference": "Alice prefers tables over prose.",
    "fact": "Bob's office is in Munich.",
    "event": "Demo with Acme on the twelfth of May.",
    "relationship": "Carol manages Dan's team.",
    "decision": "We decided to use PostgreSQL for the prototype.",
}


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    me = open_fake("instances").for_user("ada", agent="support-bot")
    for category, text in EXAMPLES.items():
        me.remember(text, category=category)
    return me


@pytest.mark.parametrize("category", EXAMPLES)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_I4_search_filters_by_category(category: str, mode: str, me: Memory) -> None:
    text = EXAMPLES[category]
    everything = " ".join(EXAMPLES.values())

    found = me.recall(everything, mode=mode, categories=[category])

    assert [one.memory.content for one in found] == [text]


def test_I4_lists_filter_by_one_or_several_categories(me: Memory) -> None:
    for category, text in EXAMPLES.items():
        assert [one.content for one in me.list(categories=[category]).items] == [text]

    two = me.list(categories=["event", "decision"]).items
    assert {one.content for one in two} == {EXAMPLES["event"], EXAMPLES["decision"]}
    assert len(me.list().items) == 6


def test_I4_general_is_the_usual_category(me: Memory) -> None:
    memory = me.remember("Something without a category.").memory

    assert isinstance(memory, Fact)
    assert memory.category == "general"


@pytest.mark.parametrize("category", ["hunch", "General", "fact "])
def test_I4_an_unknown_category_is_refused_and_the_known_ones_are_named(
    category: str, me: Memory
) -> None:
    names = "general, preference, fact, event, relationship, decision"
    with pytest.raises(InvalidInput, match=names):
        me.remember("Something.", category=category)
    with pytest.raises(InvalidInput, match=names):
        me.recall("Something", categories=[category])
    with pytest.raises(InvalidInput, match=names):
        me.list(categories=[category])
    assert len(me.list().items) == 6


def test_I4_counts_tell_how_many_of_each(me: Memory) -> None:
    me.remember("Another decision was made.", category="decision")

    assert me.stats().by_category == {**dict.fromkeys(EXAMPLES, 1), "decision": 2}
