"""Stores responses by Idempotency-Key, so that a retried request does not run again."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from remembrancer.errors import StoreUnavailable, UnknownPerson
from remembrancer.store.contract import StoredResponse
from remembrancer.types import Owner

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store

STORED_BY = "stored-by"
"""The header of a response whose body is stored with the memories that it shows."""

ABANDONED_AFTER = timedelta(minutes=5)
"""The age at which a running request is taken to have crashed."""


class IdempotencyStore:
    """Responses to each owner's requests, shared by all processes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._failed: set[tuple[Owner, str]] = set()
        """Requests that failed and could not be released."""

    def begin(self, owner: Owner, key: str, request: str) -> StoredResponse | None:
        """Claim a request; returns None if the caller should run it, or else what is stored."""
        known = self._claim(owner, key, request)
        if known is None or STORED_BY not in known.headers:
            return known
        return self._load_shared(owner, known) or self._claim(owner, key, request, over=known)

    def finish(self, owner: Owner, response: StoredResponse, shown: Owner | None = None) -> None:
        """Store the response; its retention starts now.

        If it shows the memories of an instance, it is stored with them, to be deleted with them.
        What the request did is stored already: if its response cannot be, a retry is refused until
        the request counts as abandoned.
        """
        with contextlib.suppress(StoreUnavailable):
            self._save(owner, response, shown)

    def _save(self, owner: Owner, response: StoredResponse, shown: Owner | None) -> None:
        response = replace(response, at=self._clock.now())
        if shown is not None and shown != owner and self._save_shared(owner, response, shown):
            response = replace(response, headers={STORED_BY: shown.user}, body="")
        with self._store.open_writer(owner) as writer:
            writer.save_response(response)

    def cancel(self, owner: Owner, key: str) -> None:
        """Release a request that failed, so that it can run again."""
        try:
            with self._store.open_writer(owner) as writer:
                writer.drop_response(key)
        except StoreUnavailable:
            self._failed.add((owner, key))

    def _claim(
        self, owner: Owner, key: str, request: str, *, over: StoredResponse | None = None
    ) -> StoredResponse | None:
        now = self._clock.now()
        with self._store.open_writer(owner) as writer:
            known = writer.get_response(key)
            is_free = known is None or known == over or _is_abandoned(known, now)
            if not is_free and (owner, key) not in self._failed:
                return known
            writer.save_response(StoredResponse(key, request, now))
        self._failed.discard((owner, key))
        return None

    def _save_shared(self, owner: Owner, response: StoredResponse, shown: Owner) -> bool:
        """False if nothing is stored for the instance, so that it has nothing to show."""
        with contextlib.suppress(UnknownPerson):
            with self._store.open_writer(shown, create=False) as writer:
                writer.save_response(replace(response, key=_shared_key(owner, response.key)))
            return True
        return False

    def _load_shared(self, owner: Owner, known: StoredResponse) -> StoredResponse | None:
        shown = Owner(owner.tenant, str(known.headers[STORED_BY]))
        with contextlib.suppress(UnknownPerson):
            with self._store.open_writer(shown, create=False) as writer:
                return writer.get_response(_shared_key(owner, known.key))
        return None


def _is_abandoned(response: StoredResponse, now: datetime) -> bool:
    return response.status is None and abs(now - response.at) > ABANDONED_AFTER


def _shared_key(owner: Owner, key: str) -> str:
    return f"{owner.id}/{key}"
