"""How a page says things: ages, confidence, sources and events in plain words. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any

from remembrancer.maintenance.stats import STEPS, step_of
from remembrancer.types import (
    Action,
    Event,
    Fact,
    Maturity,
    Permanence,
    Record,
    Source,
    Standing,
    Status,
)

SELF = frozenset({"user", "me", "i"})
"""What whoever a memory belongs to is called in it, besides by name."""

CONFIDENCE = ("almost gone", "faint", "unsure", "fairly sure", "sure", "certain")
"""The word for each of six steps."""

SOURCES = {
    Source.EXPLICIT: "you said so",
    Source.EXTRACTED: "learned from a conversation",
    Source.CONSOLIDATED: "concluded from what happened",
    Source.IMPORTED: "imported",
}

PERMANENCE = {
    Permanence.PERMANENT: "never fades",
    Permanence.STABLE: "fades over years",
    Permanence.STANDARD: "fades over months",
    Permanence.VOLATILE: "fades over weeks",
    Permanence.EPHEMERAL: "fades over days",
}

STATUSES = {
    Status.SUPERSEDED: "replaced",
    Status.FORGOTTEN: "forgotten",
    Status.EXPIRED: "faded away",
    Status.TRASHED: "in the trash",
    Status.RETRACTED: "taken back",
    Status.DISABLED: "switched off",
    Status.QUARANTINED: "held back",
}

MATURITY = {
    Maturity.PROVEN: "Proven",
    Maturity.ESTABLISHED: "Established",
    Maturity.CANDIDATE: "Candidates",
    Maturity.ANTI_PATTERN: "Warnings",
}

HAPPENED = {
    Action.REMEMBERED: "Remembered",
    Action.HEARD: "Heard a conversation",
    Action.REPLACED: "Brought up to date",
    Action.UPDATED: "Corrected",
    Action.CONFIRMED: "Confirmed",
    Action.FORGOTTEN: "Forgotten",
    Action.RESTORED: "Restored",
    Action.TRASHED: "Put into the trash",
    Action.DELETED: "Deleted for good",
    Action.LINKED: "Linked",
    Action.UNLINKED: "Unlinked",
    Action.HELPED: "A rule helped",
    Action.HARMED: "A rule did harm",
    Action.PROMOTED: "Trusted more",
    Action.DEMOTED: "Trusted less",
    Action.DISABLED: "Switched off",
    Action.EXPIRED: "Faded away",
    Action.EVICTED: "Made room",
    Action.PURGED: "Left the trash for good",
    Action.REPAIRED: "Repaired",
    Action.CLOSED: "A conversation ended",
    Action.LEARNED: "Learned from a conversation",
    Action.CONSOLIDATED: "Drew conclusions",
    Action.IMPORTED: "Brought in",
    Action.VIEWED: "Looked at, in numbers",
    Action.QUARANTINED: "Held back",
    Action.UNDONE: "Undone",
}

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def day(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """`3 May`, with the year if it is another."""
    here, today = moment.astimezone(zone), now.astimezone(zone)
    year = f" {here.year}" if here.year != today.year else ""
    return f"{here.day} {here:%B}{year}"


def time(moment: datetime, zone: tzinfo) -> str:
    """`3 May 2026, 14:05`."""
    here = moment.astimezone(zone)
    return f"{here.day} {here:%B} {here.year}, {here:%H:%M}"


def ago(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """How long ago, as people say it; of what is to come, the day."""
    passed = now - moment
    if passed < -MINUTE:
        return f"on {day(moment, now, zone)}"
    if passed < MINUTE:
        return "just now"
    if passed < HOUR:
        return _several(passed // MINUTE, "minute")
    if passed < DAY:
        return _several(passed // HOUR, "hour")
    days = (now.astimezone(zone).date() - moment.astimezone(zone).date()).days
    if days == 1:
        return "yesterday"
    return _several(days, "day") if days <= 30 else f"on {day(moment, now, zone)}"


def _several(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def counted(count: int, one: str, more: str = "") -> str:
    """`1 fact`, `2,300 facts`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def by_week(counts: Sequence[int]) -> dict[str, int]:
    """Counts by the weeks that they are of, the last of which is this one."""
    ages = reversed(range(len(counts)))
    names = ("this week" if not age else f"{counted(age, 'week')} ago" for age in ages)
    return dict(zip(names, counts, strict=True))


def confidence(value: float) -> tuple[int, str]:
    """The step of six that a confidence is on, and its word."""
    step = step_of(value)
    return step, CONFIDENCE[step - 1]


def matured(maturity: Maturity, count: int) -> str:
    """What to call so many rules of a maturity."""
    several = MATURITY[maturity].lower()
    return several.removesuffix("s") if count == 1 else several


def strength(value: float) -> int:
    """How many of six marks a share fills; none only for nothing at all."""
    return 0 if value <= 0 else min(STEPS, max(1, round(value * STEPS)))


def spaced(name: str) -> str:
    """`lives_in` as `lives in`."""
    return name.replace("_", " ")


def state(record: Record, standing: Standing, now: datetime, zone: tzinfo) -> str:
    """One phrase on how a memory is doing."""
    if record.status is not Status.ACTIVE:
        since = f" {ago(record.retired_at, now, zone)}" if record.retired_at else ""
        return f"{STATUSES[record.status]}{since}"
    confirmed = ago(record.confirmed_at, now, zone)
    if standing is Standing.FADING:
        return f"fading, last confirmed {confirmed}"
    if standing is Standing.EXPIRED:
        return f"faded away, last confirmed {confirmed}"
    return f"confirmed {confirmed}"


def window(record: Record, now: datetime, zone: tzinfo) -> str:
    """When it was or is true."""
    begun = f"since {day(record.valid_from, now, zone)}"
    if record.valid_until is None:
        return begun
    return f"{day(record.valid_from, now, zone)} – {day(record.valid_until, now, zone)}"


def topic(record: Record) -> str:
    """What a fact is about, as `ada · lives in`; of whoever it belongs to, only what of them."""
    if not isinstance(record, Fact) or not record.topic:
        return ""
    subject = None if (record.subject or "").casefold() in SELF else record.subject
    return " · ".join(spaced(part) for part in (subject, record.predicate) if part)


def happened(event: Event) -> str:
    """What an event did, in a few words."""
    said = HAPPENED[event.action]
    if event.action in (Action.REPLACED, Action.UPDATED):
        return said
    several = len({change.memory_id for change in event.changes})
    if several < 2:
        return said
    one, more = ("message", "") if event.action is Action.HEARD else ("memory", "memories")
    return f"{said}, {counted(several, one, more)}"


def plain(value: Any) -> str:
    """A word of ours without its underscores, for badges and tables."""
    return spaced(str(value))
