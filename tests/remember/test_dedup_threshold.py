"""I8: similarity > 0.90 updates, else inserts: exactly 0.90 is not above it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder

pytestmark = pytest.mark.feature("I8")

OLD, NEW = "The demo went down well with Acme.", "The demo was a success with Acme."
OTHER_MONTH, OTHER_NAME = "The demo for Acme is in June.", "The demo for Globex is in May."


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder) -> Remembrancer:
    fake_embedder.set_cosine(OLD, 1.0)
    return open_fake("instances")


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
    cosine: float, expected: set[str], bot: Memory, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine(NEW, cosine)
    bot.remember(OLD)

    bot.remember(NEW)

    assert contents(bot) == expected


@pytest.mark.parametrize("other", [OTHER_MONTH, OTHER_NAME])
def test_I8_however_near_another_month_or_name_is_another_memory(
    other: str, bot: Memory, fake_embedder: FakeEmbedder
) -> None:
    in_may = "The demo for Acme is in May."
    fake_embedder.set_cosine(in_may, 1.0)
    fake_embedder.set_cosine(other, 1.0)
    bot.remember(in_may)

    bot.remember(other)

    assert contents(bot) == {in_may, other}


def test_I8_another_instances_memory_is_never_updated(
    store: Remembrancer, bot: Memory, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine(NEW, 1.0)
    sales = store.for_user("ada", agent="sales-bot")
    bot.remember(OLD)

    sales.remember(NEW)

    assert contents(bot) == {OLD}
    assert contents(sales) == {NEW}
