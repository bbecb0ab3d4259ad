"""A15, A16, A18: only the same fact corroborates; a contradiction is flagged with its rival."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bench.agreement import FILES, read_pairs
from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.team.service import ProposalOutcome
from remembrancer.types import TeamStatus
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A15", "A16", "A18")

ENABLED = "Feature flags are enabled by default."
DISABLED = "Feature flags are disabled by default."


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ENABLED, DISABLED),
        ("Tests run before the merge.", "Tests run after the merge."),
        ("Staging is deployed before production.", "Production is deployed before staging."),
        ("Service A calls service B.", "Service B calls service A."),
        ("The primary database is Postgres.", "The primary database is MySQL."),
    ],
)
def test_the_opposite_is_pending_and_flagged_with_its_rival(
    store: Remembrancer, one: str, other: str
) -> None:
    first = store.for_user("ada").propose(one)
    second = store.for_user("bob").propose(other)

    assert second.verdict is ProposalOutcome.PENDING
    assert second.conflicts == (first.fact_id,)
    assert not store.for_user("eve").team(one)
    assert {entry.conflicts for entry in store.review().queue().items} == {
        (first.fact_id,),
        (second.fact_id,),
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The PAC pool is ports 9000-9999.", "PAC uses the port range 9000-9999."),
        ("Releases are cut from the main branch.", "A release is cut from main."),
        ("We store all backups encrypted.", "All backups are stored encrypted."),
    ],
)
def test_the_same_fact_in_other_words_is_approved(
    store: Remembrancer, one: str, other: str
) -> None:
    store.for_user("ada").propose(one)
    assert store.for_user("bob").propose(other).verdict is ProposalOutcome.APPROVED
    assert len(store.review().list().items) == 1


def test_a_rejected_fact_blocks_only_itself(store: Remembrancer) -> None:
    wrong = store.for_user("ada").propose(ENABLED)
    assert wrong.fact_id
    store.review().reject(wrong.fact_id)

    right = store.for_user("bob").propose(DISABLED)
    assert right.verdict is ProposalOutcome.PENDING
    assert right.conflicts == ()
    assert store.for_user("eve").propose(DISABLED).verdict is ProposalOutcome.APPROVED
    repeated = store.for_user("max").propose("By default, feature flags are enabled.")
    assert repeated.verdict is ProposalOutcome.REJECTED_BEFORE


def test_an_old_fact_that_no_one_confirmed_ranks_below_a_confirmed_one(
    store: Remembrancer, clock: ManualClock
) -> None:
    old, kept = "The staging cluster has four nodes.", "The staging cluster scales by itself."
    for name in ("ada", "bob"):
        store.for_user(name).propose(old)
        store.for_user(name).propose(kept)
    question = "How does the staging cluster work?"
    before = [one.content for one in store.for_user("eve").team(question)]
    clock.advance(timedelta(days=200))
    store.for_user("eve").propose(before[1])

    after = [one.content for one in store.for_user("eve").team(question)]
    assert after == before[::-1]


def test_confidence_rises_with_the_third_voice_and_falls_when_one_is_withdrawn(
    store: Remembrancer,
) -> None:
    def confidence() -> float:
        (entry,) = store.review().list(status=TeamStatus.APPROVED).items
        return entry.fact.confidence

    store.for_user("ada").propose(ENABLED)
    store.for_user("bob").propose(ENABLED)
    two = confidence()
    store.for_user("eve").propose(ENABLED)
    three = confidence()
    store.erase("eve", contributions_only=True)
    assert (three > two, confidence()) == (True, two)


def test_of_a_hundred_opposites_two_merge_at_most_and_of_the_paraphrases_seventy_do(
    store: Remembrancer,
) -> None:
    """Each pair is proposed by two people. What the gate refuses is left out."""
    merged: dict[bool, list[bool]] = {True: [], False: []}
    for number, pair in enumerate(read_pairs(FILES[0])[::2]):
        tenant = f"team-{number % 10}"
        first = store.for_user("ada", tenant=tenant).propose(pair.one)
        second = store.for_user("bob", tenant=tenant).propose(pair.other)
        if ProposalOutcome.REFUSED not in (first.verdict, second.verdict):
            merged[pair.same].append(second.fact_id == first.fact_id)
    assert len(merged[True]) >= 80
    assert len(merged[False]) >= 80
    assert sum(merged[False]) <= 0.02 * len(merged[False])
    assert sum(merged[True]) >= 0.7 * len(merged[True])
