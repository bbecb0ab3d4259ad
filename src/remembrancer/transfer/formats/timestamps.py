"""Parses timestamps in the forms that other products write."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from remembrancer.sessions.conversation_file import parse_time

MIN_YEAR = 1970


def parse_timestamp(value: Any) -> datetime | None:
    """Parse ISO 8601 text or seconds since 1970; returns None for anything else."""
    found = parse_time(value, UTC)
    return found if found is not None and found.year >= MIN_YEAR else None
