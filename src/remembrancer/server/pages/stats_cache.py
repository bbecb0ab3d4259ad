"""Surveys that are kept: counting many memories takes a while, and no page waits for it.

A survey holds until something happens, for a minute at most, and for some times as long as it
took: counting never takes up more than a share of a processor. A page that asks for one that is
out of date gets the new one if it is there in a moment, else the old one, or none.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from remembrancer.maintenance.stats import Survey
from remembrancer.memory import Memory

FRESH_SECONDS = 60
TIMES_AS_LONG = 5
A_MOMENT = 0.25
AT_FIRST = 1.0
MOST = 1000

Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class _Known:
    survey: Survey
    latest: str
    at: float
    took: float

    def holds(self, latest: str) -> bool:
        age = time.monotonic() - self.at
        return age < TIMES_AS_LONG * self.took or (age < FRESH_SECONDS and self.latest == latest)


class Surveys:
    """The surveys of those who looked last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        self._running: dict[Key, Future[Survey]] = {}
        self._counting = ThreadPoolExecutor(2, "remembrancer-survey")

    def of(self, me: Memory) -> Survey | None:
        """How memories are doing; None while they are counted for the first time."""
        key = (me.principal.owner.id, me.principal.agent)
        latest = _latest(me)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.holds(latest):
                return known.survey
            running = self._running.get(key)
            if running is None:
                running = self._counting.submit(self._count, key, me, latest)
                self._running[key] = running
        try:
            return running.result(AT_FIRST if known is None else A_MOMENT)
        except TimeoutError:
            return known.survey if known is not None else None

    def close(self) -> None:
        """Wait for what is being counted, and count no more."""
        self._counting.shutdown(cancel_futures=True)

    def _count(self, key: Key, me: Memory, latest: str) -> Survey:
        try:
            started = time.monotonic()
            survey = me.survey()
            now = time.monotonic()
            with self._lock:
                self._known[key] = _Known(survey, latest, now, now - started)
                self._known.move_to_end(key)
                while len(self._known) > MOST:
                    self._known.popitem(last=False)
            return survey
        finally:
            with self._lock:
                self._running.pop(key, None)


def _latest(me: Memory) -> str:
    """The latest thing that happened."""
    return next((one.id for one in me.activity(limit=1).items), "")
