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


SIGNING_KEY_SETTING = "receipt_key"


def erasure_mark(store: Store, owner: Owner) -> str:
    """Whom an erasure was about, as only who has the key can tell, and only if they ask."""
    return hmac.new(
        load_signing_key(store, Tenant(owner.tenant)), owner.id.encode(), hashlib.sha256
    ).hexdigest()


def is_erased_since(store: Store, owner: Owner, since: datetime) -> bool:
    """Whether someone was erased after a moment, so that nothing from before may come back."""
    marks = {
        one.mark
        for one in store.system.list_erasures()
        if not one.contributions_only and one.begun_at >= since and one.tenant == owner.tenant
    }
    return bool(marks) and erasure_mark(store, owner) in marks


def load_signing_key(store: Store, tenant: Tenant) -> bytes:
    """The secret of a tenant's receipts, made when it is first needed."""
    known = store.system.get_setting(tenant, SIGNING_KEY_SETTING)
    if not isinstance(known, str):
        store.system.change_setting(
            tenant, SIGNING_KEY_SETTING, lambda old: old or secrets.token_hex(32)
        )
        known = store.system.get_setting(tenant, SIGNING_KEY_SETTING)
    return bytes.fromhex(str(known))
