"""A setting of a tenant that changes at runtime; all processes see a change within a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.store.contract import Store
    from remembrancer.types import Json, Tenant

CACHE_SECONDS = 0.5
"""Time for which a process uses a cached value."""


class LiveSetting:
    """Reads one setting through a short-lived cache and writes it to the store."""

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self._key = key
        self._lock = threading.Lock()
        self._cache: dict[str, tuple[float, dict[str, Json]]] = {}

    def get(self, tenant: Tenant) -> dict[str, Json]:
        """The stored values of a tenant; empty if there are none."""
        with self._lock:
            at, values = self._cache.get(tenant.id, (-CACHE_SECONDS, {}))
            if time.monotonic() - at < CACHE_SECONDS and tenant.id in self._cache:
                return values
        values = as_values(self._store.system.get_setting(tenant, self._key))
        with self._lock:
            self._cache[tenant.id] = (time.monotonic(), values)
        return values

    def change(self, tenant: Tenant, change: Callable[[dict[str, Json]], Json]) -> None:
        """Replace the values by `change(old)`, for every process; an error changes nothing."""
        self._store.system.change_setting(tenant, self._key, lambda old: change(as_values(old)))
        with self._lock:
            self._cache.pop(tenant.id, None)


def as_values(stored: Json) -> dict[str, Json]:
    return dict(stored) if isinstance(stored, dict) else {}
