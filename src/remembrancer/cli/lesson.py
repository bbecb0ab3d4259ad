"""What a conversation that was just learned from has taught, as the store tells it afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Event, Record, Rejection, Session, Turn

LEARNED, FAILED, GIVEN_UP, WAITING, NEVER = "learned", "failed", "given up", "waiting", "never"
UNFINISHED_STATES = (FAILED, GIVEN_UP, WAITING)


@dataclass(frozen=True, slots=True)
class LearnResult:
    """What became of one conversation: learned, failed, given up, waiting, or never learned from.

    `replaced` are the memories that what was learned took the place of, by their ids.
    """

    session: Session
    state: str
    turns: int
    learned: tuple[Record, ...]
    replaced: Mapping[str, Record]
    rejected: tuple[Rejection, ...]


def list_events_since(me: Memory, first: Turn) -> list[Event]:
    """What has happened since a turn was stored, from the latest to the earliest."""
    found: list[Event] = []
    page = me.activity()
    while True:
        for event in page.items:
            if any(change.memory_id == first.id for change in event.changes):
                return found
            found.append(event)
        if page.cursor is None:
            return found
        page = me.activity(cursor=page.cursor)


def find_confirmed(events: Sequence[Event]) -> list[str]:
    """The memories that a conversation bore out."""
    borne_out = (one for one in events if one.action == "confirmed" and one.surface == "jobs")
    return list(dict.fromkeys(change.memory_id for one in borne_out for change in one.changes))


def build_result(me: Memory, turns: Sequence[Turn], events: Sequence[Event]) -> LearnResult:
    """What became of the conversation that some turns are the end of."""
    session = me.session(turns[0].session_id or "")
    # A link is a change too, of the memory that it starts from.
    new = dict.fromkeys(
        change.memory_id
        for event in reversed(events)
        for change in event.changes
        if change.before is None and "link" not in (change.after or {})
    )
    found = [me.get(one) for one in new if not one.startswith("turn_")]
    own = {one.id: one for one in found if one.session_id == session.id}
    passed = {one.supersedes for one in own.values()}
    learned = [one for one in own.values() if one.id not in passed]
    replaced = {one.id: _find_replaced(me, one, own) for one in learned}
    return LearnResult(
        session=session,
        state=_state(session, turns[-1]),
        turns=len(turns),
        learned=tuple(learned),
        replaced={name: old for name, old in replaced.items() if old is not None},
        rejected=tuple(_list_rejections(me, session, turns[0])),
    )


def _find_replaced(me: Memory, record: Record, own: Mapping[str, Record]) -> Record | None:
    """What was remembered before in a memory's place; not what the conversation took back again."""
    while record.supersedes is not None and record.supersedes in own:
        record = own[record.supersedes]
    return me.get(record.supersedes) if record.supersedes is not None else None


def _state(session: Session, last: Turn) -> str:
    if session.watermark > last.position:
        return LEARNED
    if session.failure is not None:
        return FAILED if session.due_at is not None else GIVEN_UP
    return WAITING if session.due_at is not None else NEVER


def _list_rejections(me: Memory, session: Session, first: Turn) -> list[Rejection]:
    """What was rejected in a conversation since a turn was stored, the earliest first."""
    found: list[Rejection] = []
    page = me.rejected()
    while True:
        recent = [one for one in page.items if one.at >= first.recorded_at]
        found += [one for one in recent if one.session_id == session.id]
        if page.cursor is None or len(recent) < len(page.items):
            return found[::-1]
        page = me.rejected(cursor=page.cursor)
