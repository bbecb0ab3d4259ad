"""I8: similarity > 0.90 updates, else inserts: exactly 0.90 is not above it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from set_embedder import SetEmbedder

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory

OLD, NEW = "Demo with Acme in May.", "Demo with Acme in June."


@pytest.fixture
def store(open_set: Callable[..., Remembrancer], set_embedder: SetEmbedder) -> Remembrancer:
    set_embedder.at_cosine(OLD, 1.0)
    return open_set("instances")


@pytest.fixture
def bot(store: Remembrancer) -> Memory:
    return store.for_user("ada", agent="support-bot")


def contents(memory: Memory) -> set[str]:
    return {one.content for one in memory.list().items}


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        (0.5, {OLD, NEW}),
        (0.89, {OLD, NEW}),
        (0.9, {OLD, NEW}),
        (0.90001, {NEW}),
        (0.91, {NEW}),
        (1.0, {NEW}),
    ],
)
def test_I8_the_border_is_strict(
    cosine: float, expected: set[str], bot: Memory, set_embedder: SetEmbedder
) -> None:
    set_embedder.at_cosine(NEW, cosine)
    bot.remember(OLD)

    bot.remember(NEW)

    assert contents(bot) == expected


def test_I8_another_instances_memory_is_never_updated(
    store: Remembrancer, bot: Memory, set_embedder: SetEmbedder
) -> None:
    set_embedder.at_cosine(NEW, 1.0)
    sales = store.for_user("ada", agent="sales-bot")
    bot.remember(OLD)

    sales.remember(NEW)

    assert contents(bot) == {OLD}
    assert contents(sales) == {NEW}
