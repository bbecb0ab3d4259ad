"""A place in a listing as text that a caller hands back for the next page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    pass

import base64
import binascii
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from remembrancer.store.contract import Position
from remembrancer.types import Event, Page, Rejection

Entry = TypeVar("Entry", Event, Rejection)


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


def page_of_own(
    read: Callable[[Position | None], list[Entry]],
    those_own: Callable[[list[Entry]], list[Entry]],
    limit: int,
    cursor: str | None,
) -> Page[Entry]:
    """A page of those entries that are the caller's to see; its cursor names no other."""
    after = position_of(cursor)
    own: list[Entry] = []
    while len(own) <= limit and (found := read(after)):
        own += those_own(found)
        after = Position(found[-1].at, found[-1].id)
    more = place_of(own[limit - 1].at, own[limit - 1].id) if len(own) > limit else None
    return Page(tuple(own[:limit]), more)


LIMIT = 1000


def checked_limit(limit: int) -> int:
    """A limit between 1 and 1000."""
    if not 1 <= limit <= LIMIT:
        raise InvalidInput(f"The limit must be from 1 to {LIMIT}.")
    return limit
