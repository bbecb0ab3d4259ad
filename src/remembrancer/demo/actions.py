"""Things that were done some days ago, each at its time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from remembrancer.clock import ManualClock, OffsetClock

ProgressCallback = Callable[[int, int], None]
"""Is told how much is done, and of how much."""

MIN_AGE = timedelta(minutes=20)
MIN_GAP = timedelta(seconds=9)
"""Between two things of one day, so that they have an order."""


@dataclass(frozen=True, slots=True)
class DemoAction:
    """What was done so many days ago."""

    days_ago: int
    run: Callable[[], object]

    def at(self, now: datetime) -> datetime:
        """When it was done: at some hour of the day, and in the past in any case."""
        hour, minute = 8 + self.days_ago * 5 % 12, self.days_ago * 17 % 60
        moment = now.replace(hour=hour, minute=minute, second=0) - timedelta(days=self.days_ago)
        return min(moment, now - MIN_AGE)


def replay_actions(
    actions: Iterable[DemoAction],
    clock: OffsetClock | ManualClock,
    now: datetime,
    on_progress: ProgressCallback | None = None,
) -> None:
    """Do everything from the first to the last; in the end the clock says now."""
    ordered = sorted(actions, key=lambda deed: -deed.days_ago)
    clock.advance(ordered[0].at(now) - clock.now())
    for number, deed in enumerate(ordered, 1):
        clock.advance(max(deed.at(now) - clock.now(), MIN_GAP))
        deed.run()
        if on_progress is not None:
            on_progress(number, len(ordered))
    clock.advance(now - clock.now())
