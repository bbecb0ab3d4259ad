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
from remembrancer.server.deps import check_scope
from remembrancer.types import AsOf, Record, Status

MAX_SEARCH_RESULTS = 1000


class PageParams(schemas.RequestModel):
    """How much to tell, and from where on."""

    limit: schemas.Limit = 50
    cursor: Annotated[schemas.Text, Field(max_length=1000)] | None = None


class MemoryListParams(PageParams):
    """Which memories to tell."""

    scope: schemas.Name | None = None
    q: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None
    status: Status | None = None
    tag: tuple[schemas.Name, ...] = ()
    min_importance: schemas.FiniteNumber | None = None
    min_confidence: schemas.Fraction | None = None
    known_at: schemas.Moment | None = None
    true_at: schemas.Moment | None = None


def build_as_of(model: Any) -> AsOf | None:
    """The moment that a request looks back to."""
    if model.known_at is None and model.true_at is None:
        return None
    return AsOf(model.known_at, model.true_at)


def build_page(
    request: Request, response: Response, me: Memory, params: MemoryListParams, **filters: Any
) -> dict[str, Any]:
    """One page of what is asked for: the newest first, or with `q` the best first."""
    wanted = {
        **filters,
        "scope": check_scope(me, params.scope),
        "tags": params.tag,
        "as_of": build_as_of(params),
        "minimum_confidence": params.min_confidence,
        "minimum_importance": params.min_importance,
    }
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if params.q is None:
        found = me.list(status=params.status, limit=params.limit, cursor=params.cursor, **wanted)
        items, cursor = found.items, found.cursor
    else:
        items, cursor = _search(me, params, wanted)
    etags.set_etag(request, response, etags.compute_etag(items, cursor))
    return {"items": schemas.build_memories(me, items), "cursor": cursor}


def _search(
    me: Memory, params: MemoryListParams, options: dict[str, Any]
) -> tuple[tuple[Record, ...], str | None]:
    if params.status not in (None, Status.ACTIVE):
        raise InvalidInput("q looks among what is in force; leave out the status, or leave out q.")
    assert params.q is not None
    start = _decode_cursor(params.cursor)
    end = min(start + params.limit, MAX_SEARCH_RESULTS)
    best = me.recall(params.q, limit=min(end + 1, MAX_SEARCH_RESULTS), **options)
    cursor = _encode_cursor(end) if len(best) > end else None
    return tuple(one.memory for one in best[start:end]), cursor


def _encode_cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(f"best {offset}".encode()).decode()


def _decode_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        word, _, number = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        if word == "best" and number.isascii() and number.isdigit():
            return min(int(number[:6]), MAX_SEARCH_RESULTS)
    except (ValueError, binascii.Error):
        pass
    raise InvalidInput("Invalid cursor. Pass one that a listing returned.")
