"""Links accounts of other services to a person, by a code that works once and for ten minutes.

A link is a key whose secret is the account's id, so listing, revoking or erasing a person's keys
covers it. Codes and account ids are stored as digests that no API key can have.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from remembrancer.access.keys import is_valid
from remembrancer.errors import NotAllowed
from remembrancer.ids import BASE32_ALPHABET, new_id
from remembrancer.types import Key, Owner

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store

CODE_CAPABILITY = "link-code"
"""The capability of a link code; no key can be created with it."""

CODE_LENGTH = 10
CODE_LIFETIME = timedelta(minutes=10)
MAX_TRIES = 5
"""For each account, within the lifetime of a code."""

MAX_TRACKED_ACCOUNTS = 10_000


@dataclass(frozen=True, slots=True)
class LinkCode:
    code: str
    expires_at: datetime


class AccountLinks:
    """Maps accounts of other services to owners."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._tries: dict[str, deque[datetime]] = {}

    def create_code(self, owner: Owner) -> LinkCode:
        """Create a code that links an account to this owner; an earlier code stops working."""
        now = self._clock.now()
        for key in self._store.system.list_keys():
            if key.owner == owner and CODE_CAPABILITY in key.capabilities:
                self._store.system.drop_key(key.id)
        code = "".join(secrets.choice(BASE32_ALPHABET) for _ in range(CODE_LENGTH)).upper()
        key = Key(
            id=new_id("key", now),
            owner=owner,
            capabilities=frozenset({CODE_CAPABILITY}),
            label="code to link an account",
            created_at=now,
            expires_at=now + CODE_LIFETIME,
        )
        self._store.system.add_key(key, _digest(CODE_CAPABILITY, code))
        return LinkCode(f"{code[:5]}-{code[5:]}", now + CODE_LIFETIME)

    def redeem(self, code: str, surface: str, account: str) -> Owner | None:
        """Link an account to the owner of the code; returns None if the code is not valid."""
        self._limit_tries(f"{surface}:{account}")
        key = self._store.system.get_key(_digest(CODE_CAPABILITY, _normalise_code(code)))
        now = self._clock.now()
        # Only one caller can drop the key, so a code links only one account.
        if key is None or not is_valid(key, now) or not self._store.system.drop_key(key.id):
            return None
        self.unlink(surface, account)
        link = Key(id=new_id("key", now), owner=key.owner, label=surface, created_at=now)
        self._store.system.add_key(link, _digest(surface, account))
        return key.owner

    def owner_of(self, surface: str, account: str) -> Owner | None:
        """The owner whom an account is linked to, or None."""
        key = self._store.system.get_key(_digest(surface, account))
        return key.owner if key is not None and is_valid(key, self._clock.now()) else None

    def link_of(self, surface: str, account: str) -> str | None:
        """The id of the link of an account, or None."""
        key = self._store.system.get_key(_digest(surface, account))
        return None if key is None else key.id

    def unlink(self, surface: str, account: str) -> bool:
        """Remove a link. True if there was one."""
        key = self._store.system.get_key(_digest(surface, account))
        return key is not None and self._store.system.drop_key(key.id)

    def _limit_tries(self, account: str) -> None:
        """Raise NotAllowed after too many tries."""
        now = self._clock.now()
        with self._lock:
            if account not in self._tries and len(self._tries) >= MAX_TRACKED_ACCOUNTS:
                self._tries.pop(next(iter(self._tries)))
            tries = self._tries.setdefault(account, deque(maxlen=MAX_TRIES))
            if len(tries) == MAX_TRIES and now - tries[0] < CODE_LIFETIME:
                raise NotAllowed("Too many attempts. Wait ten minutes.")
            tries.append(now)


def _normalise_code(code: str) -> str:
    return "".join(code.upper().split()).replace("-", "")


def _digest(namespace: str, text: str) -> str:
    """A digest with a namespace; those of API keys have none, so the two never match."""
    return f"{namespace}:{hashlib.sha256(f'{namespace}:{text}'.encode()).hexdigest()}"
