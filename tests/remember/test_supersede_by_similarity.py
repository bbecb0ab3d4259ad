"""A3: a fact restated (cosine ≥ 0.9 to the nearest one) replaces it; the old version is history."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Action, Status

pytestmark = pytest.mark.feature("A3")


@pytest.fixture
def near(open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder) -> Memory:
    """A memory of one fact, about the office, whose vector is the first axis."""
    fake_embedder.set_cosine("The office is close to the station.", 1.0)
    me = open_fake("assistant").for_user("ada")
    me.remember("The office is close to the station.")
    return me


def active(me: Memory) -> list[str]:
    return sorted(one.content for one in me.list().items)


@pytest.mark.parametrize("cosine", [0.9, 0.900001, 0.95, 1.0])
def test_A3_from_nine_tenths_on_it_is_the_same_fact(
    cosine: float, near: Memory, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine("The office is near the station.", cosine)

    written = near.remember("The office is near the station.")

    assert active(near) == ["The office is near the station."]
    assert written.event is not None
    assert written.event.action is Action.REPLACED
    assert written.replaced is not None
    assert written.replaced.content == "The office is close to the station."


@pytest.mark.parametrize("cosine", [0.899999, 0.8, 0.0, -1.0])
def test_A3_below_nine_tenths_it_is_another_fact(
    cosine: float, near: Memory, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine("The office is large.", cosine)

    written = near.remember("The office is large.")

    assert active(near) == ["The office is close to the station.", "The office is large."]
    assert written.replaced is None


def test_A3_the_nearest_is_the_one_replaced(near: Memory, fake_embedder: FakeEmbedder) -> None:
    fake_embedder.set_cosine("The office is by the lake.", 0.5)
    fake_embedder.set_cosine("The office is right by the station.", 0.97)
    near.remember("The office is by the lake.")

    near.remember("The office is right by the station.")

    assert active(near) == ["The office is by the lake.", "The office is right by the station."]


def test_A3_what_is_no_longer_active_is_not_replaced(
    near: Memory, fake_embedder: FakeEmbedder
) -> None:
    near.forget("station")
    fake_embedder.set_cosine("The office is near the station.", 1.0)

    written = near.remember("The office is near the station.")

    assert written.replaced is None
    assert active(near) == ["The office is near the station."]


def test_A3_the_old_version_stays_in_the_history(near: Memory, clock: ManualClock) -> None:
    first = near.list().items[0]
    second = near.update(first.id, "The office is near the station.").memory

    versions = near.history(second.id).versions
    assert [(one.content, one.status) for one in versions] == [
        ("The office is close to the station.", Status.SUPERSEDED),
        ("The office is near the station.", Status.ACTIVE),
    ]


@pytest.mark.parametrize(
    "again", ["The office is close to the station.", "  the office is close to the STATION. "]
)
def test_A3_the_very_same_words_change_nothing(again: str, near: Memory) -> None:
    old = near.list().items[0]

    written = near.remember(again)

    assert written.event is None
    assert written.memory.id == old.id
    assert len(near.list().items) == 1


OTHERS = [
    ("The office is in Bern.", "The office is in Basel."),
    ("The office has 12 desks.", "The office has 14 desks."),
    ("The office is closed on Mondays.", "The office is closed on Fridays."),
    ("The flight out leaves at noon.", "The flight back leaves at noon."),
    ("The office allows dogs.", "The office does not allow dogs."),
]


@pytest.mark.parametrize(
    ("old", "new"), OTHERS, ids=["name", "number", "day", "direction", "negation"]
)
def test_A3_what_differs_in_a_name_a_number_a_day_or_a_direction_stays_two_memories(
    old: str, new: str, open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder
) -> None:
    for words in (old, new):
        fake_embedder.set_cosine(words, 1.0)
    me = open_fake("assistant").for_user("ada")
    me.remember(old)

    written = me.remember(new)

    assert active(me) == sorted([old, new])
    assert written.replaced is None


def test_A3_with_the_real_model_a_correction_replaces_and_news_is_added(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory("assistant").for_user("ada")
    me.remember("Ada works mostly on the iOS app.")
    me.remember("Ada works mostly on the iOS app now.")
    me.remember("Ada prefers short answers with code first.")

    assert active(me) == [
        "Ada prefers short answers with code first.",
        "Ada works mostly on the iOS app now.",
    ]


def test_A3_another_persons_fact_is_never_replaced(
    open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder
) -> None:
    store = open_fake("assistant")
    for words in ("Likes tea.", "Likes teas."):
        fake_embedder.set_cosine(words, 1.0)
    store.for_user("ada").remember("Likes tea.")
    store.for_user("bob").remember("Likes teas.")

    assert active(store.for_user("ada")) == ["Likes tea."]
