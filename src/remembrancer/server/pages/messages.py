"""The view model of chat messages: the changes they made and the memories behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.assistant.exchange import EVENTS_KEY
from remembrancer.memory import Memory
from remembrancer.server.pages.activity_feed import ActivityEntry, build_entry, list_memory_ids
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.page_context import PageContext
from remembrancer.sessions.turns import MEMORIES_KEY
from remembrancer.types import NOTE_TAG, Kind, Turn, Written

NOTE_TTL_DAYS = 36_500
MAX_NOTE_CHARS = 20_000
MAX_EVENTS_SEARCHED = 200
"""Older changes are only shown on the activity page."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One turn; `note` is the URL of the note that was saved from it."""

    turn: Turn
    text: str
    changes: tuple[ActivityEntry, ...] = ()
    used: tuple[Card, ...] = ()
    note: str = ""


def build_messages(context: PageContext, turns: Sequence[Turn]) -> list[MessageView]:
    """The messages of a conversation, in a constant number of queries."""
    me = context.me
    event_ids = {id for turn in turns for id in _read_ids(turn, EVENTS_KEY)}
    activity = me.activity(limit=MAX_EVENTS_SEARCHED).items if event_ids else ()
    events = {event.id: event for event in activity if event.id in event_ids}
    changed = {id: one for id, event in events.items() for one in list_memory_ids(event)[:1]}
    used = {id for turn in turns for id in _read_ids(turn, MEMORIES_KEY)}
    records = me.several([*used, *changed.values()])
    notes = _find_notes(me, turns)
    return [
        MessageView(
            turn,
            turn.content,
            tuple(
                build_entry(context, events[id], records.get(changed.get(id, "")))
                for id in _read_ids(turn, EVENTS_KEY)
                if id in events
            ),
            tuple(
                context.build_card(records[id])
                for id in _read_ids(turn, MEMORIES_KEY)
                if id in records
            ),
            f"{context.root}/memory/{notes[turn.id]}" if turn.id in notes else "",
        )
        for turn in turns
    ]


def save_note(me: Memory, turn: Turn) -> Written | None:
    """Save a reply as a note in the journal; None if it is saved already.

    A note is an episode, because a fact could supersede the memory that it repeats.
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
    """The ids of the notes saved from one conversation, by turn id."""
    if not turns:
        return {}
    session = turns[0].session_id
    notes = me.list(kinds=[Kind.EPISODE], tags=[NOTE_TAG], session=session, minimum_importance=0)
    return {str(note.metadata.get(NOTE_TAG)): note.id for note in notes.items}


def _read_ids(turn: Turn, key: str) -> list[str]:
    ids = turn.metadata.get(key)
    return [str(id) for id in ids] if isinstance(ids, list) else []
