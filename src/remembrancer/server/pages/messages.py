"""What was said in a conversation, as it is shown: with what it changed and was made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.assistant.record import EVENTS, MEMORIES
from remembrancer.memory import Memory
from remembrancer.server.pages.activity_feed import Happening, told
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.page_context import Frame
from remembrancer.types import Kind, Turn, Written

NOTE = "note"
"""The tag of a reply that was kept, and the key in its metadata for the turn that it was."""

FOR_GOOD_DAYS = 36_500
LONGEST_NOTE = 20_000
LATEST = 200
"""How far back changes are looked for: one that is older is in the activity."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn; `note` is the address of the note that was made of it."""

    turn: Turn
    text: str
    changes: tuple[Happening, ...] = ()
    used: tuple[Card, ...] = ()
    note: str = ""


def messages(frame: Frame, me: Memory, turns: Sequence[Turn]) -> list[Message]:
    """The turns of a conversation, in a constant number of queries."""
    named = {id for one in turns for id in _ids(one, EVENTS)}
    happened = me.activity(limit=LATEST).items if named else ()
    events = {one.id: one for one in happened if one.id in named}
    touched = {id: one.changes[-1].memory_id for id, one in events.items() if one.changes}
    used = {id for one in turns for id in _ids(one, MEMORIES)}
    records = me.several([*used, *touched.values()])
    notes = _notes(me, turns)
    return [
        Message(
            one,
            one.content,
            tuple(
                told(frame, events[id], records.get(touched.get(id, "")))
                for id in _ids(one, EVENTS)
                if id in events
            ),
            tuple(frame.card(records[id], me) for id in _ids(one, MEMORIES) if id in records),
            f"{frame.root}/memory/{notes[one.id]}" if one.id in notes else "",
        )
        for one in turns
    ]


def keep(me: Memory, turn: Turn) -> Written | None:
    """Keep a reply as a note in the journal; None if it is one already.

    A note is something that happened: as a fact it could take the place of what it repeats.
    """
    if turn.id in _notes(me, [turn]):
        return None
    return me.remember(
        turn.content[:LONGEST_NOTE],
        kind=Kind.EPISODE,
        permanence="permanent",
        ttl_days=FOR_GOOD_DAYS,
        origin=turn.origin,
        scope=turn.scope,
        session_id=turn.session_id or "",
        tags=[NOTE],
        metadata={NOTE: turn.id},
    )


def _notes(me: Memory, turns: Sequence[Turn]) -> dict[str, str]:
    """The notes that were made of turns of one conversation, by turn."""
    if not turns:
        return {}
    session = turns[0].session_id
    kept = me.list(kinds=[Kind.EPISODE], tags=[NOTE], session=session, minimum_importance=0)
    return {str(one.metadata.get(NOTE)): one.id for one in kept.items}


def _ids(turn: Turn, key: str) -> list[str]:
    found = turn.metadata.get(key)
    return [str(one) for one in found] if isinstance(found, list) else []
