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
MAX_AGE_FACTOR = 5
REFRESH_TIMEOUT_SECONDS = 0.25
FIRST_TIMEOUT_SECONDS = 1.0
MAX_ENTRIES = 1000

CacheKey = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    survey: Survey
    latest: str
    at: float
    took: float

    def is_fresh(self, latest: str) -> bool:
        age = time.monotonic() - self.at
        return age < MAX_AGE_FACTOR * self.took or (age < FRESH_SECONDS and self.latest == latest)


class SurveyCache:
    """The surveys of those who looked last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[CacheKey, _CacheEntry] = OrderedDict()
        self._pending: dict[CacheKey, Future[Survey]] = {}
        self._executor = ThreadPoolExecutor(2, "remembrancer-survey")

    def get(self, me: Memory) -> Survey | None:
        """How memories are doing; None while they are counted for the first time."""
        key = (me.principal.owner.id, me.principal.agent)
        latest = _latest_event_id(me)
        with self._lock:
            known = self._entries.get(key)
            if known is not None and known.is_fresh(latest):
                return known.survey
            running = self._pending.get(key)
            if running is None:
                running = self._executor.submit(self._compute, key, me, latest)
                self._pending[key] = running
        try:
            return running.result(
                FIRST_TIMEOUT_SECONDS if known is None else REFRESH_TIMEOUT_SECONDS
            )
        except TimeoutError:
            return known.survey if known is not None else None

    def close(self) -> None:
        """Wait for what is being counted, and count no more."""
        self._executor.shutdown(cancel_futures=True)

    def _compute(self, key: CacheKey, me: Memory, latest: str) -> Survey:
        try:
            started = time.monotonic()
            survey = me.survey()
            now = time.monotonic()
            with self._lock:
                self._entries[key] = _CacheEntry(survey, latest, now, now - started)
                self._entries.move_to_end(key)
                while len(self._entries) > MAX_ENTRIES:
                    self._entries.popitem(last=False)
            return survey
        finally:
            with self._lock:
                self._pending.pop(key, None)


def _latest_event_id(me: Memory) -> str:
    """The latest thing that happened."""
    return next((one.id for one in me.activity(limit=1).items), "")
