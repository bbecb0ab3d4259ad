"""Counting what was recalled, off the path of recall: gathered in memory, written in batches."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.errors import RemembrancerError, UnknownPerson

if TYPE_CHECKING:
    from remembrancer.store.contract import Store
    from remembrancer.types import Owner, Tenant

DELAY_SECONDS = 0.5


class References:
    """Recall counts waiting to be written; `flush` writes them, and so does closing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: dict[tuple[Owner, bool], Counter[str]] = {}
        self._latest: dict[Owner, datetime] = {}
        self._told: dict[Tenant, Counter[str]] = {}
        self._timer: threading.Timer | None = None

    def note(self, owner: Owner, ids: Iterable[str], at: datetime, *, extend: bool = False) -> None:
        """Remember that these were recalled, which may extend their lives; returns at once."""
        recalled = Counter(ids)
        if not recalled:
            return
        with self._lock:
            self._waiting.setdefault((owner, extend), Counter()).update(recalled)
            self._latest[owner] = at
            self._write_soon()

    def note_told(self, tenant: Tenant, ids: Iterable[str]) -> None:
        """Remember that these were recalled of what a team knows, for nobody in particular."""
        recalled = Counter(ids)
        if not recalled:
            return
        with self._lock:
            self._told.setdefault(tenant, Counter()).update(recalled)
            self._write_soon()

    def _write_soon(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(DELAY_SECONDS, self.close)
            self._timer.daemon = True
            self._timer.start()

    def flush(self) -> None:
        """Write what is waiting."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
                told, self._told = self._told, {}
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
            for (owner, extend), counts in waiting.items():
                with contextlib.suppress(UnknownPerson):  # They were erased meanwhile.
                    with self._store.writing(owner, newcomer=False) as writer:
                        writer.refer(counts, self._latest[owner], extend=extend)
            for tenant, counts in told.items():
                with self._store.reviewing(tenant) as desk:
                    desk.refer(counts)

    def close(self) -> None:
        """Write what is waiting; a count that cannot be written is not worth an error."""
        try:
            self.flush()
        except RemembrancerError:
            return
