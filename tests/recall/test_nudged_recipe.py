"""A7: score = cosine distance − 0.02 × importance − recency boost; the lower, the nearer.

A recalled memory's `score` is the negative of that, as everywhere a higher score is a better one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Recalled

pytestmark = pytest.mark.feature("A7")

QUERY = "the question"


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder) -> Remembrancer:
    fake_embedder.set_cosine(QUERY, 1.0)
    return open_fake("assistant")


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def distance_score(recalled: Recalled) -> float:
    """The score as the row gives it."""
    return -recalled.score


@pytest.mark.parametrize(
    ("cosine", "importance", "days", "score"),
    [
        (1.0, 1, 0, 0.0 - 0.02 - 0.05),
        (0.8, 3, 0, 0.2 - 0.06 - 0.05),
        (0.8, 5, 0, 0.2 - 0.10 - 0.05),
        (0.5, 4, 30, 0.5 - 0.08 - 0.05 / math.e),
        (0.0, 2, 60, 1.0 - 0.04 - 0.05 / math.e**2),
        (-0.5, 3, 3650, 1.5 - 0.06 - 0.0),
    ],
)
def test_A7_the_score_is_the_formula(
    cosine: float,
    importance: int,
    days: int,
    score: float,
    me: Memory,
    clock: ManualClock,
    fake_embedder: FakeEmbedder,
) -> None:
    fake_embedder.set_cosine("the answer", cosine)
    me.remember("the answer", importance=importance)
    clock.advance(timedelta(days=days))

    (found,) = me.recall(QUERY)

    assert distance_score(found) == pytest.approx(score, abs=1e-5)


def test_A7_the_order_is_that_of_the_score(
    me: Memory, clock: ManualClock, fake_embedder: FakeEmbedder
) -> None:
    scores = {}
    for cosine, importance in ((0.80, 1), (0.78, 5), (0.70, 5), (0.79, 3), (0.10, 5)):
        words = f"{cosine} and {importance}"
        fake_embedder.vectors[words] = fake_embedder.embed([words])[0]
        _tilt(fake_embedder, words, cosine)
        me.remember(words, importance=importance)
        scores[words] = (1 - cosine) - 0.02 * importance - 0.05

    found = [one.memory.content for one in me.recall(QUERY)]

    assert found == sorted(scores, key=scores.__getitem__)


def test_A7_being_recalled_is_a_recent_use_and_lifts_the_score(
    me: Memory, store: Remembrancer, clock: ManualClock, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine("the answer", 0.6)
    me.remember("the answer", importance=3)
    clock.advance(timedelta(days=90))
    (stale,) = me.recall(QUERY)
    store.flush()
    clock.advance(timedelta(days=15))

    (used,) = me.recall(QUERY)

    assert distance_score(stale) == pytest.approx(0.4 - 0.06 - 0.05 * math.exp(-3), abs=1e-5)
    assert distance_score(used) == pytest.approx(0.4 - 0.06 - 0.05 * math.exp(-0.5), abs=1e-5)


def test_A7_recall_counts_are_kept_and_the_time_of_the_last_one(
    me: Memory, store: Remembrancer, clock: ManualClock, fake_embedder: FakeEmbedder
) -> None:
    memory = me.remember("the answer").memory
    assert (me.get(memory.id).recall_count, me.get(memory.id).recalled_at) == (0, None)

    me.recall(QUERY)
    me.recall(QUERY)
    clock.advance(timedelta(hours=1))
    me.recall(QUERY)
    store.flush()
    assert (me.get(memory.id).recall_count, me.get(memory.id).recalled_at) == (3, clock.now())

    clock.advance(timedelta(hours=1))
    me.recall(QUERY)
    store.flush()
    assert (me.get(memory.id).recall_count, me.get(memory.id).recalled_at) == (4, clock.now())


def test_A7_only_what_was_brought_back_is_counted(
    me: Memory, store: Remembrancer, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine("near", 0.8)
    fake_embedder.set_cosine("far", 0.1)
    near, far = me.remember("near").memory, me.remember("far").memory

    me.recall(QUERY, limit=1)
    me.list()
    store.flush()

    assert me.get(near.id).recall_count == 1
    assert me.get(far.id).recall_count == 0


def test_A7_counting_is_no_event_and_no_new_version(
    me: Memory, store: Remembrancer, fake_embedder: FakeEmbedder
) -> None:
    memory = me.remember("the answer").memory
    before = me.stats().events

    me.recall(QUERY)
    store.flush()

    assert me.stats().events == before
    assert [one.id for one in me.history(memory.id).versions] == [memory.id]


def test_A7_what_is_waiting_is_written_when_the_store_is_closed(
    open_fake: Callable[..., Remembrancer],
) -> None:
    with open_fake("assistant") as first:
        memory = first.for_user("ada").remember("the answer").memory
        first.for_user("ada").recall(QUERY)

    assert open_fake("assistant").for_user("ada").get(memory.id).recall_count == 1


def test_A7_top_k_is_eight_unless_told_otherwise(me: Memory) -> None:
    for number in range(12):
        me.remember(f"statement {number}")

    assert len(me.recall(QUERY)) == 8
    assert len(me.recall(QUERY, limit=3)) == 3


def test_A7_the_embedding_has_384_dimensions(embedder: object) -> None:
    assert embedder.dimensions == 384  # type: ignore[attr-defined]
    assert embedder.embed(["a sentence"]).shape == (1, 384)  # type: ignore[attr-defined]


def _tilt(embedder: FakeEmbedder, words: str, cosine: float) -> None:
    """Give a text that cosine to the first axis, in a direction of its own otherwise."""
    vector = embedder.embed([words])[0].astype("float64")
    vector[0] = 0
    vector *= math.sqrt(1 - cosine**2) / math.sqrt(float(vector @ vector))
    vector[0] = cosine
    embedder.vectors[words] = vector.astype("float32")
