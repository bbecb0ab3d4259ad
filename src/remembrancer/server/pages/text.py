"""How a page says things: ages, confidence, sources and events in plain words. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any

from remembrancer.maintenance.stats import CONFIDENCE_STEPS, confidence_step
from remembrancer.types import (
    Action,
    ConfidenceBand,
    Event,
    Fact,
    Maturity,
    Permanence,
    Record,
    Source,
    Status,
)

SELF_SUBJECTS = frozenset({"user", "me", "i"})
"""What whoever a memory belongs to is called in it, besides by name."""

CONFIDENCE_LABELS = ("almost gone", "faint", "unsure", "fairly sure", "sure", "certain")
"""The word for each of six steps."""

SOURCE_LABELS = {
    Source.EXPLICIT: "you said so",
    Source.EXTRACTED: "learned from a conversation",
    Source.CONSOLIDATED: "concluded from what happened",
    Source.IMPORTED: "imported",
}

PERMANENCE_LABELS = {
    Permanence.PERMANENT: "never fades",
    Permanence.STABLE: "fades over years",
    Permanence.STANDARD: "fades over months",
    Permanence.VOLATILE: "fades over weeks",
    Permanence.EPHEMERAL: "fades over days",
}

STATUS_LABELS = {
    Status.SUPERSEDED: "replaced",
    Status.FORGOTTEN: "forgotten",
    Status.EXPIRED: "faded away",
    Status.TRASHED: "in the trash",
    Status.RETRACTED: "taken back",
    Status.DISABLED: "switched off",
    Status.QUARANTINED: "held back",
}

MATURITY_LABELS = {
    Maturity.PROVEN: "Proven",
    Maturity.ESTABLISHED: "Established",
    Maturity.CANDIDATE: "Candidates",
    Maturity.ANTI_PATTERN: "Warnings",
}

ACTION_LABELS = {
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


def format_day(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """`3 May`, with the year if it is another."""
    here, today = moment.astimezone(zone), now.astimezone(zone)
    year = f" {here.year}" if here.year != today.year else ""
    return f"{here.day} {here:%B}{year}"


def format_time(moment: datetime, zone: tzinfo) -> str:
    """`3 May 2026, 14:05`."""
    here = moment.astimezone(zone)
    return f"{here.day} {here:%B} {here.year}, {here:%H:%M}"


def format_age(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """How long ago, as people say it; of what is to come, the day."""
    passed = now - moment
    if passed < -MINUTE:
        return f"on {format_day(moment, now, zone)}"
    if passed < MINUTE:
        return "just now"
    if passed < HOUR:
        return _format_units_ago(passed // MINUTE, "minute")
    if passed < DAY:
        return _format_units_ago(passed // HOUR, "hour")
    days = (now.astimezone(zone).date() - moment.astimezone(zone).date()).days
    if days == 1:
        return "yesterday"
    return _format_units_ago(days, "day") if days <= 30 else f"on {format_day(moment, now, zone)}"


def _format_units_ago(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def pluralize(count: int, one: str, more: str = "") -> str:
    """`1 fact`, `2,300 facts`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def label_weeks(counts: Sequence[int]) -> dict[str, int]:
    """Counts by the weeks that they are of, the last of which is this one."""
    ages = reversed(range(len(counts)))
    names = ("this week" if not age else f"{pluralize(age, 'week')} ago" for age in ages)
    return dict(zip(names, counts, strict=True))


def describe_confidence(value: float) -> tuple[int, str]:
    """The step of six that a confidence is on, and its word."""
    step = confidence_step(value)
    return step, CONFIDENCE_LABELS[step - 1]


def name_maturity(maturity: Maturity, count: int) -> str:
    """What to call so many rules of a maturity."""
    several = MATURITY_LABELS[maturity].lower()
    return several.removesuffix("s") if count == 1 else several


def count_marks(value: float) -> int:
    """How many of six marks a share fills; none only for nothing at all."""
    return 0 if value <= 0 else min(CONFIDENCE_STEPS, max(1, round(value * CONFIDENCE_STEPS)))


def replace_underscores(name: str) -> str:
    """`lives_in` as `lives in`."""
    return name.replace("_", " ")


def describe_state(record: Record, band: ConfidenceBand, now: datetime, zone: tzinfo) -> str:
    """One phrase on how a memory is doing."""
    if record.status is not Status.ACTIVE:
        since = f" {format_age(record.retired_at, now, zone)}" if record.retired_at else ""
        return f"{STATUS_LABELS[record.status]}{since}"
    confirmed = format_age(record.confirmed_at, now, zone)
    if band is ConfidenceBand.FADING:
        return f"fading, last confirmed {confirmed}"
    if band is ConfidenceBand.EXPIRED:
        return f"faded away, last confirmed {confirmed}"
    return f"confirmed {confirmed}"


def format_validity(record: Record, now: datetime, zone: tzinfo) -> str:
    """When it was or is true."""
    begun = f"since {format_day(record.valid_from, now, zone)}"
    if record.valid_until is None:
        return begun
    return (
        f"{format_day(record.valid_from, now, zone)} – {format_day(record.valid_until, now, zone)}"
    )


def format_topic(record: Record) -> str:
    """What a fact is about, as `ada · lives in`; of whoever it belongs to, only what of them."""
    if not isinstance(record, Fact) or not record.topic:
        return ""
    subject = None if (record.subject or "").casefold() in SELF_SUBJECTS else record.subject
    return " · ".join(replace_underscores(part) for part in (subject, record.predicate) if part)


def describe_event(event: Event) -> str:
    """What an event did, in a few words."""
    said = ACTION_LABELS[event.action]
    if event.action in (Action.REPLACED, Action.UPDATED):
        return said
    several = len({change.memory_id for change in event.changes})
    if several < 2:
        return said
    one, more = ("message", "") if event.action is Action.HEARD else ("memory", "memories")
    return f"{said}, {pluralize(several, one, more)}"


def humanize(value: Any) -> str:
    """A word of ours without its underscores, for badges and tables."""
    return replace_underscores(str(value))
