"""How belief in a memory fades when nobody confirms it: arithmetic, no I/O."""

from __future__ import annotations

import math
from datetime import datetime

from remembrancer.profiles import Decay
from remembrancer.types import Permanence, Record, Source

DECAY_PER_DAY = {
    Permanence.PERMANENT: 0.0,
    Permanence.STABLE: 0.002,
    Permanence.STANDARD: 0.008,
    Permanence.VOLATILE: 0.03,
    Permanence.EPHEMERAL: 0.1,
}


def effective_confidence(record: Record, decay: Decay, now: datetime) -> float:
    """How far a memory is believed at a moment: confidence × exp(−λ × days since confirmed)."""
    if decay.applies_to == "none":
        return record.confidence
    if decay.applies_to == "extracted" and record.source is Source.EXPLICIT:
        return record.confidence
    since = record.confirmed_at
    if decay.reset_by == "use" and record.recalled_at is not None:
        since = max(since, record.recalled_at)
    days = max(0.0, (now - since).total_seconds() / 86_400)
    return record.confidence * math.exp(-DECAY_PER_DAY[record.permanence] * days)
