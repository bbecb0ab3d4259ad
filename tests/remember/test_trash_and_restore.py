"""P7: forget end-dates; delete goes to a 30-day trash, then is gone; restore for both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, NotFound, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.types import Relation, Status

pytestmark = pytest.mark.feature("P7")

DAY = timedelta(days=1)


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake("advisor").for_user("ada")


def active(me: Memory) -> list[str]:
    return sorted(one.content for one in me.list().items)


@pytest.mark.parametrize(("verb", "status"), [("forget", "forgotten"), ("delete", "trashed")])
def test_P7_it_is_gone_from_every_reading_but_kept(
    verb: str, status: str, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Funds only").memory
    clock.advance(DAY)

    ended = getattr(me, verb)(memory.id).memory

    assert (ended.status, ended.valid_until, ended.retired_at) == (
        Status(status),
        clock.now(),
        clock.now(),
    )
    assert active(me) == []
    for mode in ("hybrid", "semantic", "keyword"):
        assert me.recall("funds only", mode=mode) == []
    assert [one.id for one in me.list(status=status).items] == [memory.id]
    assert me.get(memory.id).content == "Funds only"


@pytest.mark.parametrize("verb", ["forget", "delete"])
@pytest.mark.parametrize("until", [None, 90])
def test_P7_restoring_brings_it_back_as_it_was(
    verb: str, until: int | None, me: Memory, clock: ManualClock
) -> None:
    ends = {"valid_until": clock.now() + until * DAY} if until else {}
    memory = me.remember("Funds only", tags=["limit"], **ends).memory
    clock.advance(DAY)
    getattr(me, verb)(memory.id)
    clock.advance(DAY)

    restored = me.restore(memory.id)

    assert restored.memory == memory
    assert active(me) == ["Funds only"]
    assert [one.memory.id for one in me.recall("funds only")] == [memory.id]


@pytest.mark.parametrize("verb", ["forget", "delete"])
def test_P7_words_are_enough_to_restore(verb: str, me: Memory) -> None:
    me.remember("Funds only")
    getattr(me, verb)("funds")

    assert me.restore("funds").memory.status is Status.ACTIVE


@pytest.mark.parametrize("verb", ["forget", "delete"])
def test_P7_it_can_be_done_and_undone_again_and_again(
    verb: str, me: Memory, clock: ManualClock
) -> None:
    memory = me.remember("Funds only").memory
    for _ in range(3):
        clock.advance(DAY)
        getattr(me, verb)(memory.id)
        clock.advance(DAY)
        me.restore(memory.id)

    assert me.get(memory.id) == memory
    assert len(me.history(memory.id).events) == 7


@pytest.mark.parametrize("verb", ["forget", "delete"])
def test_P7_links_survive(verb: str, me: Memory) -> None:
    one, two = me.remember("Funds only").memory, me.remember("Lost money once").memory
    me.link(two.id, one.id, "supports")
    getattr(me, verb)(one.id)
    me.restore(one.id)

    (link,) = me.history(one.id).links
    assert link.relation is Relation.SUPPORTS


def test_P7_what_is_in_force_has_nothing_to_restore_and_nothing_is_forgotten_twice(
    me: Memory,
) -> None:
    memory = me.remember("Funds only").memory
    with pytest.raises(Conflict):
        me.restore(memory.id)
    me.forget(memory.id)
    with pytest.raises(Conflict):
        me.forget(memory.id)
    me.delete(memory.id)
    with pytest.raises(Conflict):
        me.delete(memory.id)


def test_P7_what_another_fact_took_the_place_of_is_not_restored_beside_it(me: Memory) -> None:
    key = {"subject": "user", "predicate": "limit"}
    old = me.remember("Funds only", **key).memory
    me.forget(old.id)
    me.remember("Bonds only", **key)

    with pytest.raises(Conflict):
        me.restore(old.id)

    assert active(me) == ["Bonds only"]


@pytest.mark.parametrize("keyed", [False, True])
def test_P7_an_old_version_that_was_deleted_comes_back_as_an_old_version(
    keyed: bool, me: Memory
) -> None:
    key = {"subject": "user", "predicate": "limit"} if keyed else {}
    old = me.remember("Funds only", **key).memory
    me.update(old.id, "Funds and bonds")
    me.delete(old.id)

    me.restore(old.id)

    assert active(me) == ["Funds and bonds"]
    assert me.get(old.id).status is Status.SUPERSEDED


def test_P7_within_thirty_days_the_trash_gives_back(me: Memory, clock: ManualClock) -> None:
    memory = me.remember("Funds only").memory
    me.delete(memory.id)
    clock.advance(30 * DAY - timedelta(seconds=1))

    assert me.restore(memory.id).memory.status is Status.ACTIVE


def test_P7_after_thirty_days_the_trash_gives_nothing_back(me: Memory, clock: ManualClock) -> None:
    memory = me.remember("Funds only").memory
    me.delete(memory.id)
    clock.advance(31 * DAY)

    with pytest.raises(RemembrancerError):
        me.restore(memory.id)
    assert me.list(status="trashed").items == ()
    with pytest.raises(NotFound):
        me.get(memory.id)


def test_P7_what_was_forgotten_can_be_restored_after_years(me: Memory, clock: ManualClock) -> None:
    memory = me.remember("Funds only").memory
    me.forget(memory.id)
    clock.advance(1000 * DAY)

    assert me.restore(memory.id).memory.status is Status.ACTIVE
