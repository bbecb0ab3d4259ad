"""Cursors and limits of paginated listings."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.options import check_value
from remembrancer.store.contract import Position
from remembrancer.types import Event, Page, Rejection

MAX_LIMIT = 1000

Entry = TypeVar("Entry", Event, Rejection)

INVALID_CURSOR = "Invalid cursor. Pass the cursor of the previous page."


def encode_cursor(at: datetime, name: str) -> str:
    """The cursor after an entry."""
    return _encode(f"{at.isoformat()} {name}")


def decode_cursor(cursor: str | None) -> Position | None:
    """The position that a cursor encodes."""
    if cursor is None:
        return None
    try:
        at, _, name = _decode(cursor).partition(" ")
        if "\x00" in name:
            raise ValueError("NUL in the cursor")
        return Position(as_utc(datetime.fromisoformat(at)), name)
    except (ValueError, OverflowError):
        raise InvalidInput(INVALID_CURSOR) from None


def encode_offset(offset: int) -> str:
    """Return the cursor of a list that is paged by offset."""
    return _encode(f"offset {offset}")


def decode_offset(cursor: str | None) -> int:
    """Return the offset that a cursor holds; 0 without a cursor."""
    if cursor is None:
        return 0
    try:
        word, _, digits = _decode(cursor).partition(" ")
    except ValueError:
        raise InvalidInput(INVALID_CURSOR) from None
    if word != "offset" or not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise InvalidInput(INVALID_CURSOR)
    return int(digits)


def _encode(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decode(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor.encode()).decode()


def read_visible_page(
    read: Callable[[Position | None], list[Entry]],
    only_visible: Callable[[list[Entry]], list[Entry]],
    limit: int,
    cursor: str | None,
) -> Page[Entry]:
    """A page of the entries that the caller can see; its cursor names no other entry."""
    after = decode_cursor(cursor)
    own: list[Entry] = []
    while len(own) <= limit and (found := read(after)):
        own += only_visible(found)
        after = Position(found[-1].at, found[-1].id)
    more = encode_cursor(own[limit - 1].at, own[limit - 1].id) if len(own) > limit else None
    return Page(tuple(own[:limit]), more)


def validate_limit(limit: int) -> int:
    check_value("limit", limit, int)
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"The limit must be from 1 to {MAX_LIMIT}.")
    return limit
