"""Stores responses by Idempotency-Key, so that a retried request does not run again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.store.contract import StoredResponse

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store
    from remembrancer.types import Owner

ABANDONED_AFTER = timedelta(minutes=5)
"""The age at which a running request is taken to have crashed."""


class IdempotencyStore:
    """Responses to each owner's requests, shared by all processes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def begin(self, owner: Owner, key: str, request: str) -> StoredResponse | None:
        """Claim a request; returns None if the caller should run it, or else what is stored."""
        now = self._clock.now()
        with self._store.open_writer(owner) as writer:
            known = writer.get_response(key)
            if known is None or (known.status is None and now - known.at > ABANDONED_AFTER):
                writer.save_response(StoredResponse(key, request, now))
                return None
            return known

    def finish(self, owner: Owner, response: StoredResponse) -> None:
        """Store the response; its retention starts now."""
        with self._store.open_writer(owner) as writer:
            writer.save_response(replace(response, at=self._clock.now()))

    def cancel(self, owner: Owner, key: str) -> None:
        """Release a request that failed, so that it can run again."""
        with self._store.open_writer(owner) as writer:
            writer.drop_response(key)
