"""The slot of a fact: one attribute of one subject in one scope, however they are spelled.

The store lets one active fact have each key; these functions let one have each slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from remembrancer.errors import Conflict
from remembrancer.remember.attributes import (
    can_have_several,
    fold_attribute,
    fold_name,
    name_slot,
)
from remembrancer.store.contract import Insert, Patch, Reader, Write
from remembrancer.types import Fact, Status, is_program_key

FactKey = tuple[str, str, str]
"""Scope, subject and predicate."""


Slot = tuple[str, ...]


def get_slot(key: FactKey) -> Slot:
    """Equal for all keys of which one can be in force; a program's key is spelled exactly."""
    scope, subject, predicate = key
    return key if is_program_key(predicate) else (scope, *_name_slot(subject, predicate))


def is_in_slot(fact: Fact, slot: Slot) -> bool:
    return fact.key is not None and get_slot(fact.key) == slot


def find_holder(reader: Reader, key: FactKey) -> Fact | None:
    """The active fact in the slot of a key, or else the last one that expired under the key."""
    return _find_holder(reader, key, {})


def refuse_second_holder(reader: Reader, writes: Sequence[Write]) -> None:
    """Raise Conflict if the writes would put a second active fact into a slot."""
    patches = {one.id: one.values for one in writes if isinstance(one, Patch)}
    slots_by_scope: dict[str, Mapping[Slot, FactKey]] = {}
    for fact in _load_activated(reader, writes):
        holder = _find_holder(reader, fact.key, slots_by_scope) if fact.key else None
        if holder is None or holder.id == fact.id or holder.status is not Status.ACTIVE:
            continue
        if patches.get(holder.id, {}).get("status", Status.ACTIVE) == Status.ACTIVE:
            raise Conflict(
                f"“{holder.content}” ({holder.id}) is the value of {fact.subject} / "
                f"{fact.predicate} now. Update or forget it first."
            )


def _find_holder(
    reader: Reader, key: FactKey, slots_by_scope: dict[str, Mapping[Slot, FactKey]]
) -> Fact | None:
    exact = reader.active_fact(*key)
    is_active = exact is not None and exact.status is Status.ACTIVE
    if is_active or is_program_key(key[2]):
        return exact
    scope = key[0]
    if scope not in slots_by_scope:
        slots_by_scope[scope] = {get_slot(one): one for one in reader.list_fact_keys(scope)}
    other = slots_by_scope[scope].get(get_slot(key))
    return exact if other is None else reader.active_fact(*other)


def _load_activated(reader: Reader, writes: Sequence[Write]) -> list[Fact]:
    """The facts that the writes make active."""
    inserted = [one.record for one in writes if isinstance(one, Insert)]
    patched = reader.load(
        one.id
        for one in writes
        if isinstance(one, Patch) and one.values.get("status") == Status.ACTIVE
    )
    active = (one for one in inserted if one.status is Status.ACTIVE)
    return [one for one in (*active, *patched.values()) if isinstance(one, Fact)]


@lru_cache(maxsize=65_536)
def _name_slot(subject: str, predicate: str) -> Slot:
    """Equal for all spellings of a key; the synonyms of an attribute share its only value."""
    if can_have_several(predicate):
        return "several", fold_name(subject), fold_attribute(predicate)
    return name_slot(subject, predicate)
