"""Parses the filters in the URL of a page and finds the matching memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.server import schemas
from remembrancer.server.deps import check_scope
from remembrancer.server.pages.page_context import PageContext
from remembrancer.server.pages.past_view import parse_day
from remembrancer.types import Kind, Page, Record

MAX_FILTER_CHARS = 2000
PAGE_SIZE, MAX_SEARCH_RESULTS, MAX_SCANNED = 40, 20, 1000
FADING_STATUS = "fading"
"""Not a stored status: active memories whose confidence is too low to be recalled."""
NEVER_USED = "never_used"


@dataclass(frozen=True, slots=True)
class PageFilters:
    """The filters of a page; an unset filter is empty."""

    q: str = ""
    kind: str = ""
    scope: str = ""
    agent: str = ""
    permanence: str = ""
    category: str = ""
    subject: str = ""
    maturity: str = ""
    confidence: str = ""
    status: str = ""
    use: str = ""
    backlog: str = ""
    as_of: str = ""
    true_at: str = ""
    since: str = ""
    until: str = ""
    cursor: str = ""

    @property
    def has_filters(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__ if name != "cursor")


def parse_filters(context: PageContext) -> PageFilters:
    params = context.request.query_params
    values = {name: params.get(name, "").strip() for name in PageFilters.__slots__}
    if any(len(value) > MAX_FILTER_CHARS for value in values.values()):
        raise InvalidInput("A filter in the URL is too long.")
    try:
        return PageFilters(**{name: schemas.check_text(value) for name, value in values.items()})
    except ValueError as error:
        raise InvalidInput(f"A filter in the URL is invalid: {error}.") from None


def find_records(context: PageContext, filters: PageFilters, kinds: Sequence[Kind]) -> Page[Record]:
    """The best matches of a search, or the newest memories if there is no query."""
    options: dict[str, Any] = {
        "kinds": [filters.kind] if filters.kind else list(kinds),
        "scope": check_scope(context.me, filters.scope or None),
        "agent": filters.agent or None,
        "categories": [filters.category] if filters.category else [],
        "permanences": [filters.permanence] if filters.permanence else [],
        "backlogs": [filters.backlog] if filters.backlog else [],
        "maturities": [filters.maturity] if filters.maturity else [],
        "subject": filters.subject.replace(" ", "_") or None,
        "as_of": context.past.as_of if context.past else None,
        "recorded_from": parse_day(filters.since, time.min, context.zone),
        "recorded_before": parse_day(filters.until, time.max, context.zone),
        "minimum_importance": 0,
        "minimum_confidence": _parse_percent(filters.confidence),
    }
    if filters.q and not filters.status and not filters.use:
        found = context.me.recall(filters.q, limit=MAX_SEARCH_RESULTS, used=False, **options)
        return Page(tuple(result.memory for result in found))
    if filters.status == FADING_STATUS:
        options["confidence_below"] = context.profile.decay.recall_at
    else:
        options["status"] = filters.status or None
    if filters.use == NEVER_USED:
        options["never_used"] = True
    elif filters.use:
        options["order"] = filters.use
    if filters.q:
        return _find_by_words(context, filters.q, options)
    return context.me.list(limit=PAGE_SIZE, cursor=filters.cursor or None, **options)


def _find_by_words(context: PageContext, q: str, options: dict[str, Any]) -> Page[Record]:
    """The newest memories that contain all the words: recall only finds those in force."""
    words = q.casefold().split()
    page = context.me.list(limit=MAX_SCANNED, **options)
    found = [one for one in page.items if all(word in one.content.casefold() for word in words)]
    return Page(tuple(found[:MAX_SEARCH_RESULTS]))


def find_page(context: PageContext, kinds: Sequence[Kind]) -> tuple[Page[Record], dict[str, Any]]:
    """The memories that match the filters in the URL, and the values that their page needs."""
    filters = parse_filters(context)
    page = find_records(context, filters, kinds)
    return page, {
        "filters": filters,
        "scopes": context.list_scopes(),
        "agents": context.list_agents(),
        "cursor": page.cursor,
    }


def _parse_percent(percent: str) -> float:
    if not percent:
        return 0.0
    if not (percent.isascii() and percent.isdigit() and int(percent) <= 100):
        raise InvalidInput("confidence: use a number from 0 to 100.")
    return int(percent) / 100
