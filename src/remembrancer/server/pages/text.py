"""Texts of the pages: labels for enum values, ages, dates and events. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from remembrancer.maintenance.stats import confidence_step
from remembrancer.text_format import describe_surface, pluralize, to_local
from remembrancer.types import (
    Action,
    Backlog,
    ConfidenceBand,
    Event,
    Fact,
    Maturity,
    Permanence,
    Record,
    Status,
)

UNTITLED = "New chat"
"""The name of a conversation without a title."""

SELF_SUBJECTS = frozenset({"user", "me", "i"})
"""Subjects that mean the owner of a memory, besides their name."""

CONFIDENCE_LABELS = ("very weak", "weak", "unsure", "fairly sure", "sure", "certain")
"""One label for each confidence step."""

PERMANENCE_LABELS = {
    Permanence.PERMANENT: "never fades",
    Permanence.STABLE: "fades over years",
    Permanence.STANDARD: "fades over months",
    Permanence.VOLATILE: "fades over weeks",
    Permanence.EPHEMERAL: "fades over days",
}

STATUS_LABELS = {
    Status.UNCONFIRMED: "not confirmed",
    Status.SUPERSEDED: "replaced",
    Status.FORGOTTEN: "forgotten",
    Status.EXPIRED: "faded",
    Status.TRASHED: "deleted",
    Status.RETRACTED: "undone",
    Status.DISABLED: "disabled",
    Status.QUARANTINED: "held back",
    Status.UNCONFIRMED: "not confirmed",
}

BACKLOG_LABELS = {
    Backlog.PENDING: "waiting",
    Backlog.LEASED: "waiting",
    Backlog.DONE: "consolidated",
    Backlog.DEAD: "given up",
}
"""What has become of an episode."""

MATURITY_LABELS = {
    Maturity.PROVEN: "Proven",
    Maturity.ESTABLISHED: "Established",
    Maturity.CANDIDATE: "Candidates",
    Maturity.ANTI_PATTERN: "Warnings",
}

ACTION_LABELS = {
    Action.REMEMBERED: "Remembered",
    Action.HEARD: "Conversation saved",
    Action.REPLACED: "Updated",
    Action.UPDATED: "Corrected",
    Action.CONFIRMED: "Confirmed",
    Action.FORGOTTEN: "Forgotten",
    Action.RESTORED: "Restored",
    Action.TRASHED: "Moved to trash",
    Action.DELETED: "Permanently deleted",
    Action.LINKED: "Linked",
    Action.UNLINKED: "Unlinked",
    Action.HELPED: "Rule marked helpful",
    Action.HARMED: "Rule marked harmful",
    Action.PROMOTED: "Rule promoted",
    Action.DEMOTED: "Rule demoted",
    Action.DISABLED: "Disabled",
    Action.INVERTED: "Rule became a warning",
    Action.FADED: "Confidence alert",
    Action.EXPIRED: "Expired",
    Action.EVICTED: "Removed to make room",
    Action.PURGED: "Removed from trash",
    Action.REPAIRED: "Repaired",
    Action.CLOSED: "Conversation ended",
    Action.LEARNED: "Learned from a conversation",
    Action.CONSOLIDATED: "Consolidated",
    Action.IMPORTED: "Imported",
    Action.VIEWED: "Counts viewed by an administrator",
    Action.QUARANTINED: "Held back",
    Action.DOUBTED: "Not sure about",
    Action.UNDONE: "Undone",
}

MEMORY_NOUNS = ("memory", "memories")

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def format_day(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """`3 May`; with the year if it is not the current one."""
    local, today = moment.astimezone(zone), now.astimezone(zone)
    year = f" {local.year}" if local.year != today.year else ""
    return f"{local.day} {local:%B}{year}"


def format_time(moment: datetime, zone: tzinfo) -> str:
    """`3 May 2026, 14:05`."""
    local = moment.astimezone(zone)
    return f"{local.day} {local:%B} {local.year}, {local:%H:%M}"


def format_age(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """`2 hours ago`, `yesterday`; the day for future times and after 30 days."""
    passed = now - moment
    if passed < -MINUTE:
        return f"on {format_day(moment, now, zone)}"
    if passed < MINUTE:
        return "just now"
    if passed < HOUR:
        return f"{pluralize(passed // MINUTE, 'minute')} ago"
    if passed < DAY:
        return f"{pluralize(passed // HOUR, 'hour')} ago"
    days = (now.astimezone(zone).date() - moment.astimezone(zone).date()).days
    if days == 1:
        return "yesterday"
    return f"{pluralize(days, 'day')} ago" if days <= 30 else f"on {format_day(moment, now, zone)}"


def label_weeks(counts: Sequence[int]) -> dict[str, int]:
    """Counts by week label; the last count is that of the current week."""
    ages = reversed(range(len(counts)))
    names = ("this week" if not age else f"{pluralize(age, 'week')} ago" for age in ages)
    return dict(zip(names, counts, strict=True))


def describe_confidence(value: float) -> tuple[int, str]:
    """The confidence step, from 1 to 6, and its label."""
    step = confidence_step(value)
    return step, CONFIDENCE_LABELS[step - 1]


def name_maturity(maturity: Maturity, count: int) -> str:
    """`1 candidate`, `2 candidates`, without the number."""
    plural = MATURITY_LABELS[maturity].lower()
    return plural.removesuffix("s") if count == 1 else plural


def humanize(value: object) -> str:
    """`lives_in` as `lives in`."""
    return str(value).replace("_", " ")


def describe_state(record: Record, band: ConfidenceBand, now: datetime, zone: tzinfo) -> str:
    """`confirmed 3 days ago`, `fading, last confirmed …`, `deleted yesterday`."""
    if record.status is not Status.ACTIVE:
        since = f" {format_age(record.retired_at, now, zone)}" if record.retired_at else ""
        return f"{STATUS_LABELS[record.status]}{since}"
    confirmed = format_age(record.confirmed_at, now, zone)
    if band is ConfidenceBand.FADING:
        return f"fading, last confirmed {confirmed}"
    if band is ConfidenceBand.EXPIRED:
        return f"faded, last confirmed {confirmed}"
    return f"confirmed {confirmed}"


def format_validity(record: Record, now: datetime, zone: tzinfo) -> str:
    """`since 3 May` or `3 May – 8 June`."""
    start = format_day(to_local(record.valid_from, zone), now, zone)
    if record.valid_until is None:
        return f"since {start}"
    return f"{start} – {format_day(to_local(record.valid_until, zone), now, zone)}"


def format_topic(record: Record) -> str:
    """Subject and predicate of a fact, as `byron · medicine`; without the subject if it is you."""
    if not isinstance(record, Fact) or not record.topic:
        return ""
    subject = None if (record.subject or "").casefold() in SELF_SUBJECTS else record.subject
    return " · ".join(humanize(part) for part in (subject, record.predicate) if part)


def describe_event(event: Event) -> str:
    """The action, with the number of memories or messages if there are several."""
    label, nouns = _name_event(event)
    count = len({change.memory_id for change in event.changes})
    if event.action is Action.FADED:
        return f"{label}: {pluralize(count, *nouns)} {'is' if count == 1 else 'are'} fading"
    if count < 2 or event.action in (Action.REPLACED, Action.UPDATED, Action.INVERTED):
        return label
    return f"{label} ({pluralize(count, *nouns)})"


def _name_event(event: Event) -> tuple[str, tuple[str, ...]]:
    """The label of an event, and the noun for what it changed."""
    match event.action:
        case Action.LEARNED if event.changes:
            is_done = _all_have(event, "after", "backlog", Backlog.DONE)
            return f"Episodes {'consolidated' if is_done else 'not consolidated'}", ("episode",)
        case Action.HEARD:
            return ACTION_LABELS[Action.HEARD], ("message",)
        case Action.RESTORED if _all_have(event, "before", "status", Status.DISABLED):
            return "Enabled", MEMORY_NOUNS
    return "Learned in doubt" if _is_doubtful(event) else ACTION_LABELS[event.action], MEMORY_NOUNS


def _is_doubtful(event: Event) -> bool:
    """True if the event stored an unconfirmed memory."""
    stored = [one.after for one in event.changes if one.before is None and one.after is not None]
    return bool(stored) and all(one.get("status") == Status.UNCONFIRMED for one in stored)


def _all_have(event: Event, side: Literal["before", "after"], name: str, value: str) -> bool:
    """True if all memories had this value before the event, or have had it since."""
    states = [getattr(change, side) or {} for change in event.changes]
    return bool(states) and all(state.get(name) == value for state in states)


def describe_actor(event: Event) -> str:
    """The agent that caused an event, else the surface it came from."""
    return event.agent or describe_surface(event.surface)
