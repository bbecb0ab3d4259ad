"""N8: adaptive TTL: where the profile says so, being recalled gives a memory its time again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import AsOf, Status

pytestmark = pytest.mark.feature("N8")

DAY = timedelta(days=1)


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("namespaces")


@pytest.fixture
def me(store: Remembrancer, tenant: str) -> Memory:
    return store.for_namespace((tenant, "ada"))


def used(store: Remembrancer, me: Memory, words: str = "French") -> None:
    assert me.recall(words)
    store.flush()


def test_N8_what_is_used_lives_for_its_days_from_then(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Answer in French.", category="context").memory
    clock.advance(20 * DAY)

    used(store, me)

    assert me.get(memory.id).expires_at == clock.now() + 30 * DAY
    clock.advance(29 * DAY)
    assert [one.id for one in me.list().items] == [memory.id]


def test_N8_a_time_of_its_own_is_extended_by_just_that(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Answer in French.", ttl_days=3).memory
    clock.advance(2 * DAY)

    used(store, me)

    assert me.get(memory.id).expires_at == clock.now() + 3 * DAY


@pytest.mark.feature("X2")
def test_N8_looking_back_is_no_use(store: Remembrancer, me: Memory, clock: ManualClock) -> None:
    key = {"subject": "ada", "predicate": "language"}
    memory = me.remember("Answer in French.", ttl_days=3, **key).memory
    then = clock.now()
    clock.advance(2 * DAY)

    for as_of in (then, AsOf(known=then), AsOf(true=then)):
        assert me.recall("French", as_of=as_of)
        assert me.get(memory.id, as_of=as_of, used=True)
        assert me.fact(*key.values(), as_of=as_of, used=True)
        assert me.context("Which language?", as_of=as_of, style="note").memories
    store.flush()

    assert me.get(memory.id) == memory


def test_N8_use_does_not_bring_back_what_has_expired(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    memory = me.remember("Answer in French.", category="context").memory
    clock.advance(30 * DAY)
    assert me.recall("French") == []
    store.flush()

    assert store.run_job("decay_sweep", tenant=tenant).changed == 1
    assert me.get(memory.id).status is Status.EXPIRED
    assert me.confirm(memory.id).memory.expires_at == clock.now() + 30 * DAY
    assert [one.id for one in me.list().items] == [memory.id]


def test_N8_use_extends_a_memory_up_to_four_times_its_days_since_it_was_confirmed(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Answer in French.", category="context").memory
    last = memory.recorded_at + 120 * DAY
    for _ in range(5):
        clock.advance(23 * DAY)
        used(store, me)
    assert me.get(memory.id).expires_at == last
    clock.advance(5 * DAY)
    assert me.list().items == ()

    again = me.remember("Answer in German.", category="context").memory
    clock.advance(20 * DAY)
    me.confirm(again.id)
    for _ in range(5):
        clock.advance(23 * DAY)
        used(store, me, "German")
    assert me.get(again.id).expires_at == again.recorded_at + 140 * DAY


def test_N8_what_a_program_keeps_alive_by_reading_lives_on(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Draft.", subject="item", predicate=".draft", ttl_days=1).memory
    for _ in range(8):
        clock.advance(DAY * 0.9)
        me.fact("item", ".draft", used=True)
        store.flush()
    assert me.get(memory.id).expires_at == clock.now() + DAY


def test_N8_elsewhere_use_extends_nothing(
    open_fake: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    store = open_fake("default")
    me = store.for_user("ada")
    memory = me.remember("Answer in French.", ttl_days=3).memory
    clock.advance(DAY)

    used(store, me)

    assert me.get(memory.id).expires_at == memory.expires_at


def test_N8_use_is_counted_and_dated(store: Remembrancer, me: Memory, clock: ManualClock) -> None:
    memory = me.remember("Answer in French.").memory
    clock.advance(DAY)
    used(store, me)
    used(store, me)

    found = me.get(memory.id)

    assert (found.recall_count, found.recalled_at) == (2, clock.now())
