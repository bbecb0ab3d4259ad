"""The store's condition on belief and the arithmetic of decay say the same of every memory."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.decay import build_belief, effective_confidence
from remembrancer.ids import new_id
from remembrancer.profiles import DecayPolicy
from remembrancer.store.contract import Filter, Insert, Reader, Store
from remembrancer.store.open import open_store
from remembrancer.types import (
    Action,
    Event,
    Fact,
    Kind,
    Owner,
    Permanence,
    Record,
    Rule,
    Source,
    Status,
)

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
LEVELS = (0.05, 0.2, 0.7)
TOO_CLOSE = 1e-8
"""A millisecond of fading: SQLite knows no shorter time."""

DECAYS = [
    DecayPolicy(applies_to=what, reset_by=how)
    for what, how in itertools.product(("all", "extracted", "none"), ("confirmation", "use"))
]


@pytest.fixture
def raw(place: str, clock: ManualClock) -> Iterator[Store]:
    where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 4}
    store = open_store(Settings.model_validate({"store": where}), clock)
    yield store
    store.close()


def made_up(chance: random.Random, number: int) -> Record:
    """A memory that is confirmed, recalled and believed at random, at times in the future."""
    span = chance.choice([1, 30, 400, 4000])
    confirmed = NOW - timedelta(days=chance.uniform(-0.1, 1) * span)
    recalled = NOW - timedelta(days=chance.uniform(-0.1, 1) * span)
    begun = NOW - timedelta(days=chance.uniform(-0.1, 1) * span)
    ends = max(begun, NOW + timedelta(days=chance.uniform(101, 400)))
    common = {
        "content": f"memory {number}",
        "importance": 5.0,
        "confidence": chance.choice([chance.random(), 1.0, 0.2, 0.05, 0.0]),
        "permanence": chance.choice(list(Permanence)),
        "source": chance.choice(list(Source)),
        "valid_from": begun,
        "valid_until": chance.choice([None, None, ends]),
        "recorded_at": NOW,
        "confirmed_at": confirmed,
        "recalled_at": chance.choice([None, recalled]),
    }
    if number % 2:
        return Rule(id=new_id("rule", NOW), **common)
    return Fact(id=new_id("fact", NOW), category="fact", **common)


def test_a_filter_by_belief_finds_what_the_arithmetic_says(raw: Store, tenant: str) -> None:
    chance = random.Random(7)
    ada = Owner(tenant, "ada")
    records = [made_up(chance, number) for number in range(500)]
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
    with raw.open_writer(ada) as writer:
        writer.apply(event, [Insert(one, None) for one in records])
    with raw.open_reader(ada) as reader:
        for decay, days in itertools.product(DECAYS, (0, 100)):
            now = NOW + timedelta(days=days)
            believed = {one.id: effective_confidence(one, decay, now) for one in records}
            for level in LEVELS:
                _compare(reader, decay, now, level, believed)


def _compare(
    reader: Reader, decay: DecayPolicy, now: datetime, level: float, believed: dict[str, float]
) -> None:
    wanted = Filter(now=now, statuses=(Status.ACTIVE,), kinds=(Kind.FACT, Kind.RULE))
    close = {one for one, share in believed.items() if 0 < abs(share - level) < TOO_CLOSE}
    low = {one for one, share in believed.items() if share < level}
    below = replace(wanted, confidence=build_belief(decay, below=level))
    above = replace(wanted, confidence=build_belief(decay, at_least=level))
    found, rest = _ids(reader, below), _ids(reader, above)
    assert found - close == low - close
    assert rest == believed.keys() - found
    assert reader.count(below) == len(found)
    assert set(reader.matching(list(believed), below)) == found
    lost = build_belief(decay, below=level)
    assert _ids(reader, replace(wanted, overdue=True, statuses=None, decayed=lost)) == found
    assert _ids(reader, replace(wanted, decayed=lost)) == rest


def _ids(reader: Reader, wanted: Filter) -> set[str]:
    return {one.id for one in reader.find(wanted, 1000)}


def test_the_thresholds_themselves_are_on_the_right_side(raw: Store, tenant: str) -> None:
    """At least 0.2 is recalled, less than 0.05 expired: what is exactly there is not less."""
    ada, decay = Owner(tenant, "ada"), DecayPolicy()
    shares = [0.2, math.nextafter(0.2, 0), 0.05, math.nextafter(0.05, 0)]
    records = [
        Fact(
            id=new_id("fact", NOW),
            content=f"{share!r}",
            category="fact",
            importance=5.0,
            confidence=share,
            permanence=Permanence.PERMANENT,
            valid_from=NOW,
            recorded_at=NOW,
            confirmed_at=NOW,
        )
        for share in shares
    ]
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
    with raw.open_writer(ada) as writer:
        writer.apply(event, [Insert(one, None) for one in records])
    later = Filter(now=NOW + timedelta(days=5000), statuses=(Status.ACTIVE,))
    with raw.open_reader(ada) as reader:
        for level in (0.2, 0.05):
            found = _ids(reader, replace(later, confidence=build_belief(decay, at_least=level)))
            assert found == {one.id for one in records if one.confidence >= level}
