"""Counts recalls in memory and writes them in batches, off the path of recall.

A crash or a power cut can lose the counts of the last moments, and nothing else.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.errors import RemembrancerError, StoreUnavailable, UnknownPerson

if TYPE_CHECKING:
    from remembrancer.store.contract import Store
    from remembrancer.types import Owner, Tenant

FLUSH_DELAY_SECONDS = 0.5


class UsageCounter:
    """Recall counts that wait to be written by `flush` or `close`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._flush_lock = threading.Lock()
        self._pending: dict[tuple[Owner, float | None], Counter[str]] = {}
        self._latest: dict[Owner, datetime] = {}
        self._team_pending: dict[Tenant, Counter[str]] = {}
        self._timer: threading.Timer | None = None

    def record_recalls(
        self,
        owner: Owner,
        ids: Iterable[str],
        at: datetime,
        *,
        extend_times: float | None = None,
    ) -> None:
        """Count these as recalled; returns at once.

        With `extend_times` their TTL starts over, up to so many times the TTL in all.
        """
        recalled = Counter(ids)
        if not recalled:
            return
        with self._lock:
            self._pending.setdefault((owner, extend_times), Counter()).update(recalled)
            self._latest[owner] = at
            self._schedule_flush()

    def record_team_recalls(self, tenant: Tenant, ids: Iterable[str]) -> None:
        """Count these team facts as recalled, without a user."""
        recalled = Counter(ids)
        if not recalled:
            return
        with self._lock:
            self._team_pending.setdefault(tenant, Counter()).update(recalled)
            self._schedule_flush()

    def _schedule_flush(self) -> None:
        if self._timer is None:
            timer = threading.Timer(FLUSH_DELAY_SECONDS, self.close)
            timer.daemon = True
            with contextlib.suppress(RuntimeError):  # no thread is left; a later recall has one
                timer.start()
                self._timer = timer

    def flush(self) -> None:
        """Write what was counted; what the store does not take now waits for the next flush."""
        with self._flush_lock:
            with self._lock:
                waiting, self._pending = self._pending, {}
                told, self._team_pending = self._team_pending, {}
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
            for (owner, times), counts in waiting.items():
                try:
                    with self._store.open_writer(owner, create=False, durable=False) as writer:
                        writer.count_recalls(counts, self._latest[owner], extend_times=times)
                except UnknownPerson:  # The user was erased meanwhile.
                    continue
                except StoreUnavailable:
                    with self._lock:
                        self._pending.setdefault((owner, times), Counter()).update(counts)
            for tenant, counts in told.items():
                try:
                    with self._store.open_team_writer(tenant, durable=False) as desk:
                        desk.count_recalls(counts)
                except StoreUnavailable:
                    with self._lock:
                        self._team_pending.setdefault(tenant, Counter()).update(counts)

    def close(self) -> None:
        """Flush; a count that cannot be written is not worth an error."""
        try:
            self.flush()
        except RemembrancerError:
            return
