"""Keyed marks of erased persons, so that data from before an erasure is not restored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.types import Owner, Tenant

if TYPE_CHECKING:
    from remembrancer.store.contract import Store


SIGNING_KEY_SETTING = "receipt_key"


def erasure_mark(store: Store, owner: Owner) -> str:
    """A keyed hash of an owner; only a holder of the key can check whom it stands for."""
    return hmac.new(
        load_signing_key(store, Tenant(owner.tenant)), owner.id.encode(), hashlib.sha256
    ).hexdigest()


def author_mark(store: Store, owner: Owner) -> str:
    """A keyed hash of a person, for what they write into memories that others share."""
    key = load_signing_key(store, Tenant(owner.tenant))
    return hmac.new(key, f"author:{owner.id}".encode(), hashlib.sha256).hexdigest()[:32]


def is_erased_since(store: Store, owner: Owner, since: datetime) -> bool:
    """True if the owner was erased after a moment, so that older data must not be restored."""
    marks = {
        one.mark
        for one in store.system.list_erasures()
        if not one.contributions_only and one.begun_at >= since and one.tenant == owner.tenant
    }
    return bool(marks) and erasure_mark(store, owner) in marks


def load_signing_key(store: Store, tenant: Tenant) -> bytes:
    """The key that signs a tenant's receipts; created on first use."""
    known = store.system.get_setting(tenant, SIGNING_KEY_SETTING)
    if not isinstance(known, str):
        store.system.change_setting(
            tenant, SIGNING_KEY_SETTING, lambda old: old or secrets.token_hex(32)
        )
        known = store.system.get_setting(tenant, SIGNING_KEY_SETTING)
    return bytes.fromhex(str(known))
