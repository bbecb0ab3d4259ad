"""Turns entries of a program's store into items, with their time to live."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from remembrancer.call import Call
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import redact_metadata, refuse_secret_name
from remembrancer.remember.items import (
    ITEM_SUBJECT,
    build_items_scope,
    build_metadata,
    choose_importance,
    choose_ttl_days,
    hash_key,
    read_details,
    render_described,
)
from remembrancer.transfer.formats.items import MemoryItem, StoreEntry
from remembrancer.types import Permanence

DAY = timedelta(days=1)


def convert_entry(call: Call, memory: MemoryItem, of: str | None) -> MemoryItem:
    """Return the memory as an item under its key, in a profile that has namespaces.

    `of` names the owner that was chosen; the namespace of an item is what follows it. In other
    profiles the memory is a fact. Raises InvalidInput for what has expired.
    """
    if memory.entry is None:
        return memory
    ttl = _count_days_left(call, memory.entry)
    details: Any = {**memory.details, **({"ttl_days": ttl} if ttl is not None else {})}
    if call.profile.scopes.visibility != "nested":
        return replace(memory, details=details)
    value: Any = redact_metadata({"value": dict(memory.entry.value)}, "The item")["value"]
    described = read_details(call.profile, value)
    refuse_secret_name(memory.entry.key)
    details |= {
        "subject": ITEM_SUBJECT,
        "predicate": hash_key(memory.entry.key),
        "scope": build_items_scope(_choose_path(call, memory.entry, of)),
        "metadata": build_metadata(memory.entry.key, value),
        "permanence": Permanence.PERMANENT,
        "category": described.kind or call.profile.default_category,
        "importance": choose_importance(call.profile, described),
        "ttl_days": choose_ttl_days(call.profile, described) if ttl is None else ttl,
    }
    return replace(memory, content=render_described(value, described), details=details)


def _count_days_left(call: Call, entry: StoreEntry) -> float | None:
    """The days until an entry expires, None if it does not."""
    if entry.expires_at is None:
        return None
    if entry.expires_at <= call.now():
        raise InvalidInput("The item has expired.")
    return (entry.expires_at - call.now()) / DAY


def _choose_path(call: Call, entry: StoreEntry, of: str | None) -> list[str]:
    """The labels of the item's scope: those of an agent, then those below the chosen owner."""
    owner = tuple((of or "").split("/"))
    is_below = entry.namespace[: len(owner)] == owner
    own = entry.namespace[len(owner) :] if is_below else entry.namespace
    agent = call.principal.agent
    return [*([agent] if agent else []), *own]
