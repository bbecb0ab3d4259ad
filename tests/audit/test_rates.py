"""X6: an `audit` reports junk, duplicate, stale and secret rates, as shares of what is active."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import Source, Status
from tests.support.imported import imported

pytestmark = pytest.mark.feature("X6")

DAY = timedelta(days=1)


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake().for_user("ada")


def test_X6_the_rates_are_shares_of_the_active_memories(me: Memory, clock: ManualClock) -> None:
    for number in range(4):
        imported(me, f"Fact number {number}.")
    imported(me, "Fact number 0.")
    imported(me, "Fact number 1.", source=Source.EXTRACTED)  # a duplicate, and unsupported
    imported(me, "Concluded from nothing.", source=Source.EXTRACTED)
    imported(me, "Over by tomorrow.", expires_at=clock.now() + DAY)
    imported(me, "The wifi password is hunter2hunter2.")
    imported(me, "Nobody counts this one.", status=Status.FORGOTTEN)
    me.append([{"role": "user", "content": "Turns are evidence, not memories."}], "chat")
    me.remember("We met.", kind="episode")
    clock.advance(2 * DAY)

    report = me.audit()

    assert report.memories == 10
    assert report.rates == pytest.approx(
        {
            "duplicate": 0.2,
            "stale": 0.1,
            "contradicting": 0.0,
            "unsupported": 0.2,
            "secret": 0.1,
            "orphan": 0.0,
            "misdated": 0.0,
            "junk": 0.3,
        }
    )


def test_X6_of_duplicates_only_those_too_many_count(me: Memory) -> None:
    for _ in range(4):
        imported(me, "The boat is red.")

    assert me.audit().rates["duplicate"] == 0.75
    me.repair(["duplicate"])
    assert me.audit().rates["duplicate"] == 0.0
    assert me.audit().memories == 1


def test_X6_only_the_asked_rates_are_told_and_junk_needs_both_halves(me: Memory) -> None:
    imported(me, "The boat is red.")

    assert set(me.audit(["stale"]).rates) == {"stale"}
    assert set(me.audit(["duplicate", "unsupported"]).rates) == {
        "duplicate",
        "unsupported",
        "junk",
    }


def test_X6_a_secret_in_the_archive_is_found_but_affects_nothing_active(me: Memory) -> None:
    imported(me, "The wifi password is hunter2hunter2.", status=Status.FORGOTTEN)
    imported(me, "The boat is red.")

    report = me.audit(["secret"])

    assert len(report.findings) == 1
    assert report.rates == {"secret": 0.0}


def test_X6_no_pair_is_missed_among_many(me: Memory) -> None:
    """More than are compared at once."""
    from remembrancer.ids import new_id
    from remembrancer.store.contract import Embedding, Insert
    from remembrancer.types import Action, Fact

    call = me._call
    now = call.now()
    vectors = call.embedder.embed([f"direction {number}" for number in range(1300)])
    vectors[1200] = vectors[3]
    vectors[700] = vectors[600]
    facts = [
        Fact(
            id=new_id("fact", now),
            content=f"Fact number {number}.",
            importance=5.0,
            category="fact",
            valid_from=now,
            recorded_at=now,
            confirmed_at=now,
        )
        for number in range(1300)
    ]
    with call.store.open_writer(call.owner) as writer:
        writer.apply(
            call.new_event(Action.REMEMBERED, now),
            [
                Insert(fact, Embedding(call.embedder.model, vector))
                for fact, vector in zip(facts, vectors, strict=True)
            ],
        )

    found = me.audit(["duplicate"]).findings

    assert {one.ids for one in found} == {
        (facts[3].id, facts[1200].id),
        (facts[600].id, facts[700].id),
    }
