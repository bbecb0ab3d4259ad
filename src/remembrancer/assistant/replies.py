"""What the assistant says by itself, without a model: lists, findings, and where memories are from.

Pure but for the words of memories, which are shown as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from remembrancer.types import Recalled, Record, Source, Turn

NO_MODEL = (
    "No language model is set up, so I cannot think about this; I keep what you tell me and look "
    "things up."
)
NOTHING_FITS = "I remember nothing that fits."
NOTHING_YET = "I remember nothing about you yet."
NOT_FROM_MEMORY = "I used nothing from your memory for my last answer."
NO_ANSWER_YET = "I have not answered anything in this conversation yet."
CONFIRM_FORGET_ALL = (
    "This forgets everything I remember about you, on every surface, and our conversations with "
    "it. Are you sure? Say yes, or anything else to keep it."
)
SESSION_RESET = "We begin anew. What I remember about you stays."
SUMMARISED = (
    "The beginning of this long conversation is summarised for the model; no message was deleted."
)
NOTHING_TO_UNDO = "Nothing in this conversation is left to undo."
WHAT_TO_CHANGE = "What would you like to change about this?"
HOW_TO_CHANGE = "Say “Correction: …” with the words that are right, or “forget it”."
TOOL_LOOP_STOPPED = "The model kept asking for tools and was stopped."

SPEAKER_PREFIXES = {"user": "you said: ", "assistant": "I said: "}
MAX_QUOTE_CHARS = 300


def format_memory_list(records: Sequence[Record], zone: ZoneInfo, *, more: bool) -> str:
    """All that is remembered, a line each."""
    if not records:
        return NOTHING_YET
    lines = [f"- {quote_memory(one)} ({format_day(one.recorded_at, zone)})" for one in records]
    end = ["… and more; ask about something in particular."] if more else []
    return "\n".join(["This is what I remember about you:", *lines, *end])


def format_results(recalled: Sequence[Recalled], zone: ZoneInfo) -> str:
    """What fits a question, with the day it is from."""
    lines = [_format_result(one.memory, zone) for one in recalled]
    return "\n".join(["From your memory:", *lines]) if lines else NOTHING_FITS


def _format_result(record: Record, zone: ZoneInfo) -> str:
    who = SPEAKER_PREFIXES.get(record.role, "") if isinstance(record, Turn) else ""
    return f"- {who}{quote_memory(record)} ({format_day(record.valid_from, zone)})"


def format_sources(records: Sequence[Record], zone: ZoneInfo) -> str:
    """Which memories an answer was made with, and where they come from."""
    if not records:
        return NOT_FROM_MEMORY
    lines = [f"- {quote_memory(one)}: {_describe_origin(one, zone)}" for one in records]
    return "\n".join(["I had these memories before me:", *lines])


def _describe_origin(record: Record, zone: ZoneInfo) -> str:
    how = {
        Source.EXPLICIT: "you told me",
        Source.EXTRACTED: "I gathered it from what you said",
        Source.CONSOLIDATED: "put together from several memories",
        Source.IMPORTED: "taken over from elsewhere",
    }[record.source]
    if isinstance(record, Turn):
        how = "said in a conversation"
    quotes = [one.quote for one in record.evidence if one.quote][:1]
    said = f" (“{_shorten(quotes[0])}”)" if quotes else ""
    doubt = "; it is from a tool or a document" if record.tainted else ""
    return f"{how} on {format_day(record.recorded_at, zone)}, {record.surface}{said}{doubt}"


def quote_memory(record: Record) -> str:
    """A memory in quotation marks, on one line."""
    return f"“{_shorten(record.content)}”"


def format_day(moment: datetime, zone: ZoneInfo) -> str:
    """A day, as `2 Mar 2026`."""
    local = moment.astimezone(zone)
    return f"{local.day} {local:%b} {local.year}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTE_CHARS else line[: MAX_QUOTE_CHARS - 1].rstrip() + "…"
