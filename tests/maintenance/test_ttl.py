"""N2: instruction 365, preference 180, fact 90, context 30 days; what expired is never returned."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import AsOf, Fact

pytestmark = pytest.mark.feature("N2")

DAYS = {"instruction": 365, "preference": 180, "fact": 90, "context": 30}
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer], tenant: str) -> Memory:
    return open_fake("namespaces").for_namespace((tenant, "ada"))


def seen(me: Memory) -> set[str]:
    """What any reading returns; all of them must agree."""
    listed = {one.content for one in me.list().items}
    for mode in ("semantic", "keyword", "hybrid"):
        recalled = me.recall("always answer in French", mode=mode)
        assert {one.memory.content for one in recalled} == listed
    return listed


@pytest.mark.parametrize(("kind", "days"), DAYS.items())
def test_N2_each_kind_lives_for_its_days_and_not_a_moment_longer(
    kind: str, days: int, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Answer in French.", category=kind).memory
    assert memory.expires_at == clock.now() + days * DAY

    clock.advance(days * DAY - TICK)
    assert seen(me) == {"Answer in French."}
    clock.advance(TICK)
    assert seen(me) == set()


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("I want a quiet room", 180),
        ("Ich mag grünen Tee", 180),
        ("Always answer in French", 365),
        ("Zoe lives in Oslo", 90),
        ("Zoe started a new job today", 90),
    ],
)
def test_N2_what_is_remembered_without_a_kind_is_filed_by_its_words(
    words: str, days: int, me: Memory, clock: ManualClock
) -> None:
    assert me.remember(words).memory.expires_at == clock.now() + days * DAY


@pytest.mark.parametrize("ttl", [0.5, 7, 1000])
def test_N2_a_memory_may_have_a_time_to_live_of_its_own(
    ttl: float, me: Memory, clock: ManualClock
) -> None:
    me.remember("Answer in French.", ttl_days=ttl)

    clock.advance(ttl * DAY - TICK)
    assert seen(me) == {"Answer in French."}
    clock.advance(TICK)
    assert seen(me) == set()


def test_N2_what_expired_is_not_among_the_active_ones_either(
    me: Memory, clock: ManualClock
) -> None:
    me.remember("Answer in French.", category="context")
    clock.advance(31 * DAY)

    assert me.list(status="active").items == ()


def test_N2_what_expired_can_be_said_again(me: Memory, clock: ManualClock) -> None:
    me.remember("Answer in French.", category="context")
    clock.advance(31 * DAY)

    written = me.remember("Answer in French.", category="context")

    assert seen(me) == {"Answer in French."}
    assert written.event is not None
    assert written.memory.expires_at == clock.now() + 30 * DAY


def test_N2_what_was_true_until_yesterday_can_be_said_again(me: Memory, clock: ManualClock) -> None:
    me.remember("Answer in French.", valid_until=clock.now() + DAY)
    clock.advance(2 * DAY)

    me.remember("Answer in French.")

    assert seen(me) == {"Answer in French."}


@pytest.mark.parametrize(("kind", "days"), DAYS.items())
def test_N2_a_new_version_lives_as_long_as_its_kind_does(
    kind: str, days: int, me: Memory, clock: ManualClock
) -> None:
    old = me.remember("Answer in French.", category=kind).memory
    clock.advance(DAY)

    new = me.update(old.id, "Answer in Italian.").memory

    assert isinstance(new, Fact)
    assert new.category == kind
    assert new.expires_at == clock.now() + days * DAY


def test_N2_looking_back_shows_what_had_not_expired_then(me: Memory, clock: ManualClock) -> None:
    me.remember("Answer in French.", category="context")
    alive = clock.advance(29 * DAY)
    clock.advance(30 * DAY)

    assert [one.content for one in me.list(as_of=AsOf(known=alive)).items] == ["Answer in French."]
    assert me.list(as_of=AsOf(true=alive)).items == ()


@pytest.mark.parametrize(("least", "found"), [(1, 5), (2, 4), (3.5, 2), (5, 1)])
def test_N2_what_matters_too_little_is_left_out(least: float, found: int, me: Memory) -> None:
    for importance in range(1, 6):
        me.remember(f"Of importance {importance}.", importance=importance)

    recalled = me.recall("importance", minimum_importance=least)
    listed = me.list(minimum_importance=least).items

    assert len(recalled) == len(listed) == found
    assert all(one.memory.importance >= least for one in recalled)


def test_N2_recall_leaves_out_the_least_important_unless_asked(me: Memory) -> None:
    for importance in range(1, 6):
        me.remember(f"Of importance {importance}.", importance=importance)

    assert {one.memory.importance for one in me.recall("importance")} == {2, 3, 4, 5}


def test_N2_five_memories_are_recalled_unless_told_otherwise(me: Memory) -> None:
    for number in range(9):
        me.remember(f"Statement {number}.")

    assert len(me.recall("statement")) == 5
