"""N8: what says the same becomes one, versions and links are kept, use is counted, vectors too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.embed.cache import CachedEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from tests.support.opening import Open

pytestmark = [pytest.mark.feature("N8"), pytest.mark.postgres_long]


@pytest.fixture
def people(open_memory: Open) -> Remembrancer:
    return open_memory("namespaces")


@pytest.fixture
def me(people: Remembrancer, tenant: str) -> Memory:
    return people.for_namespace([tenant, "ada", "notes"])


def test_N8_what_is_said_twice_becomes_one_and_nothing_of_another_namespace(
    people: Remembrancer, me: Memory, tenant: str
) -> None:
    first = me.remember("Ada drinks green tea").memory
    assert me.remember("Ada drinks some green tea").replaced == me.get(first.id)
    me.forget("some green tea")
    me.remember("Ada drinks some green tea")
    me.restore(me.history(first.id).versions[-1].id)
    deeper = people.for_namespace([tenant, "ada", "notes", "deeper"])
    deeper.remember("Ada drinks green tea")
    assert len(me.list().items) == 3

    (plan,) = me.plan_consolidation()
    me.consolidate(plan)

    assert [one.scope for one in me.list().items] == ["notes/deeper", "notes"]
    me.undo()
    assert len(me.list().items) == 3


def test_N8_versions_and_links_are_kept(me: Memory) -> None:
    tea = me.remember("Ada drinks green tea").memory
    cup = me.remember("The red cup is hers").memory
    me.link(tea.id, cup.id)

    newer = me.update(tea.id, "Ada drinks white tea").memory

    assert [one.content for one in me.history(newer.id).versions] == [
        "Ada drinks green tea",
        "Ada drinks white tea",
    ]
    assert [(one.source, one.target) for one in me.links(cup.id)] == [(newer.id, cup.id)]


def test_N8_how_often_a_memory_was_of_use_is_told(people: Remembrancer, me: Memory) -> None:
    tea = me.remember("Ada drinks green tea").memory
    for _ in range(3):
        me.recall("tea")
    me.recall("tea", used=False)
    people.flush()

    assert me.get(tea.id).recall_count == 3
    assert me.stats().by_scope == {"notes": 1}


def test_N8_what_is_used_most_and_what_never_was_can_be_listed(
    people: Remembrancer, me: Memory
) -> None:
    for words in ("Ada drinks green tea", "Ada owns a red bicycle", "Ada plays the cello"):
        me.remember(words)
    for query, times in (("bicycle", 3), ("tea", 2)):
        for _ in range(times):
            me.recall(query, limit=1)
    people.flush()

    first = me.list(order="most_used", limit=2)
    rest = me.list(order="most_used", limit=2, cursor=first.cursor)
    assert [one.content for one in (*first.items, *rest.items)] == [
        "Ada owns a red bicycle",
        "Ada drinks green tea",
        "Ada plays the cello",
    ]
    assert rest.cursor is None
    assert [one.content for one in me.list(never_used=True).items] == ["Ada plays the cello"]
    with pytest.raises(InvalidInput, match="order"):
        me.list(order="oldest")
    with pytest.raises(InvalidInput, match="Use is known as of now alone"):
        me.list(order="most_used", as_of=datetime(2026, 1, 1, tzinfo=UTC))


def test_N8_many_ways_to_say_the_same_become_one_and_can_be_told_apart_again(me: Memory) -> None:
    same = (
        "Drinks green tea in the morning",
        "Has green tea every morning",
        "Likes green tea in the mornings",
        "Prefers green tea in the morning",
        "Wants green tea each morning",
        "In the morning drinks green tea",
    )
    others = (
        "Drinks green tea in the evening",
        "Does not drink green tea at work",
        "Drinks black tea in the morning",
        "Drank green tea this morning",
        "Likes green tea with honey in the morning",
        "Has a green mountain bike",
        "Wants a green mountain bike",
    )
    for words in (*same, *others):
        me.remember(words)
    stored = {one.content for one in me.list().items}
    latest = max(one.expires_at for one in me.list().items if one.content in same)
    assert len(stored & {*same}) > 1

    (plan,) = me.plan_consolidation()
    (kept,) = [line for line in plan.diff() if line.startswith("=")]
    assert {line[2:] for line in plan.diff()} == stored & {*same}
    result = me.consolidate()

    left = {one.content for one in me.list().items}
    assert left & {*same} == {kept[2:]}
    assert {one.expires_at for one in me.list().items if one.content in same} == {latest}
    assert left & {*others} == stored & {*others}
    (batch,) = result.batches
    assert batch.event is not None
    me.undo(batch.event.id)
    assert {one.content for one in me.list().items} == stored


def test_N8_the_same_words_are_embedded_once(embedder: CachedEmbedder) -> None:
    asked: list[str] = []

    class Counting:
        model, dimensions = embedder.model, embedder.dimensions

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            return embedder.embed(texts)

    cached = CachedEmbedder(Counting())
    first, again = (cached.embed(["green tea"]) for _ in range(2))

    assert asked == ["green tea"]
    assert np.array_equal(first, again)
