"""Transaction time: the moments of an owner's changes never go back, whatever the clock does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from remembrancer.store.contract import AddApplication, AddLink, Insert, Patch, Write
from remembrancer.types import Record, Status

if TYPE_CHECKING:
    from remembrancer.store.contract import Reader

SMALLEST_STEP = timedelta(microseconds=1)
"""The resolution of stored moments."""

PATCHED_MOMENTS = ("retired_at", "applied_at")
"""The fields of a patch that hold the moment of a change."""


def next_moment(clock: datetime, last: datetime | None) -> datetime:
    """The moment of a change: the clock's, or just after the last one if the clock is behind it."""
    return clock if last is None or last <= clock else last + SMALLEST_STEP


def move_writes(writes: Sequence[Write], planned: datetime, moment: datetime) -> list[Write]:
    """The writes that were planned for one moment, at another.

    Moments before the planned one are older than the change, and stay.
    """
    return [_move(one, planned, moment) for one in writes]


def _move(write: Write, planned: datetime, moment: datetime) -> Write:
    match write:
        case Insert(record) if record.recorded_at >= planned:
            return replace(write, record=replace(record, recorded_at=moment))
        case Patch(_, values):
            late = {name for name in PATCHED_MOMENTS if _is_from(values.get(name), planned)}
            return replace(write, values={**values, **dict.fromkeys(late, moment)})
        case AddLink(link) if link.created_at >= planned:
            return AddLink(replace(link, created_at=moment))
        case AddApplication(application) if application.applied_at >= planned:
            return AddApplication(replace(application, applied_at=moment))
        case _:
            return write


def _is_from(value: object, planned: datetime) -> bool:
    return isinstance(value, datetime) and value >= planned


def has_begun(record: Record, now: datetime) -> bool:
    """False for what is planned; what the clock said when it was stored has begun, even if the
    clock has gone back since.
    """
    said_then = record.valid_from <= record.confirmed_at or record.valid_from == record.recorded_at
    return said_then or record.valid_from <= now


def is_in_force_still(record: Record, now: datetime) -> bool:
    """True for a version that was replaced from a moment on that is still to come."""
    until, retired = record.valid_until, record.retired_at
    if record.status is not Status.SUPERSEDED or until is None or until <= now:
        return False
    return retired is None or until > retired


def begin_after(reader: Reader, old: Record, new: Record) -> Record:
    """The new version, beginning no earlier than what the clock said of the old one.

    Only the clock's moments are corrected, never a date that was given.
    """
    is_given = new.valid_from != new.recorded_at
    if is_given or old.valid_from <= new.valid_from or not has_begun(old, new.valid_from):
        return new
    return replace(new, valid_from=next_moment(new.recorded_at, reader.last_moment()))
