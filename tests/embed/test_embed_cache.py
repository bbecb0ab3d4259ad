"""The cache: the same words are computed once, and nobody can spoil what it keeps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.embed.cache import CachedEmbedder
from remembrancer.testing import FakeEmbedder


@pytest.fixture
def inner() -> FakeEmbedder:
    return FakeEmbedder(dimensions=4)


def test_passes_on_the_model_and_its_dimensions(inner: FakeEmbedder) -> None:
    cached = CachedEmbedder(inner)
    assert (cached.model, cached.dimensions) == ("fake", 4)
    assert cached.embed([]).shape == (0, 4)


def test_only_what_is_missing_is_computed(inner: FakeEmbedder) -> None:
    cached = CachedEmbedder(inner)
    cached.embed(["tea", "milk"])
    rows = cached.embed(["milk", "sugar", "tea"])
    assert inner.requests == [["tea", "milk"], ["sugar"]]
    assert (rows == inner.embed(["milk", "sugar", "tea"])).all()


def test_a_text_given_twice_is_computed_once(inner: FakeEmbedder) -> None:
    rows = CachedEmbedder(inner).embed(["tea", "milk", "tea"])
    assert inner.requests == [["tea", "milk"]]
    assert (rows[0] == rows[2]).all()


def test_the_text_used_longest_ago_is_forgotten_first(inner: FakeEmbedder) -> None:
    cached = CachedEmbedder(inner, max_entries=2)
    cached.embed(["tea", "milk"])
    cached.embed(["tea"])
    cached.embed(["sugar"])
    inner.requests.clear()
    cached.embed(["tea", "sugar"])
    cached.embed(["milk"])
    assert inner.requests == [["milk"]]


@pytest.mark.parametrize("entries", [0, 1])
def test_one_call_may_ask_for_more_than_is_kept(inner: FakeEmbedder, entries: int) -> None:
    texts = ["tea", "milk", "sugar"]
    assert (CachedEmbedder(inner, entries).embed(texts) == inner.embed(texts)).all()


def test_changing_an_answer_does_not_change_the_next_one(inner: FakeEmbedder) -> None:
    cached = CachedEmbedder(inner)
    for _ in range(2):
        rows = cached.embed(["tea"])
        assert (rows == inner.embed(["tea"])).all()
        rows[:] = 0


def test_a_failure_is_not_remembered(inner: FakeEmbedder) -> None:
    cached = CachedEmbedder(inner)
    with pytest.raises(UnicodeEncodeError):
        cached.embed(["tea", "\ud800"])
    assert (cached.embed(["tea"]) == inner.embed(["tea"])).all()


def test_threads_share_one_cache(inner: FakeEmbedder) -> None:
    cached = CachedEmbedder(inner, max_entries=5)
    texts = [f"text {number}" for number in range(20)]
    expected = inner.embed(texts)

    def use(start: int) -> bool:
        order = [(start + step) % 20 for step in range(20)]
        return bool((cached.embed([texts[i] for i in order]) == expected[order]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(200)))


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=12))
def test_a_cache_of_any_history_answers_like_no_cache(calls: list[list[str]]) -> None:
    inner = FakeEmbedder(dimensions=4)
    cached = CachedEmbedder(inner, max_entries=3)
    for texts in calls:
        assert (cached.embed(texts) == FakeEmbedder(dimensions=4).embed(texts)).all()
