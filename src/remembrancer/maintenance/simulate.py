"""Forecasts when memories fade and expire if nobody confirms them.

It changes nothing. The dates are exact: the sweeps act at these moments.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from remembrancer.call import Call
from remembrancer.decay import effective_confidence, predict_drop_below
from remembrancer.errors import InvalidInput
from remembrancer.profiles import DecayPolicy
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import iter_records
from remembrancer.types import Record, Status

MAX_DAYS = 3660
PAGE_SIZE = 1000
TIME_STEP = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a memory is no longer recalled and when it expires; None if never."""

    id: str
    content: str
    fades_at: datetime | None
    expires_at: datetime | None

    @property
    def first_at(self) -> datetime | None:
        """The moment at which it is no longer recalled, for either reason."""
        return min(filter(None, (self.fades_at, self.expires_at)), default=None)


@dataclass(frozen=True, slots=True)
class BandCounts:
    """The number of memories that are recalled, fading and expired at a moment."""

    at: datetime
    recalled: int
    fading: int
    expired: int


@dataclass(frozen=True, slots=True)
class Simulation:
    """The forecasts of all active memories that change, and counts for each day.

    `forecasts` are ordered by the moment at which recall stops.
    """

    forecasts: tuple[Forecast, ...]
    series: tuple[BandCounts, ...]


def simulate(call: Call, days: int) -> Simulation:
    """Forecast the given number of days, if nothing is confirmed or used."""
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"The days must be from 1 to {MAX_DAYS}.")
    now = call.now()
    moments = [now + timedelta(days=day) for day in range(days + 1)]
    total, changing = 0, []
    for one in _iter_forecasts(call, now):
        total += 1
        if one.first_at is not None and one.first_at <= moments[-1]:
            changing.append(one)
    changing.sort(key=lambda one: (one.first_at or now, one.id))
    return Simulation(tuple(changing), count_bands(changing, total, moments))


def _iter_forecasts(call: Call, now: datetime) -> Iterator[Forecast]:
    """Forecasts of all active memories that the caller can see, read page by page."""
    decay_in = cache(call.decay_in)
    # Selected by the row, because the filter counts overdue memories as expired.
    criteria = Filter(
        now=now, visible=call.resolve_visibility(), statuses=(Status.ACTIVE, Status.EXPIRED)
    )
    with call.store.open_reader(call.owner) as reader:
        for record in iter_records(reader, criteria, PAGE_SIZE):
            if record.status is Status.ACTIVE:
                yield forecast(record, decay_in(record.scope))


def forecast(record: Record, decay: DecayPolicy) -> Forecast:
    lost = _first_moment_below(record, decay, decay.expire_below)
    ends = min(filter(None, (lost, record.expires_at)), default=None)
    return Forecast(
        record.id, record.content, _first_moment_below(record, decay, decay.recall_at), ends
    )


def count_bands(
    forecasts: Sequence[Forecast], total: int, moments: Sequence[datetime]
) -> tuple[BandCounts, ...]:
    """Count the memories in each band at each moment; those without a forecast stay recalled."""
    leaving = sorted(one.first_at for one in forecasts if one.first_at is not None)
    ending = sorted(one.expires_at for one in forecasts if one.expires_at is not None)
    return tuple(
        BandCounts(at, total - left, left - ended, ended)
        for at in moments
        for left, ended in [(bisect_right(leaving, at), bisect_right(ending, at))]
    )


def _first_moment_below(record: Record, decay: DecayPolicy, confidence: float) -> datetime | None:
    """The first moment at which the confidence is below a value.

    The predicted date is rounded, and a confidence that equals the value is not below it.
    """
    moment = predict_drop_below(record, decay, confidence)
    while moment is not None and effective_confidence(record, decay, moment) >= confidence:
        moment += TIME_STEP
    return moment
