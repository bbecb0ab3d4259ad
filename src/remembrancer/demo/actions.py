"""Replays demo actions in order, with the clock set to the time of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from remembrancer.clock import ManualClock, OffsetClock

ProgressCallback = Callable[[int, int], None]
"""Called with the number of finished actions and the total."""

MIN_AGE = timedelta(minutes=20)
MIN_GAP = timedelta(seconds=9)
"""Between two actions of one day, so that they have an order."""


@dataclass(frozen=True, slots=True)
class DemoAction:
    """One action, run as of `days_ago`."""

    days_ago: int
    run: Callable[[], object]

    def at(self, now: datetime) -> datetime:
        """The time of the action: an hour derived from its day, always before `now`."""
        hour, minute = 8 + self.days_ago * 5 % 12, self.days_ago * 17 % 60
        moment = now.replace(hour=hour, minute=minute, second=0) - timedelta(days=self.days_ago)
        return min(moment, now - MIN_AGE)


def replay_actions(
    actions: Iterable[DemoAction],
    clock: OffsetClock | ManualClock,
    now: datetime,
    on_progress: ProgressCallback | None = None,
) -> None:
    """Run all actions from the oldest to the newest, then set the clock to `now`."""
    ordered = sorted(actions, key=lambda action: -action.days_ago)
    clock.advance(ordered[0].at(now) - clock.now())
    for number, action in enumerate(ordered, 1):
        clock.advance(max(action.at(now) - clock.now(), MIN_GAP))
        action.run()
        if on_progress is not None:
            on_progress(number, len(ordered))
    clock.advance(now - clock.now())
