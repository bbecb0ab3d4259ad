"""What a page is asked for by its address: words to look for, filters, a moment, a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.deps import within
from remembrancer.server.pages.page_context import Frame
from remembrancer.types import AsOf, Kind, Record

LONGEST = 2000
PAGE, BEST = 40, 20
FADING = "fading"
"""Not a status of the row: what is in force and too uncertain to be recalled."""


@dataclass(frozen=True, slots=True)
class Asked:
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
    def narrowed(self) -> bool:
        """Whether anything is asked for at all."""
        return any(getattr(self, name) for name in self.__slots__ if name != "cursor")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, and the place of the next page."""

    records: tuple[Record, ...]
    cursor: str | None = None


def asked(params: Mapping[str, str]) -> Asked:
    """The filters in an address."""
    values = {name: params.get(name, "").strip() for name in Asked.__slots__}
    if any(len(value) > LONGEST for value in values.values()):
        raise InvalidInput("The address is too long.")
    try:
        return Asked(**{name: schemas.checked(value) for name, value in values.items()})
    except ValueError as error:
        raise InvalidInput(f"The address cannot be read: {error}.") from None


def found(frame: Frame, me: Memory, wanted: Asked, kinds: Sequence[Kind]) -> Found:
    """What is asked for: the best first where there are words to look for, else the newest."""
    narrowing: dict[str, Any] = {
        "kinds": [wanted.kind] if wanted.kind else list(kinds),
        "scope": within(me, wanted.scope or None),
        "categories": [wanted.category] if wanted.category else [],
        "permanences": [wanted.permanence] if wanted.permanence else [],
        "backlogs": [wanted.backlog] if wanted.backlog else [],
        "subject": wanted.subject.replace(" ", "_") or None,
        "as_of": _as_of(frame, wanted.as_of),
        "recorded_from": moment(frame, wanted.since, time.min),
        "recorded_before": moment(frame, wanted.until, time.max),
        "minimum_importance": 0,
        "minimum_confidence": _share(wanted.confidence),
    }
    if wanted.q:
        best = me.recall(wanted.q, limit=BEST, used=False, **narrowing)
        return Found(tuple(one.memory for one in best))
    if wanted.status == FADING:
        narrowing["confidence_below"] = frame.profile.decay.recall_at
    status = wanted.status if wanted.status != FADING else ""
    page = me.list(limit=PAGE, status=status or None, cursor=wanted.cursor or None, **narrowing)
    return Found(page.items, page.cursor)


def _as_of(frame: Frame, day: str) -> AsOf | None:
    known = moment(frame, day, time.max)
    return AsOf(known=known) if known is not None else None


def moment(frame: Frame, day: str, at: time) -> datetime | None:
    """A time of a day that was named, where whoever looks is."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), at, frame.zone)
    except ValueError:
        raise InvalidInput(f"{day!r} is no date; write one such as 2026-05-03.") from None


def _share(percent: str) -> float:
    if not percent:
        return 0.0
    if not (percent.isascii() and percent.isdigit() and int(percent) <= 100):
        raise InvalidInput("confidence: give a number from 0 to 100.")
    return int(percent) / 100
