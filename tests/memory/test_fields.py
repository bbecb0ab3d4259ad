"""A10: kinds fact, preference, correction, episode; importance; surface; conversation; times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.types import Evidence, Fact

pytestmark = pytest.mark.feature("A10")

KINDS = ("fact", "preference", "correction", "episode")


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("assistant")


@pytest.mark.parametrize("kind", KINDS)
def test_A10_every_kind_can_be_stored_read_and_filtered_by(kind: str, me: Memory) -> None:
    for one in KINDS:
        me.remember(f"Of the kind {one}.", category=one)

    (listed,) = me.list(categories=[kind]).items
    (recalled,) = me.recall("of the kind", categories=[kind])

    assert isinstance(listed, Fact)
    assert (listed.category, listed.content) == (kind, f"Of the kind {kind}.")
    assert recalled.memory.id == listed.id


def test_A10_a_fact_is_the_usual_kind_and_another_kind_is_refused(me: Memory) -> None:
    usual = me.remember("Of no kind in particular.").memory
    assert isinstance(usual, Fact)
    assert usual.category == "fact"

    with pytest.raises(InvalidInput, match="fact, preference, correction, episode"):
        me.remember("Of a wrong kind.", category="hunch")


@pytest.mark.parametrize("importance", [1, 3, 5])
def test_A10_importance_goes_from_one_to_five(importance: int, me: Memory) -> None:
    written = me.remember("Something.", importance=importance)

    assert me.get(written.memory.id).importance == importance


@pytest.mark.parametrize("importance", [0, 0.99, 5.01, 6, -1])
def test_A10_importance_beyond_one_to_five_is_refused(importance: float, me: Memory) -> None:
    with pytest.raises(InvalidInput, match="from 1 to 5"):
        me.remember("Something.", importance=importance)
    assert me.list().items == ()


@pytest.mark.parametrize("surface", ["web", "telegram", "mcp", "cli"])
def test_A10_the_surface_is_where_it_was_said(surface: str, store: Remembrancer) -> None:
    written = store.for_user("ada", surface=surface).remember("Something.")

    assert store.for_user("ada", surface="web").get(written.memory.id).surface == surface
    assert written.event is not None
    assert written.event.surface == surface


def test_A10_the_conversation_and_the_turns_are_kept(me: Memory) -> None:
    evidence = (Evidence("chat-7", "turn-3", "I moved to Basel"), Evidence("chat-7", "turn-5"))
    written = me.remember("Lives in Basel.", session_id="chat-7", evidence=evidence)

    kept = me.get(written.memory.id)
    assert kept.session_id == "chat-7"
    assert kept.evidence == evidence


def test_A10_times_tell_when_it_was_recorded_confirmed_and_ended(
    me: Memory, clock: ManualClock
) -> None:
    begin = clock.now()
    memory = me.remember("Something.").memory
    assert (memory.recorded_at, memory.confirmed_at, memory.valid_from) == (begin, begin, begin)

    later = clock.advance(timedelta(days=2))
    confirmed = me.confirm(memory.id).memory
    assert (confirmed.recorded_at, confirmed.confirmed_at) == (begin, later)

    end = clock.advance(timedelta(days=2))
    assert me.forget(memory.id).memory.retired_at == end


def test_A10_what_is_read_back_is_what_was_written(me: Memory) -> None:
    written = me.remember(
        "Prefers HAR exports — “always”, 🙂.",
        category="preference",
        importance=4.5,
        tags=["export", "ÄÖ", "a,b"],
        metadata={"deep": [{"x": None, "y": 1.5, "z": [True, "é"]}]},
        summary="HAR",
        body="long\n\n" * 200,
        confidence=0.25,
    ).memory

    assert me.get(written.id) == written
