"""API keys: random, shown once, stored only as digests."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from remembrancer.access.instances import ADMIN_CAPABILITY
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput, NotFound, StoreUnavailable
from remembrancer.guard.lookalike_names import refuse_lookalike_name
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.ids import encode_base32, new_id
from remembrancer.types import Key, Owner, Principal, validate_name

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store

KEY_PREFIX = "rem_"
CAPABILITIES = ("users:view", "users:edit", ADMIN_CAPABILITY)
"""Capabilities beyond access to the owner's own memory."""

LOGIN_CAPABILITY = "login"
"""The capability of a key that only opens a browser session."""

LAST_USED_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key and its secret, which is not stored."""

    secret: str
    key: Key


class Keys:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create(
        self,
        owner: Owner,
        *,
        agent: str | None = None,
        capabilities: Iterable[str] = (),
        label: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create a key for an owner's memory; with an agent, for what that agent can see."""
        now = self._clock.now()
        for name in (agent, label):
            refuse_secret_name(name)
        if agent is not None:
            refuse_lookalike_name(agent, "agent")
        if expires_at is not None and as_utc(expires_at) <= now:
            raise InvalidInput("expires_at is in the past.")
        key = Key(
            id=new_id("key", now),
            owner=owner,
            agent=validate_name(agent, "agent") if agent is not None else None,
            capabilities=_validate_capabilities(capabilities),
            label=validate_name(label, "label") if label is not None else None,
            created_at=now,
            expires_at=as_utc(expires_at) if expires_at is not None else None,
        )
        secret = f"{KEY_PREFIX}{encode_base32(secrets.randbits(260), 52)}"
        self._store.system.add_key(key, digest_secret(secret))
        return NewKey(secret, key)

    def list(self, owner: Owner | None = None) -> list[Key]:
        """The keys of one owner, or all keys, newest first."""
        return self._store.system.list_keys(owner)

    def list_valid_digests(self) -> frozenset[str]:
        """The digests of all keys that are neither expired nor revoked."""
        return self._store.system.list_valid_digests(self._clock.now())

    def revoke(self, key_id: str, owner: Owner | None = None) -> Key:
        """Revoke a key. Raises NotFound if there is none, or if it is not this owner's."""
        found = [one for one in self.list(owner) if one.id == key_id]
        if not found:
            raise NotFound("Key not found.")
        self._store.system.revoke_key(key_id, self._clock.now())
        return next(one for one in self.list(owner) if one.id == key_id)

    def revoke_secret(self, secret: str) -> None:
        """Revoke the key with this secret, if there is one."""
        key = self._store.system.get_key(digest_secret(secret))
        if key is not None:
            self._store.system.revoke_key(key.id, self._clock.now())

    def principal_of(self, secret: str, surface: str) -> Principal | None:
        """The principal of this secret; None if it is unknown, expired or revoked."""
        key = self._store.system.get_key(digest_secret(secret))
        now = self._clock.now()
        if key is None or not is_valid(key, now):
            return None
        if key.used_at is None or now - key.used_at >= LAST_USED_INTERVAL:
            with contextlib.suppress(StoreUnavailable):  # A full disk can still be read.
                self._store.system.record_key_use(key.id, now)
        return Principal(key.owner, key.agent, surface, key.capabilities)


def is_valid(key: Key, now: datetime) -> bool:
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def _validate_capabilities(capabilities: Iterable[str]) -> frozenset[str]:
    requested = frozenset(capabilities)
    for one in sorted(requested - {*CAPABILITIES, LOGIN_CAPABILITY}):
        raise InvalidInput(f"Unknown capability {one!r}. Use {', '.join(CAPABILITIES)}.")
    return requested


def digest_secret(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
