"""The life of a conversation: it is learned from, closed, renamed, archived, thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.errors import NotFound
from remembrancer.guard.redaction import redact_text, validate_text
from remembrancer.profiles import LearningPolicy
from remembrancer.remember import lifecycle
from remembrancer.sessions.turns import MAX_TITLE_CHARS, Appended, TurnInput, append, set_title
from remembrancer.store.contract import Filter, Reader, Writer
from remembrancer.types import Batch, Kind, Session, SessionStatus, Status, Turn, validate_name

UNTRASHED_STATUSES = tuple(one for one in Status if one is not Status.TRASHED)


def append_and_schedule(
    call: Call,
    turns: Sequence[TurnInput],
    session: str | None = None,
    *,
    scope: str | None = None,
    title: str | None = None,
) -> Appended:
    """Add turns to be learned from when the profile says so; without a name, all is said at once.

    A conversation that was handed over as a whole is over, and learned from now.
    """
    whole = session is None
    now = call.now()

    def due(current: Session, added: Sequence[Turn]) -> datetime | None:
        learning = call.profile.learning
        waiting = added[-1].position + 1 - current.watermark if added else 0
        timely = learning.when != "never" if whole else _is_learning_due(learning, added, waiting)
        return now if timely and waiting else None

    heard = append(call, turns, session, scope=scope, title=title, due=due)
    return replace(heard, session=close(call, heard.session.id)) if whole else heard


def _is_learning_due(learning: LearningPolicy, added: Sequence[Turn], waiting: int) -> bool:
    """Whether a profile wants to learn now, in the middle of a conversation."""
    match learning.when:
        case "after_reply":
            return bool(added) and added[-1].role == "assistant"
        case "every_turns":
            acted = any(one.role == "tool" for one in added)
            return acted or waiting >= learning.every_turns
        case "on_close" | "never":
            return False


def close(call: Call, session_id: str) -> Session:
    """End a conversation for now; what was said since it was last learned from is due.

    Closing it again changes nothing, and saying something opens it again.
    """
    with call.open_writer() as writer:
        session = mark_idle(call, writer, load_session(call, writer, session_id))
        if session.due_at is not None and session.due_at > call.now():
            # Whoever asks does not want to wait until it is tried again by itself.
            session = replace(session, due_at=call.now(), attempts=0)
            writer.save_session(session)
        return session


def mark_idle(call: Call, writer: Writer, session: Session) -> Session:
    """Let a conversation rest, in the caller's transaction."""
    waiting = writer.next_position(session.id) > session.watermark
    learns = waiting and call.services.profile_of(session.scope).learning.when != "never"
    put_away = session.status is SessionStatus.ARCHIVED
    resting = replace(
        session,
        status=SessionStatus.ARCHIVED if put_away else SessionStatus.IDLE,
        due_at=session.due_at or call.now() if learns else session.due_at,
        attempts=0 if learns and session.due_at is None else session.attempts,
    )
    if resting != session:
        writer.save_session(resting)
    return resting


def load_session(call: Call, reader: Reader, session_id: str) -> Session:
    """A conversation of the caller's own, or an error."""
    session = reader.get_session(validate_name(session_id, "session"))
    if session is None or not call.can_read_scope(session.scope, Kind.TURN):
        raise NotFound(f"There is no conversation {session_id!r}.")
    return session


def load_turns(reader: Reader, session_id: str) -> list[Turn]:
    """Every turn of a conversation, in order, whatever became of it."""
    turns: list[Turn] = []
    while page := reader.list_turns(session_id, after=turns[-1].position if turns else -1):
        turns += page
    return turns


def rename(call: Call, session_id: str, title: str) -> Session:
    """Give a conversation another title."""
    title = redact_text(validate_text(title, "The title", MAX_TITLE_CHARS))
    with call.open_writer() as writer:
        renamed = set_title(load_session(call, writer, session_id), title)
        writer.save_session(renamed)
    return renamed


def archive(call: Call, session_id: str, *, undo: bool = False) -> Session:
    """Put a conversation away, or take it back; it is still recalled."""
    with call.open_writer() as writer:
        resting = mark_idle(call, writer, load_session(call, writer, session_id))
        status = SessionStatus.IDLE if undo else SessionStatus.ARCHIVED
        resting = replace(resting, status=status)
        writer.save_session(resting)
    return resting


def delete(call: Call, session_id: str) -> Batch:
    """Put all turns of a conversation into the trash, or destroy them where the profile says so.

    Memories that were learned from it stay: they have lives of their own.
    """
    return lifecycle.retire_all(
        call, _build_turn_filter(call, session_id, UNTRASHED_STATUSES), Status.TRASHED
    )


def restore(call: Call, session_id: str) -> Batch:
    """Bring a conversation back from the trash."""
    return lifecycle.restore_all(call, _build_turn_filter(call, session_id, (Status.TRASHED,)))


def _build_turn_filter(call: Call, session_id: str, statuses: tuple[Status, ...]) -> Filter:
    with call.store.open_reader(call.owner) as reader:
        session = load_session(call, reader, session_id)
    return Filter(now=call.now(), kinds=(Kind.TURN,), session_id=session.id, statuses=statuses)
