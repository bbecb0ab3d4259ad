"""Schedules learning from sessions, and closes, renames, archives, deletes and restores them."""

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

UNARCHIVED_KEY = "unarchived"
"""Metadata key of a session for when a person took it out of the archive."""

UNTRASHED_STATUSES = tuple(one for one in Status if one is not Status.TRASHED)


def append_and_schedule(
    call: Call,
    turns: Sequence[TurnInput],
    session: str | None = None,
    *,
    scope: str | None = None,
    title: str | None = None,
) -> Appended:
    """Append turns and make the session due when the profile says so.

    Turns without a session are a complete conversation: it is closed and due at once.
    """
    is_complete = session is None
    now = call.now()

    def schedule(current: Session, added: Sequence[Turn]) -> datetime | None:
        learning = call.profile.learning
        unlearned = added[-1].position + 1 - current.watermark if added else 0
        if is_complete:
            is_due = learning.when != "never"
        else:
            is_due = _is_learning_due(learning, added, unlearned)
        return now if is_due and unlearned else None

    appended = append(
        call, turns, session, scope=scope, title=title, embed_now=False, schedule=schedule
    )
    if is_complete:
        return replace(appended, session=close(call, appended.session.id))
    return appended


def _is_learning_due(learning: LearningPolicy, added: Sequence[Turn], unlearned: int) -> bool:
    """True if the profile learns at this point, in the middle of a session."""
    match learning.when:
        case "after_reply":
            return bool(added) and added[-1].role == "assistant"
        case "every_turns":
            has_tool_turn = any(one.role == "tool" for one in added)
            return has_tool_turn or unlearned >= learning.every_turns
        case "on_close" | "never":
            return False


def close(call: Call, session_id: str) -> Session:
    """Mark a session idle and make its unlearned turns due now.

    Closing it again changes nothing; a new turn makes it active again.
    """
    with call.open_writer() as writer:
        session = mark_idle(call, writer, load_session(call, writer, session_id))
        if session.due_at is not None and session.due_at > call.now():
            # A retry is pending, but an explicit close does not wait for it.
            session = replace(session, due_at=call.now(), attempts=0)
            writer.save_session(session)
        return session


def mark_idle(call: Call, writer: Writer, session: Session) -> Session:
    """Mark a session idle and due if it has unlearned turns; an archived one stays archived."""
    has_unlearned = writer.next_position(session.id) > session.watermark
    learns = has_unlearned and call.services.profile_of(session.scope).learning.when != "never"
    is_archived = session.status is SessionStatus.ARCHIVED
    idle = replace(
        session,
        status=SessionStatus.ARCHIVED if is_archived else SessionStatus.IDLE,
        due_at=session.due_at or call.now() if learns else session.due_at,
        attempts=0 if learns and session.due_at is None else session.attempts,
    )
    if idle != session:
        writer.save_session(idle)
    return idle


def load_session(call: Call, reader: Reader, session_id: str) -> Session:
    """Load a session; raises NotFound if the caller cannot read its scope."""
    session = reader.get_session(validate_name(session_id, "session"))
    if session is None or not call.can_read_scope(session.scope, Kind.TURN):
        raise NotFound(f"There is no conversation {session_id!r}.")
    return session


def load_turns(reader: Reader, session_id: str) -> list[Turn]:
    """All turns of a session in order, whatever their status."""
    turns: list[Turn] = []
    while page := reader.list_turns(session_id, after=turns[-1].position if turns else -1):
        turns += page
    return turns


def rename(call: Call, session_id: str, title: str) -> Session:
    title = redact_text(validate_text(title, "The title", MAX_TITLE_CHARS))
    with call.open_writer() as writer:
        renamed = set_title(load_session(call, writer, session_id), title)
        writer.save_session(renamed)
    return renamed


def archive(call: Call, session_id: str, *, undo: bool = False) -> Session:
    """Archive a session, or take it out of the archive; its turns can still be recalled."""
    with call.open_writer() as writer:
        idle = mark_idle(call, writer, load_session(call, writer, session_id))
        status = SessionStatus.IDLE if undo else SessionStatus.ARCHIVED
        taken_out = {UNARCHIVED_KEY: call.now().isoformat()} if undo else {}
        archived = replace(idle, status=status, metadata={**idle.metadata, **taken_out})
        writer.save_session(archived)
    return archived


def was_unarchived_since(session: Session, moment: datetime) -> bool:
    """True if a person took the session out of the archive after that moment."""
    at = session.metadata.get(UNARCHIVED_KEY)
    return isinstance(at, str) and datetime.fromisoformat(at) > moment


def delete(call: Call, session_id: str, *, for_good: bool = False) -> Batch:
    """Move all turns of a session to the trash, or purge them if the caller or the profile says so.

    Memories that were learned from the session stay.
    """
    statuses = tuple(Status) if for_good else UNTRASHED_STATUSES
    turns = _build_turn_filter(call, session_id, statuses)
    return lifecycle.retire_all(call, turns, Status.TRASHED, for_good=for_good)


def restore(call: Call, session_id: str) -> Batch:
    """Restore the turns of a session from the trash."""
    return lifecycle.restore_all(call, _build_turn_filter(call, session_id, (Status.TRASHED,)))


def _build_turn_filter(call: Call, session_id: str, statuses: tuple[Status, ...]) -> Filter:
    with call.store.open_reader(call.owner) as reader:
        session = load_session(call, reader, session_id)
    return Filter(now=call.now(), kinds=(Kind.TURN,), session_id=session.id, statuses=statuses)
