"""Notices a clock that leapt, so that jobs that delete wait until it has been steady.

The only witness of a wrong clock is the last time that anyone looked at it: the store keeps that.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from remembrancer.store.contract import Lease, Store
from remembrancer.store.leases import CLOCK, SIGHTING_INTERVAL

MAX_GAP = timedelta(days=8)
"""The clock may move on by this much unseen: a week, with a day to spare."""

STEADY_FOR = timedelta(days=1)
"""How long the clock must run without another leap until jobs that delete run again."""

TOLERANCE = timedelta(hours=1)
"""Corrections of the clock by less than this are no leap."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the clock said last, and until when jobs that delete wait; None if they need not."""

    at: datetime | None = None
    waits_until: datetime | None = None

    def is_after(self, now: datetime) -> bool:
        """True if the clock has gone back since."""
        return self.at is not None and now < self.at - TOLERANCE


def judge(last: Sighting, now: datetime) -> Sighting:
    """The sighting of now; the last one stays until a clock that went back has been steady."""
    pending = last.waits_until
    waits = pending is not None and timedelta() < pending - now <= STEADY_FOR
    if last.is_after(now):
        if pending is not None and pending <= now:
            return Sighting(now)
        return last if waits else Sighting(last.at, now + STEADY_FOR)
    if last.at is not None and now - last.at > MAX_GAP:
        return Sighting(now, now + STEADY_FOR)
    return Sighting(now, pending if waits else None)


def read_sighting(store: Store) -> Sighting:
    """The last sighting that was written down."""
    lease = store.system.get_lease(CLOCK)
    return Sighting(lease.finished_at, lease.held_until)


def must_wait(store: Store, now: datetime) -> bool:
    """True if jobs that delete wait because the clock has leapt."""
    return judge(read_sighting(store), now).waits_until is not None


def look(store: Store, now: datetime) -> Sighting:
    """Judge the clock, and write down the sighting if it says more than the last one."""
    last = read_sighting(store)
    found = judge(last, now)
    begins_to_wait = found.waits_until not in (None, last.waits_until)
    is_old = last.at is None or found.at is None or found.at - last.at >= SIGHTING_INTERVAL
    if found.waits_until != last.waits_until or is_old:
        store.system.save_lease(CLOCK, Lease(None, found.waits_until, found.at))
    if begins_to_wait and found.waits_until is not None:
        told = explain_wait(found.waits_until)
        logger.warning("%s It said %s before %s.", told, *map(_format, (last.at or now, now)))
    return found


def explain_wait(until: datetime) -> str:
    """Which jobs wait and what to do, for the log and `rem doctor`."""
    return (
        "The clock leapt. Jobs that expire, archive or delete memories wait until "
        f"{_format(until)}. Check the clock; if it is right, `rem jobs run NAME` runs a job now."
    )


def _format(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
