"""The day in the past that the URL of a page names, and its note for the reader."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from urllib.parse import urlencode

from remembrancer.errors import InvalidInput
from remembrancer.server import schemas
from remembrancer.text_format import format_date
from remembrancer.types import AsOf


@dataclass(frozen=True, slots=True)
class PastView:
    """What was known, or true, when a day ended."""

    as_of: AsOf
    note: str
    query: str
    """For links to pages that show the same day."""


def parse_past_view(known_on: str, true_on: str, zone: tzinfo) -> PastView | None:
    """The view of the past that two days such as 2026-05-03 name; None if both are empty."""
    known, true = (parse_day(one.strip(), time.max, zone) for one in (known_on, true_on))
    if known is None and true is None:
        return None
    days = {"as_of": known_on.strip(), "true_at": true_on.strip()}
    query = urlencode({name: day for name, day in days.items() if day})
    return PastView(AsOf(known, true), _describe(known, true, zone), query)


def _describe(known: datetime | None, true: datetime | None, zone: tzinfo) -> str:
    known_on = f"on {format_date(known, zone)}" if known else "today"
    if true is None:
        return f"This is what was known {known_on}."
    return f"This is what was true on {format_date(true, zone)}, as known {known_on}."


def parse_day(day: str, at: time, zone: tzinfo) -> datetime | None:
    """The given time of a day such as 2026-05-03, in the time zone of the user."""
    if not day:
        return None
    try:
        return schemas.check_moment(datetime.combine(date.fromisoformat(day), at, zone))
    except ValueError:
        raise InvalidInput(f"{day!r} is not a date. Use the form 2026-05-03.") from None
