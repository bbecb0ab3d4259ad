"""Computes how a memory's confidence decays unless it is confirmed. No I/O."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from remembrancer.profiles import DecayPolicy
from remembrancer.store.contract import ConfidenceRange
from remembrancer.types import ConfidenceBand, Permanence, Record, Source


def effective_confidence(record: Record, decay: DecayPolicy, now: datetime) -> float:
    """The confidence at a moment: confidence × exp(−λ × days of decay)."""
    days = max(0.0, (now - _renewed_at(record, decay)).total_seconds() / 86_400)
    return record.confidence * math.exp(-_record_decay_rate(record, decay) * days)


def build_belief(
    decay: DecayPolicy, *, at_least: float = 0.0, below: float = 2.0
) -> ConfidenceRange:
    """Bounds on the confidence after decay, for a store's filter."""
    return ConfidenceRange(at_least, below, decay.applies_to, decay.reset_by == "use")


def confidence_band(record: Record, decay: DecayPolicy, now: datetime) -> ConfidenceBand:
    """The band of a memory's confidence now."""
    confidence = effective_confidence(record, decay, now)
    if confidence >= decay.recall_at:
        return ConfidenceBand.RECALLED
    return ConfidenceBand.FADING if confidence >= decay.expire_below else ConfidenceBand.EXPIRED


def standing_at(record: Record, decay: DecayPolicy, now: datetime) -> ConfidenceBand:
    """The confidence band of a memory, or EXPIRED if its time has run out."""
    if record.expires_at is not None and record.expires_at <= now:
        return ConfidenceBand.EXPIRED
    return confidence_band(record, decay, now)


def is_over(record: Record, now: datetime) -> bool:
    """True if a memory has expired, or holds no longer."""
    return any(end is not None and end <= now for end in (record.expires_at, record.valid_until))


def predict_drop_below(record: Record, decay: DecayPolicy, confidence: float) -> datetime | None:
    """When the confidence will drop below a value, if nobody confirms it; None if never."""
    lost = _record_decay_rate(record, decay)
    if record.confidence < confidence:
        return _renewed_at(record, decay)
    if not lost or not confidence:
        return None
    days = math.log(record.confidence / confidence) / lost
    return _renewed_at(record, decay) + timedelta(days=days)


def decay_rate(permanence: Permanence, source: Source, decay: DecayPolicy) -> float:
    """The decay rate λ per day."""
    if decay.applies_to == "none":
        return 0.0
    if decay.applies_to == "extracted" and source is Source.EXPLICIT:
        return 0.0
    return permanence.decay_per_day


def _record_decay_rate(record: Record, decay: DecayPolicy) -> float:
    return decay_rate(record.permanence, record.source, decay)


def _renewed_at(record: Record, decay: DecayPolicy) -> datetime:
    """When the decay starts: a plan keeps its confidence until its date."""
    used = record.recalled_at if decay.reset_by == "use" else None
    ends = (used, record.valid_until)
    return max(record.confirmed_at, record.valid_from, *(one for one in ends if one is not None))
