"""Signed receipts of erasures: what was removed and which places were scanned."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from remembrancer.errors import InvalidInput
from remembrancer.store.contract import ScanResult
from remembrancer.store.erasure_marks import load_signing_key
from remembrancer.types import Json, Tenant

if TYPE_CHECKING:
    from remembrancer.store.contract import Store


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was removed, how many terms were searched for in which places, and what remains to do.

    It is clean if no trace was found and nothing remains to do.
    """

    id: str
    tenant: str
    user: str
    contributions_only: bool
    begun_at: datetime
    finished_at: datetime
    removed: Mapping[str, int]
    sought: int
    searched: tuple[ScanResult, ...]
    left: tuple[str, ...] = ()
    signature: str = ""
    account_kept: bool = False

    @property
    def clean(self) -> bool:
        return not self.left and not any(one.found for one in self.searched)

    def to_json(self) -> str:
        """The receipt as JSON; `parse_receipt` reads it."""
        return json.dumps(_to_dict(self), indent=1, sort_keys=True, ensure_ascii=False)


def parse_receipt(text: str) -> Receipt:
    try:
        return TypeAdapter(Receipt).validate_json(text)
    except ValidationError as error:
        raise InvalidInput("This is not an erasure receipt.") from error


def sign_receipt(store: Store, receipt: Receipt) -> Receipt:
    """Sign a receipt, so that this store can verify it later."""
    return replace(receipt, signature=_signature(store, receipt))


def is_authentic(store: Store, receipt: Receipt) -> bool:
    """True if this store issued the receipt and nothing in it was changed."""
    return hmac.compare_digest(_signature(store, receipt), receipt.signature)


def _signature(store: Store, receipt: Receipt) -> str:
    text = json.dumps(_to_dict(replace(receipt, signature="")), sort_keys=True)
    key = load_signing_key(store, Tenant(receipt.tenant))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _to_dict(receipt: Receipt) -> dict[str, Json]:
    values = asdict(receipt)
    for name in ("begun_at", "finished_at"):
        values[name] = values[name].isoformat()
    if not receipt.account_kept:  # Receipts from before this field must stay genuine.
        del values["account_kept"]
    return values
