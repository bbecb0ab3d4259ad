"""Renders one memory as a line of a prompt. Pure."""

from __future__ import annotations

from datetime import datetime

from remembrancer.recall.fact_lines import format_day, word_origin
from remembrancer.recall.fact_sentence import word_fact
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.provenance import is_by_agent
from remembrancer.types import Episode, Fact, Record, Rule, Turn

MAX_PROMPT_TURN_CHARS = 600


def render_with_trust(record: Record, now: datetime) -> str:
    """A fact, rule or episode with its permanence, age, maturity or scope; "" if it has no text.

    What agents save themselves is the rule in this form, and not noted.
    """
    said = _render_noted(record, "" if is_by_agent(record) else word_origin(record))
    match record:
        case _ if not said:
            return ""
        case Fact():
            start = (
                f", from {format_day(record.valid_from, now)}" if record.valid_from > now else ""
            )
            age = _format_age(record.confirmed_at, now)
            return f"{said} [{record.permanence}, confirmed {age}{start}]"
        case Rule():
            maturity = record.maturity.replace("_", "-")
            return f"{said} [{maturity}, {escape_for_prompt(record.scope)}]"
        case _:
            return f"[{_format_age(record.recorded_at, now)}] {said}"


def render_plainly(record: Record, now: datetime) -> str:
    """A rule, episode or turn without bookkeeping; turns and episodes have their date."""
    said = render_memory(record)
    match record:
        case Turn():
            return f"[{record.said_at.astimezone(now.tzinfo):%Y-%m-%d}] {said}" if said else ""
        case Episode():
            return f"[{record.recorded_at.astimezone(now.tzinfo):%Y-%m-%d}] {said}" if said else ""
        case _:
            return said


def render_memory(record: Record) -> str:
    """The summary if there is one, else the content; never the body."""
    return _render_noted(record, word_origin(record))


def _render_noted(record: Record, note: str) -> str:
    said = _render_content(record)
    return f"{said} {note}" if said and note else said


def _render_content(record: Record) -> str:
    if isinstance(record, Turn):
        return escape_for_prompt(f"{record.speaker or record.role}: {_truncate(record.content)}")
    if not isinstance(record, Fact):
        return escape_for_prompt(record.content)
    if record.summary and (short := escape_for_prompt(record.summary)):
        return short
    return escape_for_prompt(word_fact(record))


def _truncate(text: str) -> str:
    return text if len(text) <= MAX_PROMPT_TURN_CHARS else text[: MAX_PROMPT_TURN_CHARS - 1] + "…"


def format_heading(category: str) -> str:
    return escape_for_prompt(category.replace("_", " ")).capitalize()


def _format_age(since: datetime, now: datetime) -> str:
    minutes = int(max(0.0, (now - since).total_seconds()) // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes}m ago"
    return f"{minutes // 60}h ago" if minutes < 24 * 60 else f"{minutes // (24 * 60)}d ago"
