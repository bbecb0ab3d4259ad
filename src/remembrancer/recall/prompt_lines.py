"""How a memory reads in a prompt: one line, with what tells how far to trust it. Pure."""

from __future__ import annotations

from datetime import datetime

from remembrancer.recall.prompt_block import as_data
from remembrancer.types import Fact, Record, Rule, Turn

LONGEST_TURN = 600
UNVERIFIED = "(unverified: from a tool or a document)"


def described(record: Record, now: datetime) -> str:
    """A memory in words with what tells how far to trust it, "" if there are no words."""
    said = words(record)
    match record:
        case _ if not said:
            return ""
        case Fact():
            return f"{said} [{record.permanence}, confirmed {_age(record.confirmed_at, now)}]"
        case Rule():
            maturity = record.maturity.replace("_", "-")
            return f"{said} [{maturity}, {as_data(record.scope)}]"
        case Turn():
            return f"[{record.said_at:%Y-%m-%d}] {said}"
        case _:
            return f"[{_age(record.recorded_at, now)}] {said}"


def words(record: Record) -> str:
    """What a memory says, in its short form if it has one; never the long one."""
    said = _said(record)
    return f"{said} {UNVERIFIED}" if said and record.tainted else said


def _said(record: Record) -> str:
    if isinstance(record, Turn):
        return as_data(f"{record.speaker or record.role}: {_cut(record.content)}")
    if not isinstance(record, Fact):
        return as_data(record.content)
    if record.summary and (short := as_data(record.summary)):
        return short
    is_told = not record.subject or record.subject.casefold() in record.content.casefold()
    return as_data(record.content if is_told else record.searchable)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TURN else text[: LONGEST_TURN - 1] + "…"


def titled(category: str) -> str:
    """A category as a heading."""
    return as_data(category.replace("_", " ")).capitalize()


def _age(since: datetime, now: datetime) -> str:
    minutes = int(max(0.0, (now - since).total_seconds()) // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes}m ago"
    return f"{minutes // 60}h ago" if minutes < 24 * 60 else f"{minutes // (24 * 60)}d ago"
