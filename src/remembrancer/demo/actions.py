"""Things that were done some days ago, each at its time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from remembrancer.clock import LateClock, SetClock

Told = Callable[[int, int], None]
"""Is told how much is done, and of how much."""

A_WHILE_AGO = timedelta(minutes=20)
MEANWHILE = timedelta(seconds=9)
"""Between two things of one day, so that they have an order."""


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done so many days ago."""

    days: int
    do: Callable[[], object]

    def at(self, now: datetime) -> datetime:
        """When it was done: at some hour of the day, and in the past in any case."""
        hour, minute = 8 + self.days * 5 % 12, self.days * 17 % 60
        moment = now.replace(hour=hour, minute=minute, second=0) - timedelta(days=self.days)
        return min(moment, now - A_WHILE_AGO)


def do_all(
    deeds: Iterable[Deed],
    clock: LateClock | SetClock,
    now: datetime,
    tell: Told | None = None,
) -> None:
    """Do everything from the first to the last; in the end the clock says now."""
    ordered = sorted(deeds, key=lambda deed: -deed.days)
    clock.move(ordered[0].at(now) - clock.now())
    for number, deed in enumerate(ordered, 1):
        clock.move(max(deed.at(now) - clock.now(), MEANWHILE))
        deed.do()
        if tell is not None:
            tell(number, len(ordered))
    clock.move(now - clock.now())
