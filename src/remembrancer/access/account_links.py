"""Accounts elsewhere that belong to a person here: linked by a code that is good once, for minutes.

A link is a key whose secret is the account's id, so whoever lists, revokes or erases the keys of a
person reaches it. Codes and ids are kept as digests that no secret sent as a key can have.
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
"""The capability of a code, which nobody can ask for."""

CODE_LENGTH = 10
CODE_LIFETIME = timedelta(minutes=10)
MAX_TRIES = 5
"""For each account, within the time for which a code is good."""

MAX_TRACKED_ACCOUNTS = 10_000


@dataclass(frozen=True, slots=True)
class LinkCode:
    """A code to link an account with, and until when it is good."""

    code: str
    expires_at: datetime


class AccountLinks:
    """Which accounts belong to whom."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._tries: dict[str, deque[datetime]] = {}

    def create_code(self, owner: Owner) -> LinkCode:
        """A code that links an account to this person; it takes the place of an earlier one."""
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
        """Link an account to the person who has the code; None if the code is not good."""
        self._limit_tries(f"{surface}:{account}")
        key = self._store.system.get_key(_digest(CODE_CAPABILITY, _normalise_code(code)))
        now = self._clock.now()
        # Removing it tells who was first: a code is good for one account.
        if key is None or not is_valid(key, now) or not self._store.system.drop_key(key.id):
            return None
        self.unlink(surface, account)
        link = Key(id=new_id("key", now), owner=key.owner, label=surface, created_at=now)
        self._store.system.add_key(link, _digest(surface, account))
        return key.owner

    def owner_of(self, surface: str, account: str) -> Owner | None:
        """Whose account it is."""
        key = self._store.system.get_key(_digest(surface, account))
        return key.owner if key is not None and is_valid(key, self._clock.now()) else None

    def unlink(self, surface: str, account: str) -> bool:
        """Let an account be nobody's; whether it was someone's."""
        key = self._store.system.get_key(_digest(surface, account))
        return key is not None and self._store.system.drop_key(key.id)

    def _limit_tries(self, account: str) -> None:
        """Refuse who tries too often."""
        now = self._clock.now()
        with self._lock:
            if account not in self._tries and len(self._tries) >= MAX_TRACKED_ACCOUNTS:
                self._tries.pop(next(iter(self._tries)))
            tries = self._tries.setdefault(account, deque(maxlen=MAX_TRIES))
            if len(tries) == MAX_TRIES and now - tries[0] < CODE_LIFETIME:
                raise NotAllowed("Too many codes were tried: wait ten minutes.")
            tries.append(now)


def _normalise_code(code: str) -> str:
    return "".join(code.upper().split()).replace("-", "")


def _digest(sort: str, text: str) -> str:
    """A digest with its sort before it: that of a secret has none, so neither is the other."""
    return f"{sort}:{hashlib.sha256(f'{sort}:{text}'.encode()).hexdigest()}"
