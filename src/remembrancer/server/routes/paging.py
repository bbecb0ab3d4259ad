"""Listings and searches of one kind of memory, a page at a time."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any

from fastapi import Request, Response
from pydantic import Field

from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.server import etags, schemas
from remembrancer.server.deps import within
from remembrancer.types import AsOf, Record, Status

MOST_FOUND = 1000


class Paged(schemas.Asked):
    """How much to tell, and from where on."""

    limit: schemas.Limit = 50
    cursor: Annotated[schemas.Text, Field(max_length=1000)] | None = None


class Listed(Paged):
    """Which memories to tell."""

    scope: schemas.Name | None = None
    q: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None
    status: Status | None = None
    tag: tuple[schemas.Name, ...] = ()
    min_importance: schemas.Number | None = None
    min_confidence: schemas.Share | None = None
    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


def as_of(asked: Any) -> AsOf | None:
    """The moment that a request looks back to."""
    if asked.known_at is None and asked.true_at is None:
        return None
    return AsOf(asked.known_at, asked.true_at)


def page(
    request: Request, response: Response, me: Memory, asked: Listed, **narrowing: Any
) -> dict[str, Any]:
    """One page of what is asked for: the newest first, or with `q` the best first."""
    wanted = {
        **narrowing,
        "scope": within(me, asked.scope),
        "tags": asked.tag,
        "as_of": as_of(asked),
        "minimum_confidence": asked.min_confidence,
        "minimum_importance": asked.min_importance,
    }
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if asked.q is None:
        found = me.list(status=asked.status, limit=asked.limit, cursor=asked.cursor, **wanted)
        items, cursor = found.items, found.cursor
    else:
        items, cursor = _found(me, asked, wanted)
    etags.tell(request, response, etags.of(items, cursor))
    return {"items": schemas.memories(me, items), "cursor": cursor}


def _found(
    me: Memory, asked: Listed, wanted: dict[str, Any]
) -> tuple[tuple[Record, ...], str | None]:
    if asked.status not in (None, Status.ACTIVE):
        raise InvalidInput("q looks among what is in force; leave out the status, or leave out q.")
    assert asked.q is not None
    start = _place(asked.cursor)
    end = min(start + asked.limit, MOST_FOUND)
    best = me.recall(asked.q, limit=min(end + 1, MOST_FOUND), **wanted)
    cursor = _cursor(end) if len(best) > end else None
    return tuple(one.memory for one in best[start:end]), cursor


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(f"best {place}".encode()).decode()


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        word, _, number = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        if word == "best" and number.isascii() and number.isdigit():
            return min(int(number[:6]), MOST_FOUND)
    except (ValueError, binascii.Error):
        pass
    raise InvalidInput("The cursor is not one that a listing gave.")
