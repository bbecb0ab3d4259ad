"""The verbs of `RemoteMemory` for conversations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from remembrancer.client.codec import (
    Value,
    build_as_of_params,
    parse_page,
    parse_value,
    parse_values,
)
from remembrancer.client.http import ServerClient
from remembrancer.clock import SystemClock
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.ids import new_id
from remembrancer.types import (
    AsOf,
    Batch,
    Page,
    Record,
    Rejection,
    Session,
    SessionStatus,
    Turn,
    View,
)

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput


class RemoteConversations:
    """Verbs for sessions and their turns."""

    def __init__(self, server: ServerClient) -> None:
        self._server = server

    def _read(self, type_: type[Value], /, *path: str, **params: Any) -> Value:
        return parse_value(type_, self._server.read(*path, **params))

    def _read_page(self, type_: type[Value], /, *path: str, **params: Any) -> Page[Value]:
        return parse_page(type_, self._server.read(*path, **params))

    def _write(self, type_: type[Value], method: str, /, *path: str, **body: Any) -> Value:
        return parse_value(type_, self._server.write(method, *path, **body))

    def append(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns to a conversation without learning; without a session, start a new one."""
        if scope is not None:
            raise InvalidInput("append() takes no scope on a server: connect with the agent.")
        if session is None:
            session = new_id("session", SystemClock().now())
        body = {"turns": list(turns), "title": title, "learn": False}
        response = self._server.write("POST", "sessions", session, "turns", **body)
        return parse_values(Turn, response["turns"])

    def learn(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns to a conversation and learn from it in the background.

        The profile says when: after each reply, after a number of turns, or when the conversation
        is closed. Turns without a session are a complete conversation.
        """
        body = {"turns": list(turns), "session": session, "scope": scope, "title": title}
        return parse_values(Turn, self._server.write("POST", "learn", **body)["turns"])

    def close(self, session: str) -> Session:
        """Close a conversation and learn from its new turns; idempotent."""
        return self._write(Session, "POST", "sessions", session, "close")

    def turns(
        self,
        session: str,
        *,
        latest: int | None = None,
        as_of: AsOf | datetime | None = None,
    ) -> tuple[Turn, ...]:
        """Return all turns of a conversation, or the `latest` ones, first to last."""
        params = {"latest": latest, **build_as_of_params(as_of)}
        try:
            turns = self._server.iter_entries("sessions", session, "turns", **params)
            return parse_values(Turn, turns)
        except NotFound:
            return ()

    def session_memories(
        self, session: str, *, as_of: AsOf | datetime | None = None
    ) -> tuple[Record, ...]:
        """Return what was saved in a session, learned from it or concluded from its episodes.

        Newest first; the turns of the session need not be stored. With `as_of`, what was in force
        then.
        """
        then = build_as_of_params(as_of)
        found = self._server.read("sessions", session, "memories", **then)
        return parse_values(Record, found["items"])

    def count_turns(self, session: str, *, as_of: AsOf | datetime | None = None) -> int:
        """Count the turns of a conversation, whatever their status."""
        then = build_as_of_params(as_of)
        return int(self._server.read("sessions", session, "count", **then)["turns"])

    def view(self, session: str, *, budget: int | None = None) -> View:
        """Return a conversation for a model; the beginning of a long one is summarised."""
        found = self._server.read("sessions", session, "view", budget=budget)
        return View(parse_values(Turn, found["turns"]), found["summary"], found["hidden"])

    def session(self, session: str) -> Session:
        """Return a conversation: its title, its summary, and how far it was learned from."""
        return self._read(Session, "sessions", session)

    def sessions(
        self,
        *,
        status: SessionStatus | str | None = None,
        trashed: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Session]:
        """Return a page of conversations, newest first; by default all but the trashed."""
        params = {"status": status, "trashed": trashed, "limit": limit, "cursor": cursor}
        return self._read_page(Session, "sessions", **params)

    def rename(self, session: str, title: str) -> Session:
        """Change the title of a conversation."""
        return self._write(Session, "PUT", "sessions", session, "title", title=title)

    def archive(self, session: str, *, back: bool = False) -> Session:
        """Archive a conversation and learn from its new turns, or restore it with `back`."""
        return self._write(Session, "POST", "sessions", session, "archive", back=back)

    def delete_session(self, session: str, *, for_good: bool = False) -> Batch:
        """Move a conversation to the trash; memories learned from it stay.

        `for_good` deletes it at once, also from the trash.
        """
        asked = {"for_good": True} if for_good else {}
        return self._write(Batch, "DELETE", "sessions", session, **asked)

    def restore_session(self, session: str) -> Batch:
        """Restore a conversation from the trash."""
        return self._write(Batch, "POST", "sessions", session, "restore")

    def rejected(self, *, limit: int = 50, cursor: str | None = None) -> Page[Rejection]:
        """Return a page of candidates that learning rejected, with the reasons."""
        return self._read_page(Rejection, "rejected", limit=limit, cursor=cursor)
