"""Parses timestamps in the forms that other products write."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime
from typing import Any

from remembrancer.clock import as_utc

MILLISECOND_THRESHOLD = 100_000_000_000
"""Numbers from here on count milliseconds, not seconds."""

_UTC_SUFFIX_PATTERN = re.compile(r"\s*(?:UTC|Z)$")


def parse_timestamp(value: Any) -> datetime | None:
    """Parse ISO 8601 text or seconds since 1970; returns None for anything else."""
    with contextlib.suppress(ValueError, OverflowError, OSError):
        found = _to_datetime(value)
        if found is not None and 1970 <= found.year < 2200:
            return as_utc(found)
    return None


def _to_datetime(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return datetime.fromisoformat(_UTC_SUFFIX_PATTERN.sub("+00:00", value.strip()))
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) >= MILLISECOND_THRESHOLD else value
        return datetime.fromtimestamp(seconds, UTC)
    return None
