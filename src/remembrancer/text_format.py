"""Formats dates, counts, verbs, quotations and surfaces for people to read. Pure functions."""

from __future__ import annotations

from datetime import UTC, datetime, time, tzinfo

SURFACE_LABELS = {
    "web": "on the web",
    "cli": "in the terminal",
    "telegram": "on Telegram",
    "mcp": "over MCP",
    "rest": "over the API",
    "library": "by a program",
    "jobs": "automatically",
}


def format_date(moment: datetime, zone: tzinfo | None = None) -> str:
    """`2 Mar 2026`, in the given time zone or in the zone of the moment itself."""
    local = moment.astimezone(zone) if zone else moment
    return f"{local.day} {local:%b} {local.year}"


def to_local(moment: datetime, zone: tzinfo) -> datetime:
    """The moment in a time zone; midnight in UTC stands for a day, which is the same everywhere."""
    if moment.astimezone(UTC).time() == time():
        return moment.astimezone(UTC).replace(tzinfo=zone)
    return moment.astimezone(zone)


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def quote(text: str, limit: int) -> str:
    """The shortened text in quotation marks."""
    return f"“{shorten(text, limit)}”"


def pluralize(count: int, singular: str, plural: str = "") -> str:
    """`1 fact`, `2,300 facts`; the plural is the singular with an s unless it is given."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def add_verb_ending(verb: str) -> str:
    """`stores`, `pushes`, `carries`: the third person singular of a regular verb."""
    if verb.endswith(("sh", "ch", "x", "z", "o", "ss")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def describe_surface(surface: str) -> str:
    """`on the web`, `in the terminal`; `via NAME` for a surface without a label."""
    return SURFACE_LABELS.get(surface, f"via {surface}")
