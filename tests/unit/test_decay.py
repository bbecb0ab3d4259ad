"""M2, M3: how belief fades, to the digit; arithmetic on values, no store."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.decay import confidence_band, effective_confidence, predict_drop_below
from remembrancer.ids import new_id
from remembrancer.profiles import DecayPolicy
from remembrancer.types import ConfidenceBand, Fact, Permanence, Record, Source

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
DECAY = DecayPolicy()
RATES = {"permanent": 0.0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}

shares = st.floats(0, 1)
permanences = st.sampled_from(Permanence)
sources = st.sampled_from(Source)
spans = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=36_500))
decays = st.builds(
    DecayPolicy,
    applies_to=st.sampled_from(["all", "extracted", "none"]),
    reset_by=st.sampled_from(["confirmation", "use"]),
)


def fact(**values: object) -> Fact:
    usual = {
        "id": new_id("fact", NOW),
        "content": "The kettle is blue.",
        "category": "fact",
        "importance": 5.0,
        "valid_from": NOW,
        "recorded_at": NOW,
        "confirmed_at": NOW,
    }
    return Fact(**{**usual, **values})  # type: ignore[arg-type]


def records() -> st.SearchStrategy[Record]:
    recalls = st.one_of(st.none(), spans.map(lambda span: NOW + span))
    return st.builds(
        lambda confidence, permanence, source, recalled_at: fact(
            confidence=confidence, permanence=permanence, source=source, recalled_at=recalled_at
        ),
        shares,
        permanences,
        sources,
        recalls,
    )


@pytest.mark.parametrize(("permanence", "rate"), RATES.items())
def test_M2_each_permanence_has_its_rate(permanence: str, rate: float) -> None:
    assert Permanence(permanence).decay_per_day == rate
    assert set(RATES) == set(Permanence)
    memory = fact(confidence=0.9, permanence=Permanence(permanence))
    for days in (0, 0.5, 1, 30, 365, 10_000):
        believed = effective_confidence(memory, DECAY, NOW + days * DAY)
        assert believed == pytest.approx(0.9 * math.exp(-rate * days), rel=1e-12)


def test_M2_what_is_permanent_never_fades() -> None:
    memory = fact(permanence=Permanence.PERMANENT)
    assert effective_confidence(memory, DECAY, NOW + 36_500 * DAY) == 1.0
    assert predict_drop_below(memory, DECAY, 0.2) is None


@pytest.mark.parametrize(
    ("confidence", "means"),
    [
        (1.0, ConfidenceBand.RECALLED),
        (0.2, ConfidenceBand.RECALLED),
        (math.nextafter(0.2, 0), ConfidenceBand.FADING),
        (0.19, ConfidenceBand.FADING),
        (0.05, ConfidenceBand.FADING),
        (math.nextafter(0.05, 0), ConfidenceBand.EXPIRED),
        (0.0, ConfidenceBand.EXPIRED),
    ],
)
def test_M3_two_tenths_are_recalled_and_five_hundredths_kept(
    confidence: float, means: ConfidenceBand
) -> None:
    memory = fact(confidence=confidence, permanence=Permanence.PERMANENT)
    assert confidence_band(memory, DECAY, NOW) is means


@pytest.mark.parametrize(
    ("permanence", "fades_after", "expires_after"),
    [
        ("stable", 804.7, 1497.9),
        ("standard", 201.2, 374.5),
        ("volatile", 53.6, 99.9),
        ("ephemeral", 16.1, 30.0),
    ],
)
def test_M3_a_certain_memory_fades_and_expires_on_these_days(
    permanence: str, fades_after: float, expires_after: float
) -> None:
    memory = fact(permanence=Permanence(permanence))
    for level, days in ((0.2, fades_after), (0.05, expires_after)):
        falls = predict_drop_below(memory, DECAY, level)
        assert falls is not None
        assert (falls - NOW) / DAY == pytest.approx(days, abs=0.05)


@pytest.mark.parametrize("permanence", ["stable", "standard", "volatile", "ephemeral"])
@pytest.mark.parametrize(
    ("level", "before", "after"),
    [
        (0.2, ConfidenceBand.RECALLED, ConfidenceBand.FADING),
        (0.05, ConfidenceBand.FADING, ConfidenceBand.EXPIRED),
    ],
)
def test_M3_the_foretold_moment_is_the_moment(
    permanence: str, level: float, before: ConfidenceBand, after: ConfidenceBand
) -> None:
    memory = fact(permanence=Permanence(permanence))
    falls = predict_drop_below(memory, DECAY, level)
    assert falls is not None
    assert confidence_band(memory, DECAY, falls - timedelta(milliseconds=1)) is before
    assert confidence_band(memory, DECAY, falls + timedelta(milliseconds=1)) is after


def test_M3_confirming_brings_all_of_it_back() -> None:
    memory = fact(confidence=0.8, permanence=Permanence.EPHEMERAL)
    later = NOW + 60 * DAY
    assert confidence_band(memory, DECAY, later) is ConfidenceBand.EXPIRED
    confirmed = fact(confidence=0.8, permanence=Permanence.EPHEMERAL, confirmed_at=later)
    assert effective_confidence(confirmed, DECAY, later) == 0.8
    assert confidence_band(confirmed, DECAY, later) is ConfidenceBand.RECALLED


def test_a_profile_chooses_what_fades_and_what_renews() -> None:
    later = NOW + 60 * DAY
    said = fact(permanence=Permanence.EPHEMERAL)
    guessed = fact(permanence=Permanence.EPHEMERAL, source=Source.EXTRACTED)
    none, extracted = DecayPolicy(applies_to="none"), DecayPolicy(applies_to="extracted")
    assert effective_confidence(guessed, none, later) == 1.0
    assert effective_confidence(said, extracted, later) == 1.0
    assert effective_confidence(guessed, extracted, later) < 0.05
    used = fact(permanence=Permanence.EPHEMERAL, recalled_at=later)
    assert effective_confidence(used, DecayPolicy(), later) < 0.05
    assert effective_confidence(used, DecayPolicy(reset_by="use"), later) == 1.0


@given(records(), decays, spans, spans)
def test_belief_stays_a_share_and_never_grows_by_itself(
    memory: Record, decay: DecayPolicy, first: timedelta, more: timedelta
) -> None:
    # A use in the future would hold belief at its full height until then.
    soon = effective_confidence(memory, decay, NOW + first)
    later = effective_confidence(memory, decay, NOW + first + more)
    assert 0 <= later <= soon <= memory.confidence


@given(shares, permanences, spans, st.timedeltas(min_value=TICK, max_value=365 * DAY))
def test_confirming_never_lowers_belief(
    confidence: float, permanence: Permanence, confirmed: timedelta, later: timedelta
) -> None:
    old = fact(confidence=confidence, permanence=permanence)
    new = fact(confidence=confidence, permanence=permanence, confirmed_at=NOW + confirmed)
    now = NOW + confirmed + later
    assert effective_confidence(new, DECAY, now) >= effective_confidence(old, DECAY, now)


@given(shares, spans)
def test_what_is_more_permanent_is_believed_for_longer(confidence: float, span: timedelta) -> None:
    believed = [
        effective_confidence(fact(confidence=confidence, permanence=one), DECAY, NOW + span)
        for one in (
            Permanence.PERMANENT,
            Permanence.STABLE,
            Permanence.STANDARD,
            Permanence.VOLATILE,
            Permanence.EPHEMERAL,
        )
    ]
    assert believed == sorted(believed, reverse=True)


@given(records(), decays, st.sampled_from([0.05, 0.2, 0.7]), spans)
def test_belief_falls_below_a_level_when_foretold(
    memory: Record, decay: DecayPolicy, level: float, span: timedelta
) -> None:
    falls = predict_drop_below(memory, decay, level)
    believed = effective_confidence(memory, decay, NOW + span)
    if falls is None or NOW + span < falls - timedelta(seconds=1):
        assert believed >= level or memory.confidence < level
    elif NOW + span > falls + timedelta(seconds=1):
        assert believed < level


def test_a_plan_keeps_its_confidence_until_its_date() -> None:
    plan = fact(permanence=Permanence.VOLATILE, valid_from=NOW + 60 * DAY)
    visit = fact(permanence=Permanence.VOLATILE, valid_until=NOW + 60 * DAY)

    for one in (plan, visit):
        assert effective_confidence(one, DECAY, NOW + 60 * DAY) == 1.0
        later = effective_confidence(one, DECAY, NOW + 70 * DAY)
        assert later == pytest.approx(math.exp(-0.3))
        faded = predict_drop_below(one, DECAY, later)
        assert faded is not None
        assert abs(faded - (NOW + 70 * DAY)) < timedelta(seconds=1)
