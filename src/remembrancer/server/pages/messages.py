"""What was said in a conversation, as it is shown: with what it changed and was made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.assistant.exchange import EVENTS_KEY, MEMORIES_KEY
from remembrancer.memory import Memory
from remembrancer.server.pages.activity_feed import ActivityEntry, build_entry
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.page_context import PageContext
from remembrancer.types import Kind, Turn, Written

NOTE_TAG = "note"
"""The tag of a reply that was kept, and the key in its metadata for the turn that it was."""

NOTE_TTL_DAYS = 36_500
MAX_NOTE_CHARS = 20_000
MAX_EVENTS_SEARCHED = 200
"""How far back changes are looked for: one that is older is in the activity."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One turn; `note` is the address of the note that was made of it."""

    turn: Turn
    text: str
    changes: tuple[ActivityEntry, ...] = ()
    used: tuple[Card, ...] = ()
    note: str = ""


def build_messages(frame: PageContext, me: Memory, turns: Sequence[Turn]) -> list[MessageView]:
    """The turns of a conversation, in a constant number of queries."""
    named = {id for one in turns for id in _read_ids(one, EVENTS_KEY)}
    happened = me.activity(limit=MAX_EVENTS_SEARCHED).items if named else ()
    events = {one.id: one for one in happened if one.id in named}
    touched = {id: one.changes[-1].memory_id for id, one in events.items() if one.changes}
    used = {id for one in turns for id in _read_ids(one, MEMORIES_KEY)}
    records = me.several([*used, *touched.values()])
    notes = _find_notes(me, turns)
    return [
        MessageView(
            one,
            one.content,
            tuple(
                build_entry(frame, events[id], records.get(touched.get(id, "")))
                for id in _read_ids(one, EVENTS_KEY)
                if id in events
            ),
            tuple(
                frame.build_card(records[id], me)
                for id in _read_ids(one, MEMORIES_KEY)
                if id in records
            ),
            f"{frame.root}/memory/{notes[one.id]}" if one.id in notes else "",
        )
        for one in turns
    ]


def save_note(me: Memory, turn: Turn) -> Written | None:
    """Keep a reply as a note in the journal; None if it is one already.

    A note is something that happened: as a fact it could take the place of what it repeats.
    """
    if turn.id in _find_notes(me, [turn]):
        return None
    return me.remember(
        turn.content[:MAX_NOTE_CHARS],
        kind=Kind.EPISODE,
        permanence="permanent",
        ttl_days=NOTE_TTL_DAYS,
        origin=turn.origin,
        scope=turn.scope,
        session_id=turn.session_id or "",
        tags=[NOTE_TAG],
        metadata={NOTE_TAG: turn.id},
    )


def _find_notes(me: Memory, turns: Sequence[Turn]) -> dict[str, str]:
    """The notes that were made of turns of one conversation, by turn."""
    if not turns:
        return {}
    session = turns[0].session_id
    kept = me.list(kinds=[Kind.EPISODE], tags=[NOTE_TAG], session=session, minimum_importance=0)
    return {str(one.metadata.get(NOTE_TAG)): one.id for one in kept.items}


def _read_ids(turn: Turn, key: str) -> list[str]:
    found = turn.metadata.get(key)
    return [str(one) for one in found] if isinstance(found, list) else []
