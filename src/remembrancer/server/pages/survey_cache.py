"""Caches surveys, because counting many memories is slow and no page should wait for it.

An entry is fresh until the next event, for a minute at most, and always for a multiple of the time
it took to compute, which limits the CPU share of surveys. A page with a stale entry waits briefly
for the new survey, then shows the old one.
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
    """Surveys by owner and agent, least recently used first out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[CacheKey, _CacheEntry] = OrderedDict()
        self._pending: dict[CacheKey, Future[Survey]] = {}
        self._executor = ThreadPoolExecutor(2, "remembrancer-survey")

    def get(self, me: Memory) -> Survey | None:
        """The survey; None while the first one is still being computed."""
        key = (me.principal.owner.id, me.principal.agent)
        latest = next((event.id for event in me.activity(limit=1).items), "")
        with self._lock:
            cached = self._entries.get(key)
            if cached is not None and cached.is_fresh(latest):
                return cached.survey
            running = self._pending.get(key)
            if running is None:
                running = self._executor.submit(self._compute, key, me, latest)
                self._pending[key] = running
        timeout = FIRST_TIMEOUT_SECONDS if cached is None else REFRESH_TIMEOUT_SECONDS
        try:
            return running.result(timeout)
        except TimeoutError:
            return cached.survey if cached is not None else None

    def close(self) -> None:
        """Wait for running surveys and cancel the queued ones."""
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
