"""Query parameters of lists, and pages of memories that are listed or searched."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator, Field

from remembrancer.clock import end_bare_date
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.paging import decode_offset, encode_offset
from remembrancer.server import schemas
from remembrancer.server.deps import check_scope
from remembrancer.server.etags import ETagHeaders
from remembrancer.server.render import MemoryRenderer
from remembrancer.types import AsOf, ListOrder, Record, Status

MAX_SEARCH_RESULTS = 1000


class PageParams(schemas.RequestModel):
    """The size of a page, and the cursor of the previous one."""

    limit: schemas.Limit = 50
    cursor: Annotated[schemas.Text, Field(max_length=1000)] | None = None


PageQuery = Annotated[PageParams, Query()]


DeleteQuery = Annotated[schemas.DeleteParams, Query()]


PastMoment = Annotated[schemas.Moment, BeforeValidator(end_bare_date)]


class AsOfParams(schemas.RequestModel):
    """The past moment to look back to: what was known then, what was true then, or both."""

    known_at: PastMoment | None = None
    true_at: PastMoment | None = None


AsOfQuery = Annotated[AsOfParams, Query()]


class MemoryListParams(PageParams, AsOfParams):
    """Filters for lists of memories; `q` searches instead of listing."""

    scope: schemas.Name | None = None
    agent: schemas.Name | None = None
    session: schemas.Name | None = None
    q: Annotated[schemas.Text, Field(min_length=1, max_length=2000)] | None = None
    status: Status | None = None
    order: ListOrder = ListOrder.NEWEST
    never_used: bool = False
    tag: tuple[schemas.Name, ...] = ()
    min_importance: schemas.FiniteNumber | None = None
    min_confidence: schemas.Fraction | None = None


def build_as_of(model: Any) -> AsOf | None:
    """Return the past moment that a request's `known_at` and `true_at` name."""
    if model.known_at is None and model.true_at is None:
        return None
    return AsOf(model.known_at, model.true_at)


def build_page(
    me: Memory,
    renderer: MemoryRenderer,
    etag: ETagHeaders,
    params: MemoryListParams,
    **filters: Any,
) -> dict[str, Any]:
    """Return one page of memories: newest first, or best match first with `q`."""
    options = {
        **filters,
        "scope": check_scope(me, params.scope),
        "agent": params.agent,
        "session": params.session,
        "tags": params.tag,
        "as_of": build_as_of(params),
        "minimum_confidence": params.min_confidence,
        "minimum_importance": params.min_importance,
    }
    options = {name: value for name, value in options.items() if value is not None}
    if params.q is None:
        page = me.list(
            status=params.status,
            order=params.order,
            never_used=params.never_used,
            limit=params.limit,
            cursor=params.cursor,
            **options,
        )
        items, cursor = page.items, page.cursor
    else:
        items, cursor = _search(me, params, options)
    etag.set(items, cursor)
    return {"items": renderer.memories(items), "cursor": cursor}


def _search(
    me: Memory, params: MemoryListParams, options: dict[str, Any]
) -> tuple[tuple[Record, ...], str | None]:
    if params.status not in (None, Status.ACTIVE):
        raise InvalidInput("q only searches active memories. Omit either status or q.")
    if params.never_used or params.order is not ListOrder.NEWEST:
        raise InvalidInput("q puts the best match first. Omit either q, or order and never_used.")
    assert params.q is not None
    start = min(decode_offset(params.cursor), MAX_SEARCH_RESULTS)
    end = min(start + params.limit, MAX_SEARCH_RESULTS)
    best = me.recall(params.q, limit=min(end + 1, MAX_SEARCH_RESULTS), used=False, **options)
    cursor = encode_offset(end) if len(best) > end else None
    return tuple(one.memory for one in best[start:end]), cursor
