"""A2, I9, P1: forget or delete everything, or many, as one event; undo takes it back as a whole."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, NotFound, NotUndoable
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import Action, Kind, Owner, Status

pytestmark = pytest.mark.feature("A2", "I9", "P1")

DAY = timedelta(days=1)
Rows = dict[str, list[dict[str, object]]]
TALK: list[TurnInput] = [
    {"role": "user", "content": "My sister plays the cello."},
    {"role": "assistant", "content": "How lovely."},
]
SAID = ("Ada likes tea.", "Ada lives in Berlin.", "Ada has a dog.")


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("default")


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def remembered(me: Memory) -> list[str]:
    return [me.remember(content).memory.id for content in SAID]


def rows_of(tenant: str, stored: Rows) -> str:
    """Everything that is stored of Ada, in whatever table."""
    own = Owner(tenant, "ada").id
    return str([row for rows in stored.values() for row in rows if row.get("owner_id") == own])


def contents(me: Memory, **narrowing: object) -> set[str]:
    return {one.content for one in me.list(**narrowing).items}  # type: ignore[arg-type]


def test_A2_forgetting_everything_is_one_event_and_one_undo(me: Memory, clock: ManualClock) -> None:
    remembered(me)
    me.append(TALK, session="monday")
    clock.advance(DAY)

    batch = me.forget_all()

    assert batch.event is not None
    assert (len(batch.ids), batch.event.action) == (5, Action.FORGOTTEN)
    assert contents(me) == set()
    assert me.recall("cello tea Berlin dog") == []
    me.undo(batch.event.id)
    assert contents(me) == set(SAID)
    assert me.recall("cello")[0].memory.content == TALK[0]["content"]


def test_A2_forgetting_everything_of_one_sort_leaves_the_rest(me: Memory) -> None:
    remembered(me)
    me.remember("Prefers short answers.", category="preference")

    me.forget_all(categories=["preference"])

    assert contents(me) == set(SAID)
    assert me.forget_all(categories=["preference"]).event is None


def test_A2_deleting_everything_puts_it_into_the_trash_and_then_it_is_gone(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str, stored: Callable[[], Rows]
) -> None:
    ids = remembered(me)
    me.append(TALK, session="monday", title="About the cello")
    batch = me.delete_all()
    assert batch.event is not None
    clock.advance(29 * DAY)
    assert store.run_job("trash_purge", tenant=tenant).changed == 0
    assert contents(me, status="trashed") == set(SAID)
    clock.advance(DAY)

    assert store.run_job("trash_purge", tenant=tenant).changed == 5

    with pytest.raises(NotFound):
        me.get(ids[0])
    with pytest.raises(NotUndoable):
        me.undo(batch.event.id)
    assert me.activity().items[0].action is Action.PURGED
    with pytest.raises(NotUndoable):
        me.undo(me.activity().items[0].id)
    left = rows_of(tenant, stored())
    assert not [words for words in (*SAID, "cello", "lovely") if words in left]


def test_I9_many_are_gone_at_once_where_deletion_is_final(
    open_fake: Callable[..., Remembrancer], tenant: str, stored: Callable[[], Rows]
) -> None:
    me = open_fake("instances").for_user("ada", agent="bot")
    ids = remembered(me)

    batch = me.delete_many(ids[:2])

    assert batch.event is not None
    assert (batch.ids, batch.event.action) == (tuple(ids[:2]), Action.DELETED)
    assert contents(me) == {SAID[2]}
    assert SAID[0] not in rows_of(tenant, stored())
    assert me.recall("tea")[0].memory.content == SAID[2]
    with pytest.raises(NotUndoable):
        me.undo(batch.event.id)


def test_I9_if_one_of_many_cannot_be_deleted_none_is(me: Memory) -> None:
    ids = remembered(me)
    me.delete(ids[0])

    with pytest.raises(Conflict):
        me.delete_many(ids)
    with pytest.raises(NotFound):
        me.delete_many([ids[1], "fact_" + "0" * 26])

    assert contents(me) == set(SAID[1:])
    assert me.delete_many([]).event is None


def test_P1_undo_takes_back_every_kind_of_change_and_itself(me: Memory, clock: ManualClock) -> None:
    first, second, third = remembered(me)
    rule = me.remember("Confirm before sending.", kind="rule").memory.id
    verbs: list[Callable[[], object]] = [
        lambda: me.update(first, "Ada likes coffee."),
        lambda: me.confirm(second),
        lambda: me.forget(second),
        lambda: me.delete(third),
        lambda: me.link(second, third, "related_to"),
        lambda: me.helpful(rule),
        lambda: me.promote(rule),
        lambda: me.disable(rule),
        lambda: me.forget_all(kinds=["fact"]),
    ]
    for verb in verbs:
        before = seen(me)
        clock.advance(timedelta(minutes=1))
        verb()
        after = seen(me)
        assert after != before
        undone = me.undo()
        assert undone.event is not None
        assert seen(me) == before
        redone = me.undo(undone.event.id)
        assert redone.event is not None
        assert seen(me) == after
        me.undo(redone.event.id)
        assert seen(me) == before


def seen(me: Memory) -> object:
    """Everything about the memories that undo has to bring back."""
    found = [
        one
        for status in Status
        if status is not Status.RETRACTED
        for one in me.list(status=status, kinds=list(Kind)).items
    ]
    return sorted(
        (
            one.id,
            one.status,
            str(one.confirmed_at),
            str(one.valid_until),
            getattr(one, "maturity", None),
            getattr(one, "applied_count", None),
            [str(link) for link in me.links(one.id) if link.relation != "supersedes"],
        )
        for one in found
    )
