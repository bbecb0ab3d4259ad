"""What a page is asked for by its address: words to look for, filters, a moment, a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.deps import check_scope
from remembrancer.server.pages.page_context import PageContext
from remembrancer.types import AsOf, Kind, Record

MAX_FILTER_CHARS = 2000
PAGE_SIZE, MAX_SEARCH_RESULTS = 40, 20
FADING_STATUS = "fading"
"""Not a status of the row: what is in force and too uncertain to be recalled."""


@dataclass(frozen=True, slots=True)
class PageFilters:
    """The filters of a page; what is not asked for is empty."""

    q: str = ""
    kind: str = ""
    scope: str = ""
    permanence: str = ""
    category: str = ""
    subject: str = ""
    confidence: str = ""
    status: str = ""
    backlog: str = ""
    as_of: str = ""
    since: str = ""
    until: str = ""
    cursor: str = ""

    @property
    def has_filters(self) -> bool:
        """Whether anything is asked for at all."""
        return any(getattr(self, name) for name in self.__slots__ if name != "cursor")


@dataclass(frozen=True, slots=True)
class MatchingRecords:
    """What was found, and the place of the next page."""

    records: tuple[Record, ...]
    cursor: str | None = None


def parse_filters(params: Mapping[str, str]) -> PageFilters:
    """The filters in an address."""
    values = {name: params.get(name, "").strip() for name in PageFilters.__slots__}
    if any(len(value) > MAX_FILTER_CHARS for value in values.values()):
        raise InvalidInput("The address is too long.")
    try:
        return PageFilters(**{name: schemas.check_text(value) for name, value in values.items()})
    except ValueError as error:
        raise InvalidInput(f"The address cannot be read: {error}.") from None


def find_records(
    frame: PageContext, me: Memory, filters: PageFilters, kinds: Sequence[Kind]
) -> MatchingRecords:
    """What is asked for: the best first where there are words to look for, else the newest."""
    narrowing: dict[str, Any] = {
        "kinds": [filters.kind] if filters.kind else list(kinds),
        "scope": check_scope(me, filters.scope or None),
        "categories": [filters.category] if filters.category else [],
        "permanences": [filters.permanence] if filters.permanence else [],
        "backlogs": [filters.backlog] if filters.backlog else [],
        "subject": filters.subject.replace(" ", "_") or None,
        "as_of": _parse_as_of(frame, filters.as_of),
        "recorded_from": parse_day(frame, filters.since, time.min),
        "recorded_before": parse_day(frame, filters.until, time.max),
        "minimum_importance": 0,
        "minimum_confidence": _parse_percent(filters.confidence),
    }
    if filters.q:
        best = me.recall(filters.q, limit=MAX_SEARCH_RESULTS, used=False, **narrowing)
        return MatchingRecords(tuple(one.memory for one in best))
    if filters.status == FADING_STATUS:
        narrowing["confidence_below"] = frame.profile.decay.recall_at
    status = filters.status if filters.status != FADING_STATUS else ""
    page = me.list(
        limit=PAGE_SIZE, status=status or None, cursor=filters.cursor or None, **narrowing
    )
    return MatchingRecords(page.items, page.cursor)


def _parse_as_of(frame: PageContext, day: str) -> AsOf | None:
    known = parse_day(frame, day, time.max)
    return AsOf(known=known) if known is not None else None


def parse_day(frame: PageContext, day: str, at: time) -> datetime | None:
    """A time of a day that was named, where whoever looks is."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), at, frame.zone)
    except ValueError:
        raise InvalidInput(f"{day!r} is no date; write one such as 2026-05-03.") from None


def _parse_percent(percent: str) -> float:
    if not percent:
        return 0.0
    if not (percent.isascii() and percent.isdigit() and int(percent) <= 100):
        raise InvalidInput("confidence: give a number from 0 to 100.")
    return int(percent) / 100
