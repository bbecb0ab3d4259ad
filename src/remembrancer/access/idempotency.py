"""A request that comes again gets the answer it got: who may carry it out, and what was said."""

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
"""When whoever is at a request must have died."""


class IdempotencyStore:
    """What was answered to each owner's requests, for every process."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def begin(self, owner: Owner, key: str, request: str) -> StoredResponse | None:
        """Take a request on; or what is known of it, if it was made before."""
        now = self._clock.now()
        with self._store.open_writer(owner) as writer:
            known = writer.get_response(key)
            if known is None or (known.status is None and now - known.at > ABANDONED_AFTER):
                writer.save_response(StoredResponse(key, request, now))
                return None
            return known

    def finish(self, owner: Owner, response: StoredResponse) -> None:
        """Keep what was answered, from now on."""
        with self._store.open_writer(owner) as writer:
            writer.save_response(replace(response, at=self._clock.now()))

    def cancel(self, owner: Owner, key: str) -> None:
        """Nothing came of a request; it may be made again."""
        with self._store.open_writer(owner) as writer:
            writer.drop_response(key)
