"""What is handed out after an erasure: what was removed and where was searched, signed."""

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
    """What was removed of whom, how many traces were sought where, and what could not be done.

    It is clean if no trace was found and nothing is left to do.
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

    @property
    def clean(self) -> bool:
        """Whether nothing is left."""
        return not self.left and not any(one.found for one in self.searched)

    def to_json(self) -> str:
        """The receipt as a text to keep; `receipt_from` reads it."""
        return json.dumps(_to_dict(self), indent=1, sort_keys=True, ensure_ascii=False)


def parse_receipt(text: str) -> Receipt:
    """The receipt that a text holds."""
    try:
        return TypeAdapter(Receipt).validate_json(text)
    except ValidationError as error:
        raise InvalidInput("This is not a receipt of an erasure.") from error


def sign_receipt(store: Store, receipt: Receipt) -> Receipt:
    """A receipt that this store can recognise later."""
    return replace(receipt, signature=_signature(store, receipt))


def is_authentic(store: Store, receipt: Receipt) -> bool:
    """Whether this store has given out a receipt, and in these words."""
    return hmac.compare_digest(_signature(store, receipt), receipt.signature)


def _signature(store: Store, receipt: Receipt) -> str:
    text = json.dumps(_to_dict(replace(receipt, signature="")), sort_keys=True)
    key = load_signing_key(store, Tenant(receipt.tenant))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _to_dict(receipt: Receipt) -> dict[str, Json]:
    values = asdict(receipt)
    for name in ("begun_at", "finished_at"):
        values[name] = values[name].isoformat()
    return values
