"""Items that programs keep under keys, as facts.

A namespace is a scope that ends in `.items`, so that items and learned facts cannot replace each
other. A hash of the key is the predicate; the value is metadata.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from remembrancer.errors import InvalidInput
from remembrancer.remember.statement import MAX_CONTENT_CHARS
from remembrancer.types import Json, Record, validate_name

ITEMS_LABEL = ".items"
"""Last label of the scope of items; no label of a namespace has a dot."""

ITEM_SUBJECT = "item"
NO_EXPIRY_DAYS = 36_500.0
"""Lifetime of an item that does not expire: the longest that a memory can have."""

TEXT_FIELDS = ("text", "content", "memory")
"""Fields that hold the text of an item; the others say something about it."""


def build_items_scope(path: Sequence[str]) -> str:
    """Return the scope of the items of a namespace; raises InvalidInput if there is none."""
    if any("/" in label or not label.strip() for label in path):
        raise InvalidInput("A label must not be blank or have a slash.")
    return validate_name("/".join((*path, ITEMS_LABEL)), "namespace")


def hash_key(key: str) -> str:
    """Return a predicate for any key, of any length."""
    digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=16)
    return f".{digest.hexdigest()}"


def build_metadata(key: str, value: Json, *, is_searched: bool = True) -> dict[str, Json]:
    return {"name": key, "value": value, "searched": is_searched}


def is_item(record: Record) -> bool:
    """True if a program keeps the record as an item; other callers can use the scope as well."""
    value, name = record.metadata.get("value"), record.metadata.get("name")
    return record.has_program_key and isinstance(value, dict) and isinstance(name, str)


def render_item(value: Json, without: Sequence[str] = ()) -> str:
    """Return the text of an item, or else all its fields except some, as readable text."""
    found = _find_text(value)
    if found is None and isinstance(value, dict):
        value = {name: inner for name, inner in value.items() if name not in without}
    return clip_text(found or render_value(value))


def clip_text(text: str) -> str:
    return text.strip()[:MAX_CONTENT_CHARS] or ITEM_SUBJECT


def render_value(value: Json) -> str:
    """Return a value as readable text; a single field is shown without its name."""
    match value:
        case dict() if len(value) == 1:
            return render_value(next(iter(value.values())))
        case dict():
            return "\n".join(f"{name}: {render_value(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(map(render_value, value))
        case _:
            return "" if value is None else str(value)


def _find_text(value: Json) -> str | None:
    """Return the text of a value that has one, however deep."""
    if not isinstance(value, Mapping):
        return None
    for name in TEXT_FIELDS:
        inner = value.get(name)
        text = inner if isinstance(inner, str) else _find_text(inner)
        if text and text.strip():
            return text
    return None
