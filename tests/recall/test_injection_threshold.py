"""P5: explicit memories always inject; extracted ones only at an effective confidence ≥ 0.7."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from remembrancer.tools.caller import Caller
from remembrancer.tools.preferences import recall_preferences
from remembrancer.tools.results import MemoryListResult
from tests.support.proposals import proposal, proposes, tell

pytestmark = pytest.mark.feature("P5")

DAY = timedelta(days=1)

Open = Callable[..., Remembrancer]


@pytest.fixture
def me(open_fake: Open) -> Memory:
    return open_fake("advisor").for_user("ada")


def injected(me: Memory) -> bool:
    return "likes tea" in me.context().text


@pytest.mark.parametrize("source", ["extracted", "consolidated", "imported"])
@pytest.mark.parametrize(("confidence", "goes_in"), [(1, True), (0.7, True), (0.69, False)])
def test_P5_what_software_concluded_needs_seven_tenths(
    source: str, confidence: float, goes_in: bool, me: Memory
) -> None:
    me.remember("likes tea", source=source, confidence=confidence)

    assert injected(me) is goes_in


@pytest.mark.parametrize("confidence", [1, 0.69, 0.2, 0.1, 0])
def test_P5_what_a_person_said_always_goes_in(
    confidence: float, me: Memory, clock: ManualClock
) -> None:
    me.remember("likes tea", confidence=confidence)
    assert injected(me)

    clock.advance(3000 * DAY)

    assert injected(me), "what was said explicitly does not fade in this profile"


def test_P5_below_it_a_memory_is_left_to_recall(me: Memory) -> None:
    kept = me.remember("likes tea", source="extracted", confidence=0.5).memory

    assert not injected(me)
    assert [one.memory.id for one in me.recall("tea")] == [kept.id]


def test_P5_the_confidence_meant_is_what_decay_has_left_of_it(
    me: Memory, clock: ManualClock
) -> None:
    me.remember("likes tea", source="extracted", confidence=0.8, permanence="stable")

    clock.advance(66 * DAY)
    assert injected(me), "0.8 × exp(−0.002 × 66) = 0.701"
    clock.advance(DAY)
    assert not injected(me), "0.8 × exp(−0.002 × 67) = 0.6997"
    me.confirm("likes tea")
    assert injected(me)


def test_P5_being_recalled_does_not_bring_it_back(me: Memory, clock: ManualClock) -> None:
    me.remember("likes tea", source="extracted", confidence=0.8, permanence="stable")
    clock.advance(70 * DAY)

    me.recall("tea")

    assert not injected(me)


@pytest.mark.parametrize(("least", "goes_in"), [(0.5, True), (0.61, False)])
def test_P5_the_threshold_is_a_choice_of_the_profile(
    least: float, goes_in: bool, open_fake: Open
) -> None:
    adjust = {"context": {"inject_extracted_at": least}}
    me = open_fake("advisor", profile_overrides=adjust).for_user("ada")
    me.remember("likes tea", source="extracted", confidence=0.6)

    assert injected(me) is goes_in


def test_P5_where_everything_fades_what_faded_stays_out(
    open_fake: Open, clock: ManualClock
) -> None:
    decay = {"applies_to": "all", "recall_at": 0.2}
    adjust = {"decay": decay, "context": {"inject_extracted_at": 0}}
    me = open_fake("advisor", profile_overrides=adjust).for_user("ada")
    me.remember("likes tea", permanence="ephemeral")
    me.remember("likes tea cold", source="extracted", permanence="ephemeral")

    clock.advance(16 * DAY)
    assert len(me.context().memories) == 2
    clock.advance(DAY)
    assert me.context().text == ""


@pytest.mark.parametrize(("confidence", "goes_in"), [(0.3, False), (0.7, True)])
def test_P5_what_a_model_extracts_is_kept_and_told_by_its_confidence(
    open_fake: Open,
    models: dict[str, Any],
    model: ModelEndpoint,
    confidence: float,
    goes_in: bool,
) -> None:
    store = open_fake("advisor", models=models)
    me = store.for_user("ada")
    tea = proposal("Often likes tea in the morning", "tea in the morning", confidence=confidence)
    model.script = proposes(tea)
    tell(me, "monday", "I often fancy tea in the morning.")
    store.flush()

    (kept,) = me.list().items
    assert (kept.confidence, kept.source) == (confidence, "extracted")
    found = recall_preferences.call(Caller(me), {"query": "tea in the morning"})
    assert isinstance(found, MemoryListResult)
    assert [one.id for one in found.items] == [kept.id]
    assert (kept.id in me.context(session=me.new_session()).memories) is goes_in
