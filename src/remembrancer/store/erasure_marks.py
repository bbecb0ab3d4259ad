"""Keyed marks of erased persons, so that nothing from before an erasure comes back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.types import Owner, Tenant

if TYPE_CHECKING:
    from remembrancer.store.contract import Store


KEY = "receipt_key"


def mark_of(store: Store, owner: Owner) -> str:
    """Whom an erasure was about, as only who has the key can tell, and only if they ask."""
    return hmac.new(
        _key(store, Tenant(owner.tenant)), owner.id.encode(), hashlib.sha256
    ).hexdigest()


def erased_since(store: Store, owner: Owner, since: datetime) -> bool:
    """Whether someone was erased after a moment, so that nothing from before may come back."""
    marks = {
        one.mark
        for one in store.erasures()
        if not one.contributions_only and one.begun_at >= since and one.tenant == owner.tenant
    }
    return bool(marks) and mark_of(store, owner) in marks


def _key(store: Store, tenant: Tenant) -> bytes:
    """The secret of a tenant's receipts, made when it is first needed."""
    known = store.setting(tenant, KEY)
    if not isinstance(known, str):
        store.change_setting(tenant, KEY, lambda old: old or secrets.token_hex(32))
        known = store.setting(tenant, KEY)
    return bytes.fromhex(str(known))
