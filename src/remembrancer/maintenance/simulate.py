"""What time will do to memories that nobody confirms: which fade, which expire, and when.

Nothing is changed, and nothing is guessed: the dates are those at which the sweeps will act.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from remembrancer.call import Call
from remembrancer.decay import effective_confidence, falls_below
from remembrancer.errors import InvalidInput
from remembrancer.profiles import Decay
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import everything
from remembrancer.types import Record, Status

MOST_DAYS = 3660
PAGE = 1000
TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a memory will be too uncertain to be recalled, and when it will be over; or never."""

    id: str
    content: str
    fades_at: datetime | None
    expires_at: datetime | None

    @property
    def first_at(self) -> datetime | None:
        """When it will no longer be recalled, for either reason."""
        return min(filter(None, (self.fades_at, self.expires_at)), default=None)


@dataclass(frozen=True, slots=True)
class Count:
    """How many memories are recalled, fading and expired at a moment."""

    at: datetime
    recalled: int
    fading: int
    expired: int


@dataclass(frozen=True, slots=True)
class Simulation:
    """What becomes of all that is active now: the memories that change, and a count for each day.

    `forecasts` are in the order in which the memories stop being recalled.
    """

    forecasts: tuple[Forecast, ...]
    series: tuple[Count, ...]


def simulate(call: Call, days: int) -> Simulation:
    """Look ahead by some days, if nobody confirms or uses anything."""
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInput(f"The days must be from 1 to {MOST_DAYS}.")
    now = call.now()
    moments = [now + timedelta(days=day) for day in range(days + 1)]
    total, changing = 0, []
    for one in _forecasts(call, now):
        total += 1
        if one.first_at is not None and one.first_at <= moments[-1]:
            changing.append(one)
    changing.sort(key=lambda one: (one.first_at or now, one.id))
    return Simulation(tuple(changing), counted(changing, total, moments))


def _forecasts(call: Call, now: datetime) -> Iterator[Forecast]:
    """What becomes of everything that is active and may be seen, page by page."""
    decay_in = cache(call.decay_in)
    # By the row: what is overdue counts as expired in a filter.
    wanted = Filter(now=now, visible=call.visible(), statuses=(Status.ACTIVE, Status.EXPIRED))
    with call.store.reading(call.owner) as reader:
        for record in everything(reader, wanted, PAGE):
            if record.status is Status.ACTIVE:
                yield forecast(record, decay_in(record.scope))


def forecast(record: Record, decay: Decay) -> Forecast:
    """The dates of one memory."""
    lost = _first_below(record, decay, decay.expire_below)
    ends = min(filter(None, (lost, record.expires_at)), default=None)
    return Forecast(record.id, record.content, _first_below(record, decay, decay.recall_at), ends)


def counted(
    forecasts: Sequence[Forecast], total: int, moments: Sequence[datetime]
) -> tuple[Count, ...]:
    """How many of all memories are where, at each moment; the others are recalled throughout."""
    leaving = sorted(one.first_at for one in forecasts if one.first_at is not None)
    ending = sorted(one.expires_at for one in forecasts if one.expires_at is not None)
    return tuple(
        Count(at, total - left, left - ended, ended)
        for at in moments
        for left, ended in [(bisect_right(leaving, at), bisect_right(ending, at))]
    )


def _first_below(record: Record, decay: Decay, confidence: float) -> datetime | None:
    """The first moment at which a memory is believed less than that.

    The date itself is rounded, and what is believed exactly so far is not below yet.
    """
    moment = falls_below(record, decay, confidence)
    while moment is not None and effective_confidence(record, decay, moment) >= confidence:
        moment += TICK
    return moment
