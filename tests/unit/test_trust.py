"""Who vouches for a memory, and what may replace it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer.ids import new_id
from remembrancer.remember.trust import is_less_trusted, trust_tier
from remembrancer.types import Evidence, Fact, Source

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUOTED = (Evidence("monday", "turn_1", "I am vegetarian"),)


def fact(source: Source, *, hours: int = 0, **details: Any) -> Fact:
    at = NOON + timedelta(hours=hours)
    moments = dict.fromkeys(("valid_from", "recorded_at", "confirmed_at"), at)
    return Fact(
        id=new_id("fact", at),
        content="Is vegetarian",
        importance=5.0,
        category="fact",
        source=source,
        **moments,
        **details,
    )


STATED = fact(Source.EXPLICIT)
LEARNED = fact(Source.EXTRACTED, evidence=QUOTED)
BY_AGENT = fact(Source.EXPLICIT, agent="health")
OVER_MCP = fact(Source.EXPLICIT, surface="mcp")
ASKED_FOR = fact(Source.EXPLICIT, evidence=QUOTED, metadata={"requested": True})
NOTED = fact(Source.EXPLICIT, evidence=QUOTED, metadata={"requested": False})
ON_ITS_PAGE = fact(Source.EXPLICIT, agent="health", surface="web")
IN_ITS_CHAT = fact(Source.EXPLICIT, agent="health", surface="cli", evidence=QUOTED)
IMPORTED = fact(Source.IMPORTED)
CONCLUDED = fact(Source.CONSOLIDATED, agent="health")
TAINTED = fact(Source.EXTRACTED, evidence=QUOTED, tainted=True)


@pytest.mark.parametrize(
    ("record", "tier"),
    [
        (STATED, 3),
        (LEARNED, 3),
        (fact(Source.EXTRACTED), 2),
        (ASKED_FOR, 3),
        (BY_AGENT, 2),
        (OVER_MCP, 2),
        (NOTED, 2),
        (ON_ITS_PAGE, 3),
        (IN_ITS_CHAT, 3),
        (IMPORTED, 2),
        (CONCLUDED, 1),
        (TAINTED, 0),
    ],
)
def test_tiers(record: Fact, tier: int) -> None:
    assert trust_tier(record) == tier


@pytest.mark.parametrize(
    ("new", "old", "keep_explicit", "stands"),
    [
        (CONCLUDED, STATED, False, True),
        (CONCLUDED, LEARNED, False, True),
        (CONCLUDED, BY_AGENT, True, False),
        (CONCLUDED, OVER_MCP, True, False),
        (CONCLUDED, ASKED_FOR, False, True),
        (CONCLUDED, ON_ITS_PAGE, False, True),
        (CONCLUDED, IN_ITS_CHAT, False, True),
        (CONCLUDED, IMPORTED, True, False),
        (CONCLUDED, CONCLUDED, True, False),
        (BY_AGENT, STATED, True, False),
        (IMPORTED, STATED, False, True),
        (LEARNED, STATED, True, True),
        (LEARNED, STATED, False, False),
        (LEARNED, BY_AGENT, True, True),
        (LEARNED, NOTED, True, True),
        (LEARNED, NOTED, False, False),
        (TAINTED, CONCLUDED, False, True),
        (TAINTED, TAINTED, False, False),
        (STATED, TAINTED, True, False),
    ],
)
def test_what_stands_against_what(new: Fact, old: Fact, keep_explicit: bool, stands: bool) -> None:
    assert is_less_trusted(new, old, keep_explicit=keep_explicit) is stands


def test_a_conclusion_about_an_earlier_time_does_not_replace_a_later_fact() -> None:
    earlier = fact(Source.CONSOLIDATED, hours=-1)

    assert is_less_trusted(earlier, BY_AGENT, keep_explicit=False)
