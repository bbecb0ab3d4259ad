"""A place in a listing as text that a caller hands back for the next page."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.store.contract import Position


def place_of(at: datetime, name: str) -> str:
    """The cursor after an entry."""
    return base64.urlsafe_b64encode(f"{at.isoformat()} {name}".encode()).decode()


def position_of(cursor: str | None) -> Position | None:
    """The place that a cursor names."""
    if cursor is None:
        return None
    try:
        at, _, name = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        if "\x00" in name:
            raise ValueError("no name has that in it")
        return Position(as_utc(datetime.fromisoformat(at)), name)
    except (ValueError, OverflowError, binascii.Error):
        raise InvalidInput("The cursor is not one that a listing gave.") from None
