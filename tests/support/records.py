"""Records for tests of pure functions."""

from __future__ import annotations

from datetime import UTC, datetime

from remembrancer.ids import new_id
from remembrancer.types import Fact

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def make_fact(content: str = "Drinks tea", *, at: datetime = NOW, **values: object) -> Fact:
    """A fact that was recorded and confirmed at a moment, with any other fields given."""
    fields: dict[str, object] = {
        "id": new_id("fact", at),
        "content": content,
        "category": "fact",
        "importance": 5,
        "valid_from": at,
        "recorded_at": at,
        "confirmed_at": at,
        **values,
    }
    return Fact(**fields)  # type: ignore[arg-type]
