"""Items that programs keep under keys, as facts.

A namespace is a scope that ends in `.items`, so that items and learned facts cannot replace each
other. A hash of the key is the predicate; the value is metadata.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.profiles import Profile
from remembrancer.remember.statement import MAX_CONTENT_CHARS
from remembrancer.types import Json, Origin, Record, validate_name

ITEMS_LABEL = ".items"
"""Last label of the scope of items; no label of a namespace has a dot."""

ITEM_SUBJECT = "item"
NO_EXPIRY_DAYS = 36_500.0
"""Lifetime of an item that does not expire: the longest that a memory can have."""

TEXT_FIELDS = ("text", "content", "memory")
"""Fields that hold the text of an item; the others say something about it."""


@dataclass(frozen=True, slots=True)
class ItemDetails:
    """What kind of memory an item is, how important, and who vouches for its text.

    A kind is a category of the profile, which gives the item its time to live.
    """

    kind: str | None = None
    importance: float | None = None
    origin: Origin | str | None = None


def read_details(profile: Profile, value: Mapping[str, Any]) -> ItemDetails:
    """Return what the fields `kind` and `importance` of a value say, if the profile knows it."""
    kind, importance = value.get("kind"), value.get("importance")
    return ItemDetails(
        kind if isinstance(kind, str) and kind in profile.categories else None,
        importance if _is_on_scale(profile, importance) else None,
    )


def _is_on_scale(profile: Profile, importance: Any) -> bool:
    is_number = isinstance(importance, int | float) and not isinstance(importance, bool)
    return is_number and 1 <= importance <= profile.importance.max


def choose_importance(profile: Profile, details: ItemDetails) -> float:
    """Return the importance of an item: its own, or else that of its kind."""
    _, category = profile.resolve_category(details.kind)
    return float(details.importance or category.importance or profile.importance.default)


def choose_ttl_days(profile: Profile, details: ItemDetails) -> float:
    """Return the time to live of an item's kind; an item without a kind does not expire."""
    if details.kind is None:
        return NO_EXPIRY_DAYS
    _, category = profile.resolve_category(details.kind)
    return category.ttl_days or NO_EXPIRY_DAYS


def render_described(value: Json, details: ItemDetails) -> str:
    """Return the text of an item; its kind and importance are no part of what it says."""
    given = {"kind": details.kind, "importance": details.importance}
    return render_item(value, without=[name for name, one in given.items() if one is not None])


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
