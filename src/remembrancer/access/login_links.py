"""Login links: a code that opens one browser session, for minutes, at one start of the server.

A code is stored like a key, as a digest. Its label names the start of the server for which it was
made, so that no later start accepts it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.access.keys import LOGIN_CAPABILITY, Keys, digest_secret, is_valid

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store
    from remembrancer.types import Owner

LABEL_PREFIX = "login link of server "


@dataclass(frozen=True, slots=True)
class ServerStart:
    """One start of a server: not a secret, but nobody else has the same."""

    id: str

    @classmethod
    def new(cls) -> ServerStart:
        return cls(secrets.token_hex(8))

    @property
    def label(self) -> str:
        """The label of the login codes for this start."""
        return LABEL_PREFIX + self.id


class LoginLinks:
    """Creates login codes, and redeems each of them once."""

    def __init__(self, store: Store, clock: Clock, keys: Keys) -> None:
        self._store = store
        self._clock = clock
        self._keys = keys

    def create_code(self, owner: Owner, start: ServerStart, minutes: float) -> str:
        """Create a code for an owner, which works once, at this start of the server only."""
        until = self._clock.now() + timedelta(minutes=minutes)
        return self._keys.create(
            owner, capabilities=[LOGIN_CAPABILITY], label=start.label, expires_at=until
        ).secret

    def redeem(self, code: str, start: ServerStart) -> Owner | None:
        """The owner of a code, which then no longer works; None if it is not valid."""
        key = self._store.system.get_key(digest_secret(code))
        if key is None or not is_valid(key, self._clock.now()):
            return None
        if LOGIN_CAPABILITY not in key.capabilities or key.label != start.label:
            return None
        # Only one caller can drop the key, so a code opens only one session.
        return key.owner if self._store.system.drop_key(key.id) else None
