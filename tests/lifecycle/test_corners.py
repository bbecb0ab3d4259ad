"""Where two rules of a memory's life meet: found by the model, kept as stories of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, NotUndoable
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Action, Status

DAY = timedelta(days=1)
KETTLE = {"subject": "kettle", "predicate": "colour"}


@pytest.fixture
def opened(place: str, clock: ManualClock, tenant: str) -> Iterator[Callable[..., Remembrancer]]:
    stores: list[Remembrancer] = []

    def start(**adjust: object) -> Remembrancer:
        where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 2}
        settings = Settings.model_validate(
            {"tenant": tenant, "store": where, "profile_overrides": adjust}
        )
        stores.append(Remembrancer(settings, open_store(settings, clock), FakeEmbedder(), clock))
        return stores[-1]

    yield start
    for one in stores:
        one.close()


Opened = Callable[..., Remembrancer]


@pytest.mark.parametrize("swept", [True, False])
def test_what_nobody_believed_any_more_is_remembered_when_it_is_said_again(
    opened: Opened, clock: ManualClock, swept: bool
) -> None:
    store = opened()
    me = store.for_user("ada")
    me.remember("Tea is at four", permanence="ephemeral")
    clock.advance(60 * DAY)
    if swept:
        store.run_job("decay_sweep")
    assert not me.recall("tea")

    assert me.remember("Tea is at four").event is not None
    assert [one.memory.content for one in me.recall("tea")] == ["Tea is at four"]


def test_what_stands_is_restated_though_something_newer_in_its_place_has_expired(
    opened: Opened, clock: ManualClock
) -> None:
    store = opened()
    me = store.for_user("ada")
    blue = me.remember("blue", **KETTLE).memory
    me.forget(blue.id)
    clock.advance(DAY)
    me.remember("red", **KETTLE, ttl_days=1)
    clock.advance(2 * DAY)
    store.run_job("decay_sweep")
    me.restore(blue.id)

    green = me.remember("green", **KETTLE)

    assert green.replaced is not None
    assert green.replaced.id == blue.id
    assert [one.content for one in me.list().items] == ["green"]


def test_the_id_of_an_old_version_stands_for_the_memory(opened: Opened, clock: ManualClock) -> None:
    me = opened().for_user("ada")
    old = me.remember("blue", **KETTLE).memory
    clock.advance(DAY)
    new = me.remember("red", **KETTLE).memory
    before = [me.get(one.id) for one in (old, new)]
    clock.advance(DAY)

    assert me.forget(old.id).memory.id == new.id
    me.undo()
    assert me.delete(old.id).memory.id == new.id
    assert me.restore(old.id).memory.id == new.id
    assert [me.get(one.id) for one in (old, new)] == before
    assert me.confirm(old.id).memory.id == new.id


def test_a_value_that_holds_until_a_change_to_come_is_deleted_alone(
    opened: Opened, clock: ManualClock
) -> None:
    me = opened(deletion={"mode": "hard"}).for_user("ada")
    blue = me.remember("blue", **KETTLE).memory
    red = me.remember("red", **KETTLE, valid_from=clock.now() + DAY).memory
    assert me.get(blue.id).status is Status.SUPERSEDED

    me.delete(red.id)

    assert [one.content for one in me.list().items] == ["blue"]
    me.delete(blue.id)
    assert me.list().items == ()


@pytest.mark.parametrize("named", [True, False])
def test_a_link_of_a_memory_that_is_destroyed_cannot_be_taken_back(
    opened: Opened, named: bool
) -> None:
    me = opened(deletion={"mode": "hard"}).for_user("ada")
    one, other = (me.remember(words).memory for words in ("one", "other"))
    linked = me.link(one.id, other.id).event
    assert linked is not None
    me.delete(one.id)

    with pytest.raises(Conflict):
        me.undo(linked.id if named else None)
    assert me.activity().items[0].action is Action.DELETED


def test_a_link_that_was_taken_away_since_cannot_be_taken_back(opened: Opened) -> None:
    me = opened().for_user("ada")
    one, other = (me.remember(words).memory for words in ("one", "other"))
    linked = me.link(one.id, other.id).event
    assert linked is not None
    me.unlink(one.id, other.id)

    with pytest.raises(Conflict):
        me.undo(linked.id)
    assert me.links(one.id) == ()


def test_a_link_that_was_made_anew_is_not_the_one_to_take_back(
    opened: Opened, clock: ManualClock
) -> None:
    me = opened().for_user("ada")
    one, other = (me.remember(words).memory for words in ("one", "other"))
    linked = me.link(one.id, other.id).event
    assert linked is not None
    me.unlink(one.id, other.id)
    clock.advance(DAY)
    me.link(one.id, other.id)

    with pytest.raises(Conflict):
        me.undo(linked.id)
    assert len(me.links(one.id)) == 1


def test_a_replacement_whose_links_have_changed_since_cannot_be_taken_back(
    opened: Opened,
) -> None:
    me = opened().for_user("ada")
    one, other = (me.remember(words).memory for words in ("one", "other"))
    me.link(one.id, other.id)
    newer = me.update(one.id, "newer")
    assert newer.event is not None
    me.unlink(newer.memory.id, other.id)

    with pytest.raises(Conflict):
        me.undo(newer.event.id)
    me.undo()
    me.undo(newer.event.id)
    assert [(link.source, link.target) for link in me.links(one.id)] == [(one.id, other.id)]


def test_an_old_version_stands_for_the_new_one_as_long_as_that_can_be_updated(
    opened: Opened, clock: ManualClock
) -> None:
    me = opened().for_user("ada")
    for version in (0, 1):
        first = me.remember(f"story {version}").memory
        second = me.update(first.id, f"story {version} again", ttl_days=1).memory
        clock.advance(2 * DAY)

        third = me.update((first.id, second.id)[version], f"story {version} anew")

        assert third.replaced is not None
        assert third.replaced.id == second.id


def test_what_destroyed_something_since_is_final_whatever_else_has_changed(opened: Opened) -> None:
    me = opened(deletion={"mode": "hard"}).for_user("ada")
    kettle = me.remember("The kettle is blue").memory
    tea = me.remember("Tea is at four").memory
    forgotten = me.forget_all()
    me.restore(tea.id)
    me.delete(kettle.id)

    assert forgotten.event is not None
    with pytest.raises(NotUndoable):
        me.undo(forgotten.event.id)
