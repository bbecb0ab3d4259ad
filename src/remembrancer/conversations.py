"""The verbs for conversations, which `Memory` has beside its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.ids import new_id
from remembrancer.paging import decode_cursor, encode_cursor, read_visible_page, validate_limit
from remembrancer.sessions import lifecycle
from remembrancer.sessions.turns import TurnInput, append
from remembrancer.store.contract import Filter, Reader, SessionFilter
from remembrancer.types import (
    Batch,
    Kind,
    Page,
    Rejection,
    Session,
    SessionStatus,
    Status,
    Turn,
    View,
    parse_enum,
    validate_name,
)

if TYPE_CHECKING:
    from remembrancer.learn.worker import Learner


class Conversations:
    """What was said: turns in sessions, which are kept, learned from, and can be thrown away."""

    def __init__(self, call: Call, learner: Learner) -> None:
        self._call = call
        self._learner = learner

    def new_session(self) -> str:
        """A name for a conversation, which begins when something is said in it."""
        return new_id("session", self._call.now())

    def append(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns to a conversation, to be recalled later; without a name it is a new one."""
        return append(self._call, turns, session, scope=scope, title=title).turns

    def learn(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns to a conversation and learn from it in the background, if it is time to.

        When it is time is the profile's choice: after each reply, every so many turns, or when the
        conversation is closed. Turns without a session are a whole conversation, which is over.
        """
        heard = lifecycle.append_and_schedule(self._call, turns, session, scope=scope, title=title)
        if heard.turns:
            self._learner.wake(self._call.owner)
        return heard.turns

    def close(self, session: str) -> Session:
        """End a conversation for now and learn from what is new in it; twice is as good as once."""
        closed = lifecycle.close(self._call, session)
        if closed.due_at is not None:
            self._learner.wake(self._call.owner)
        return closed

    def turns(self, session: str) -> tuple[Turn, ...]:
        """A conversation as it was, from its first turn to its last."""
        with self._open_reader() as reader:
            found = lifecycle.load_turns(reader, validate_name(session, "session"))
        return tuple(turn for turn in found if self._call.can_see(turn))

    def count_turns(self, session: str) -> int:
        """How many turns a conversation has, whatever became of them."""
        wanted = Filter(
            now=self._call.now(),
            kinds=(Kind.TURN,),
            visible=self._call.resolve_visibility(),
            session_id=validate_name(session, "session"),
            statuses=tuple(Status),
        )
        with self._open_reader() as reader:
            return reader.count(wanted)

    def view(self, session: str, *, budget: int | None = None) -> View:
        """A conversation as a model should see it: the beginning of a long one is summarised."""
        from remembrancer.sessions.view import build_view

        return build_view(self._call, session, budget)

    def session(self, session: str) -> Session:
        """One conversation: its title, its summary, and how far it has been learned from."""
        with self._open_reader() as reader:
            return lifecycle.load_session(self._call, reader, session)

    def sessions(
        self,
        *,
        status: SessionStatus | str | None = None,
        trashed: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Session]:
        """Conversations, the latest first, a page at a time; by default all but the trashed."""
        limit = validate_limit(limit)
        statuses = () if status is None else (parse_enum(SessionStatus, status, "status"),)
        wanted = SessionFilter(
            visible=self._call.resolve_visibility(), statuses=statuses, trashed=trashed
        )
        with self._open_reader() as reader:
            found = reader.list_sessions(wanted, limit + 1, decode_cursor(cursor))
        last = found[limit - 1] if len(found) > limit else None
        return Page(tuple(found[:limit]), encode_cursor(last.active_at, last.id) if last else None)

    def rename(self, session: str, title: str) -> Session:
        """Give a conversation another title."""
        return lifecycle.rename(self._call, session, title)

    def archive(self, session: str, *, back: bool = False) -> Session:
        """Put a conversation away, or take it back; what is new in it is learned from."""
        archived = lifecycle.archive(self._call, session, undo=back)
        if archived.due_at is not None:
            self._learner.wake(self._call.owner)
        return archived

    def delete_session(self, session: str) -> Batch:
        """Put a conversation into the trash; what was learned from it stays."""
        return lifecycle.delete(self._call, session)

    def restore_session(self, session: str) -> Batch:
        """Bring a conversation back from the trash."""
        return lifecycle.restore(self._call, session)

    def rejected(self, *, limit: int = 50, cursor: str | None = None) -> Page[Rejection]:
        """What conversations seemed to tell and was not remembered, and why; kept for some days."""
        limit = validate_limit(limit)
        with self._open_reader() as reader:
            return read_visible_page(
                lambda after: reader.list_rejections(limit + 1, after),
                lambda found: [one for one in found if self._is_own(reader, one)],
                limit,
                cursor,
            )

    def _is_own(self, reader: Reader, rejection: Rejection) -> bool:
        session = reader.get_session(rejection.session_id)
        return session is not None and self._call.can_read_scope(session.scope)

    @contextlib.contextmanager
    def _open_reader(self) -> Iterator[Reader]:
        with self._call.store.open_reader(self._call.owner) as reader:
            yield reader
