"""The verbs for conversations, which `RemoteMemory` has beside its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from remembrancer.client.codec import parse_page, parse_value, parse_values
from remembrancer.client.http import ServerClient
from remembrancer.clock import SystemClock
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.ids import new_id
from remembrancer.types import Batch, Page, Rejection, Session, SessionStatus, Turn, View

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput


class RemoteConversations:
    """What was said: turns in sessions, which are kept, learned from, and can be thrown away."""

    def __init__(self, server: ServerClient) -> None:
        self._server = server

    def append(
        self,
        turns: Sequence[TurnInput],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns to a conversation, to be recalled later; without a name it is a new one."""
        if scope is not None:
            raise InvalidInput("A server takes no scope with append: connect with the agent.")
        if session is None:
            session = new_id("session", SystemClock().now())
        said = {"turns": list(turns), "title": title, "learn": False}
        told = self._server.write("POST", "sessions", session, "turns", **said)
        return parse_values(Turn, told["turns"])

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
        said = {"turns": list(turns), "session": session, "scope": scope, "title": title}
        return parse_values(Turn, self._server.write("POST", "learn", **said)["turns"])

    def close(self, session: str) -> Session:
        """End a conversation for now and learn from what is new in it; twice is as good as once."""
        return parse_value(Session, self._server.write("POST", "sessions", session, "close"))

    def turns(self, session: str) -> tuple[Turn, ...]:
        """A conversation as it was, from its first turn to its last."""
        try:
            return parse_values(Turn, self._server.iter_entries("sessions", session, "turns"))
        except NotFound:
            return ()

    def count_turns(self, session: str) -> int:
        """How many turns a conversation has, whatever became of them."""
        return int(self._server.read("sessions", session, "count")["turns"])

    def view(self, session: str, *, budget: int | None = None) -> View:
        """A conversation as a model should see it: the beginning of a long one is summarised."""

        told = self._server.read("sessions", session, "view", budget=budget)
        return View(parse_values(Turn, told["turns"]), told["summary"], told["hidden"])

    def session(self, session: str) -> Session:
        """One conversation: its title, its summary, and how far it has been learned from."""
        return parse_value(Session, self._server.read("sessions", session))

    def sessions(
        self,
        *,
        status: SessionStatus | str | None = None,
        trashed: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Session]:
        """Conversations, the latest first, a page at a time; by default all but the trashed."""
        asked = {"status": status, "trashed": trashed, "limit": limit, "cursor": cursor}
        return parse_page(Session, self._server.read("sessions", **asked))

    def rename(self, session: str, title: str) -> Session:
        """Give a conversation another title."""
        return parse_value(
            Session, self._server.write("PUT", "sessions", session, "title", title=title)
        )

    def archive(self, session: str, *, back: bool = False) -> Session:
        """Put a conversation away, or take it back; what is new in it is learned from."""
        return parse_value(
            Session, self._server.write("POST", "sessions", session, "archive", back=back)
        )

    def delete_session(self, session: str) -> Batch:
        """Put a conversation into the trash; what was learned from it stays."""
        return parse_value(Batch, self._server.write("DELETE", "sessions", session))

    def restore_session(self, session: str) -> Batch:
        """Bring a conversation back from the trash."""
        return parse_value(Batch, self._server.write("POST", "sessions", session, "restore"))

    def rejected(self, *, limit: int = 50, cursor: str | None = None) -> Page[Rejection]:
        """What conversations seemed to tell and was not remembered, and why; kept for some days."""
        return parse_page(Rejection, self._server.read("rejected", limit=limit, cursor=cursor))
