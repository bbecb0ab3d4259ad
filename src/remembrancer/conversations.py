"""The session verbs of `Memory`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.errors import NotAllowed
from remembrancer.ids import new_id
from remembrancer.paging import decode_cursor, encode_cursor, read_visible_page, validate_limit
from remembrancer.recall.as_of import select_stored, select_turns
from remembrancer.remember.embedding import embed_missing
from remembrancer.sessions import lifecycle
from remembrancer.sessions.model_title import title_session
from remembrancer.sessions.session_memories import load_session_memories
from remembrancer.sessions.turns import TurnInput, append
from remembrancer.sessions.view import build_view
from remembrancer.store.contract import Filter, Reader, SessionFilter
from remembrancer.types import (
    AsOf,
    Batch,
    Kind,
    Page,
    Record,
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


REMOTE_SURFACES = ("rest", "mcp", "web")
MAX_UNITS_OF_REQUEST = 256
"""How many vectors a request may compute; each takes about a millisecond."""


class Conversations:
    """Stores the turns of sessions and learns from them."""

    def __init__(self, call: Call, learner: Learner) -> None:
        self._call = call
        self._learner = learner

    def new_session(self) -> str:
        """A new session id; the session begins with its first turn."""
        return new_id("session", self._call.now())

    def append(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Append turns to a session so that they can be recalled; without one, start a session.

        Over REST and MCP, the last of very many turns get their vectors in the background.
        """
        is_remote = self._call.principal.surface in REMOTE_SURFACES
        max_units = MAX_UNITS_OF_REQUEST if is_remote else None
        appended = append(self._call, turns, session, scope=scope, title=title, max_units=max_units)
        if appended.left:
            self._learner.run_soon(self._embed_missing)
        return appended.turns

    def _embed_missing(self) -> None:
        embed_missing(self._call)

    def learn(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Append turns to a session and learn from it in the background when it is due.

        The profile decides when: after each reply, after a number of turns, or when the session is
        closed. Turns without a session are a complete conversation, which is closed at once.
        """
        appended = lifecycle.append_and_schedule(
            self._call, turns, session, scope=scope, title=title
        )
        if appended.turns:
            self._learner.wake(self._call.owner)
        return appended.turns

    def suggest_title(self, session: str) -> None:
        """Let the fast model, if there is one, name a new session; returns at once."""
        if self._call.models.fast is not None:
            self._learner.run_soon(partial(title_session, self._call, session))

    def learn_now(self, session: str) -> tuple[str, ...] | None:
        """Learn from the new turns of a session before returning; returns the ids of what is kept.

        None if it failed; the turns are then learned from when the session is due.
        """
        scope = self.session(session).scope
        batches = self._learner.learn_now(self._call.owner, session, scope)
        return None if batches is None else tuple(id for one in batches for id in one.kept)

    def close(self, session: str) -> Session:
        """Close a session and learn from its new turns; closing it again changes nothing."""
        closed = lifecycle.close(self._call, session)
        if closed.due_at is not None:
            self._learner.wake(self._call.owner)
        return closed

    def turns(
        self,
        session: str,
        *,
        latest: int | None = None,
        as_of: AsOf | datetime | None = None,
    ) -> tuple[Turn, ...]:
        """All turns of a session, or the `latest` ones, in order."""
        session, then = validate_name(session, "session"), self._call.read_as_of(as_of)
        limit = None if latest is None else validate_limit(latest)
        with self._open_reader() as reader:
            if limit is None or then is not None:
                found = lifecycle.load_turns(reader, session)
            else:
                found = reader.list_latest_turns(session, limit)
            seen = [turn for turn in found if self._call.can_see(turn)]
            if then is not None:
                seen = select_turns(reader, seen, then)
        return tuple(seen if limit is None else seen[-limit:])

    def session_memories(
        self, session: str, *, as_of: AsOf | datetime | None = None
    ) -> tuple[Record, ...]:
        """What was saved in a session, learned from it or concluded from its episodes.

        Newest first; the turns of the session need not be stored. With `as_of`, what was in force
        then.
        """
        return load_session_memories(self._call, session, self._call.read_as_of(as_of))

    def count_turns(self, session: str, *, as_of: AsOf | datetime | None = None) -> int:
        """The number of turns of a session, whatever their status."""
        then = self._call.read_as_of(as_of)
        if then is not None:
            with self._open_reader() as reader:
                found = lifecycle.load_turns(reader, validate_name(session, "session"))
            return len(select_stored(filter(self._call.can_see, found), then))
        turns = Filter(
            now=self._call.now(),
            kinds=(Kind.TURN,),
            visible=self._call.resolve_visibility(),
            session_id=validate_name(session, "session"),
            statuses=tuple(Status),
        )
        with self._open_reader() as reader:
            return reader.count(turns)

    def view(self, session: str, *, budget: int | None = None) -> View:
        """A session for a model: the latest turns, and a summary of the earlier ones if long."""
        return build_view(self._call, session, budget)

    def session(self, session: str) -> Session:
        """A session: its title, its summary, and its learning state."""
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
        """List sessions by page, newest first; without `trashed`, only those not in the trash."""
        limit = validate_limit(limit)
        statuses = () if status is None else (parse_enum(SessionStatus, status, "status"),)
        matching = SessionFilter(
            visible=self._call.resolve_visibility(), statuses=statuses, trashed=trashed
        )
        with self._open_reader() as reader:
            found = reader.list_sessions(matching, limit + 1, decode_cursor(cursor))
        last = found[limit - 1] if len(found) > limit else None
        return Page(tuple(found[:limit]), encode_cursor(last.active_at, last.id) if last else None)

    def rename(self, session: str, title: str) -> Session:
        """Set the title of a session."""
        return lifecycle.rename(self._call, session, title)

    def archive(self, session: str, *, back: bool = False) -> Session:
        """Archive a session, or with `back` unarchive it; its new turns are learned from."""
        archived = lifecycle.archive(self._call, session, undo=back)
        if archived.due_at is not None:
            self._learner.wake(self._call.owner)
        return archived

    def delete_session(self, session: str, *, for_good: bool = False) -> Batch:
        """Move a session to the trash; memories that were learned from it stay.

        `for_good` purges it at once, also from the trash; that cannot be undone. Not for an agent's
        handle.
        """
        self._refuse_agent_for_good(for_good)
        return lifecycle.delete(self._call, session, for_good=for_good)

    def restore_session(self, session: str) -> Batch:
        """Restore a session from the trash."""
        return lifecycle.restore(self._call, session)

    def rejected(self, *, limit: int = 50, cursor: str | None = None) -> Page[Rejection]:
        """List what was found in sessions and rejected, with reasons; kept as long as the trash."""
        limit = validate_limit(limit)
        with self._open_reader() as reader:
            return read_visible_page(
                lambda after: reader.list_rejections(limit + 1, after),
                lambda found: [one for one in found if self._is_own(reader, one)],
                limit,
                cursor,
            )

    def _refuse_agent_for_good(self, for_good: bool) -> None:
        """Raise NotAllowed if an agent, or a model in a chat, asks for what cannot be undone."""
        if for_good and (self._call.principal.agent is not None or self._call.citation is not None):
            raise NotAllowed("An agent cannot delete for good. Sign in as the user.")

    def _is_own(self, reader: Reader, rejection: Rejection) -> bool:
        session = reader.get_session(rejection.session_id)
        return session is not None and self._call.can_read_scope(session.scope)

    @contextlib.contextmanager
    def _open_reader(self) -> Iterator[Reader]:
        with self._call.store.open_reader(self._call.owner) as reader:
            yield reader
