"""P2: an update end-dates the old row, inserts the new one and re-points links, all at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.engine import Engine

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.memory import Memory
from remembrancer.types import Action, AsOf, Fact, Relation, Status

pytestmark = pytest.mark.feature("P2")

DAY = timedelta(days=1)


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake("advisor").for_user("ada")


def test_P2_the_old_row_keeps_its_words_and_gets_an_end(me: Memory, clock: ManualClock) -> None:
    old = me.remember("Risk tolerance: moderate", category="profile").memory
    clock.advance(DAY)
    new = me.update(old.id, "Risk tolerance: high").memory

    ended = me.get(old.id)
    assert ended.content == "Risk tolerance: moderate"
    assert (ended.status, ended.valid_until, ended.retired_at) == (
        Status.SUPERSEDED,
        clock.now(),
        clock.now(),
    )
    assert (new.content, new.valid_from, new.valid_until) == (
        "Risk tolerance: high",
        clock.now(),
        None,
    )
    assert new.supersedes == old.id
    assert new.recorded_at == clock.now()


def test_P2_there_is_no_moment_with_both_versions_or_with_none(
    me: Memory, clock: ManualClock
) -> None:
    old = me.remember("Moderate").memory
    clock.advance(DAY)
    me.update(old.id, "High")
    change = clock.now()
    clock.advance(DAY)
    tick = timedelta(microseconds=1)

    def true_at(moment: Any) -> list[str]:
        return [one.content for one in me.list(as_of=AsOf(true=moment)).items]

    assert true_at(change - tick) == ["Moderate"]
    assert true_at(change) == ["High"]
    assert true_at(change + tick) == ["High"]


def test_P2_links_in_both_directions_point_to_the_new_version(me: Memory) -> None:
    limit = me.remember("Funds only").memory
    reason = me.remember("Lost money on single stocks").memory
    plan = me.remember("Rebalance every quarter").memory
    me.link(reason.id, limit.id, "supports")
    me.link(limit.id, plan.id, "related_to")

    new = me.update(limit.id, "Funds and bonds only").memory

    assert links(me, new.id) == {
        (reason.id, new.id, Relation.SUPPORTS),
        (new.id, plan.id, Relation.RELATED_TO),
        (new.id, limit.id, Relation.SUPERSEDES),
    }
    assert links(me, limit.id) == {(new.id, limit.id, Relation.SUPERSEDES)}
    assert links(me, reason.id) == {(reason.id, new.id, Relation.SUPPORTS)}


def test_P2_a_moved_link_keeps_the_time_it_was_made(me: Memory, clock: ManualClock) -> None:
    limit, reason = me.remember("Funds only").memory, me.remember("Lost money").memory
    me.link(reason.id, limit.id, "supports")
    made = clock.now()
    clock.advance(DAY)

    me.update(limit.id, "Funds and bonds")

    (link,) = me.history(reason.id).links
    assert link.created_at == made


def test_P2_undo_takes_everything_back_links_included(me: Memory) -> None:
    limit, reason = me.remember("Funds only").memory, me.remember("Lost money").memory
    me.link(reason.id, limit.id, "supports")
    new = me.update(limit.id, "Funds and bonds")

    me.undo()

    assert links(me, limit.id) == {(reason.id, limit.id, Relation.SUPPORTS)}
    assert me.get(limit.id).status is Status.ACTIVE
    assert me.get(limit.id).valid_until is None
    assert me.get(new.memory.id).status is Status.RETRACTED


def test_P2_undoing_the_undo_puts_the_new_version_back_links_included(me: Memory) -> None:
    limit, reason = me.remember("Funds only").memory, me.remember("Lost money").memory
    me.link(reason.id, limit.id, "supports")
    new = me.update(limit.id, "Funds and bonds").memory
    undone = me.undo().event
    assert undone is not None

    me.undo(undone.id)

    assert me.get(limit.id).status is Status.SUPERSEDED
    assert me.get(new.id).status is Status.ACTIVE
    assert (reason.id, new.id, Relation.SUPPORTS) in links(me, new.id)


@pytest.mark.parametrize("table", ["facts", "embeddings", "links", "events", "changes", "states"])
def test_P2_a_failure_at_any_table_leaves_everything_as_it_was(
    table: str, me: Memory, tenant: str, stored: Callable[[], Any]
) -> None:
    limit, reason = me.remember("Funds only").memory, me.remember("Lost money").memory
    me.link(reason.id, limit.id, "supports")
    before = stored()

    def fail(connection: object, cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(f"INSERT INTO {table} "):
            raise RuntimeError("the power went out")

    sqlalchemy_event.listen(Engine, "before_cursor_execute", fail)
    try:
        with pytest.raises(RuntimeError, match="power"):
            me.update(limit.id, "Funds and bonds")
    finally:
        sqlalchemy_event.remove(Engine, "before_cursor_execute", fail)

    assert _own(stored(), me) == _own(before, me)


def test_P2_what_was_not_said_is_taken_from_the_old_version(me: Memory) -> None:
    old = me.remember(
        "Tax resident of Thailand",
        category="finance_context",
        subject="user",
        predicate="tax",
        importance=9,
        permanence="permanent",
        tags=("tax", "thailand"),
    ).memory
    new = me.update(old.id, "Tax resident of Laos").memory

    assert isinstance(new, Fact)
    assert (new.category, new.subject, new.predicate) == ("finance_context", "user", "tax")
    assert (new.importance, new.permanence, new.tags) == (9, "permanent", ("tax", "thailand"))


def test_P2_metadata_that_was_not_said_is_taken_from_the_old_version(me: Memory) -> None:
    old = me.remember("Tax resident of Thailand", metadata={"form": "W-8BEN"}).memory

    new = me.update(old.id, "Tax resident of Laos").memory

    assert new.metadata == {"form": "W-8BEN"}


def test_P2_the_new_version_is_found_by_its_words_and_the_old_one_no_more(me: Memory) -> None:
    old = me.remember("Prefers tables to prose").memory
    me.update(old.id, "Prefers charts to prose")

    assert me.recall("tables", mode="keyword") == []
    assert [one.memory.content for one in me.recall("charts", mode="keyword")] == [
        "Prefers charts to prose"
    ]


def test_P2_a_backdated_update_says_since_when_the_new_one_holds(
    me: Memory, clock: ManualClock
) -> None:
    old = me.remember("Lives in Bern", valid_from=clock.now() - 30 * DAY).memory
    moved = clock.now() - 10 * DAY
    new = me.update(old.id, "Lives in Rome", valid_from=moved).memory

    assert me.get(old.id).valid_until == moved
    assert new.valid_from == moved
    assert new.recorded_at == clock.now()


def test_P2_updating_by_an_old_id_changes_the_version_that_stands(me: Memory) -> None:
    first = me.remember("One").memory
    second = me.update(first.id, "Two").memory
    third = me.update(first.id, "Three").memory

    assert third.supersedes == second.id
    assert [one.content for one in me.list().items] == ["Three"]


def test_P2_the_same_words_again_are_no_new_version(me: Memory) -> None:
    old = me.remember("Be concise").memory

    again = me.update(old.id, "Be concise")

    assert again.event is None
    assert again.memory.id == old.id


@pytest.mark.parametrize("verb", ["forget", "delete"])
def test_P2_what_is_gone_must_be_restored_before_it_is_changed(verb: str, me: Memory) -> None:
    old = me.remember("Be concise").memory
    getattr(me, verb)(old.id)

    with pytest.raises(Conflict):
        me.update(old.id, "Be brief")


def test_P2_a_window_that_ends_before_it_begins_is_refused(me: Memory, clock: ManualClock) -> None:
    old = me.remember("Be concise").memory

    with pytest.raises(InvalidInput):
        me.update(old.id, "Be brief", valid_from=clock.now(), valid_until=clock.now() - DAY)

    assert me.get(old.id).status is Status.ACTIVE


def test_P2_the_event_says_what_changed_and_holds_no_words(me: Memory) -> None:
    old = me.remember("Risk tolerance: moderate").memory
    event = me.update(old.id, "Risk tolerance: high").event

    assert event is not None
    assert event.action is Action.UPDATED
    assert "tolerance" not in repr(event)


def links(me: Memory, memory_id: str) -> set[tuple[str, str, Relation]]:
    return {(one.source, one.target, one.relation) for one in me.history(memory_id).links}


def _own(rows: dict[str, list[dict[str, Any]]], me: Memory) -> dict[str, list[str]]:
    """The rows of one person, as text; counts of vectors are no part of what is remembered."""
    owner = me.principal.owner.id
    return {
        table: sorted(str(row) for row in found if row.get("owner_id") == owner)
        for table, found in rows.items()
    }
