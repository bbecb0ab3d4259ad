"""Memories written past the engine's verbs, as an old import would have left them."""

from __future__ import annotations

from typing import Any

from remembrancer.ids import new_id
from remembrancer.memory import Memory
from remembrancer.remember.embedding import embed_units, split_record
from remembrancer.store.contract import Insert, Patch
from remembrancer.types import Action, Fact, Link, Record, Relation


def imported(me: Memory, content: str, **values: Any) -> Fact:
    """A fact with whatever words and fields, and its vector."""
    now = me._call.now()
    usual = {
        "id": new_id("fact", now),
        "importance": 5.0,
        "category": "fact",
        "valid_from": now,
        "recorded_at": now,
        "confirmed_at": now,
    }
    fact = Fact(**{**usual, "content": content, **values})
    keep(me, fact)
    return fact


def keep(me: Memory, record: Record, *, vector: bool = True) -> None:
    call = me._call
    (vectors,) = embed_units(call, [split_record(record)]) if vector else [()]
    with call.store.open_writer(call.owner) as writer:
        writer.apply(call.new_event(Action.REMEMBERED, call.now()), [Insert(record, None, vectors)])


def changed(me: Memory, record: Record, **values: object) -> None:
    """As if another part of the product had changed it."""
    call = me._call
    with call.store.open_writer(call.owner) as writer:
        writer.apply(call.new_event(Action.UPDATED, call.now()), [Patch(record.id, values)])


def ends(links: tuple[Link, ...]) -> set[tuple[str, str, Relation]]:
    return {(one.source, one.target, one.relation) for one in links}
