"""Remembrancer as a user would use it: append the sessions, recall turns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import remembrancer
from bench.data import History, Session
from bench.systems import Found, Query, found
from remembrancer.config import Settings
from remembrancer.embed.local import LocalEmbedder

UNSURE = 0.5
"""Below this the store is taken to say that it holds nothing relevant."""


def start(place: str) -> Ours:
    return Ours(remembrancer.open(place, settings=Settings()))


class Ours:
    """A user for each history; `place` is a directory or the address of a PostgreSQL server."""

    def __init__(self, store: remembrancer.Remembrancer) -> None:
        self._store = store
        self._lines: dict[str, tuple[str, str]] = {}

    @cached_property
    def _embedder(self) -> LocalEmbedder:
        return LocalEmbedder()

    def embed(self, text: str) -> object:
        return self._embedder.embed([text])

    def add(self, history: History) -> None:
        me: Any = self._store.for_user(history.id)
        for session in history.sessions:
            written = me.append(messages(session), session=session.id)
            for turn, kept in zip(session.turns, written, strict=True):
                self._lines[kept.id] = (turn.id, turn.line)

    def search(self, query: Query, limit: int) -> Found:
        me: Any = self._store.for_user(query.history)
        recalled = me.recall(query.text, kinds=["turn"], limit=limit, now=query.date)
        ranked = [self._lines[one.memory.id] for one in recalled]
        return found(ranked, recalled.sure < UNSURE)

    def close(self) -> None:
        self._store.close()


def messages(session: Session) -> list[dict[str, object]]:
    when = {"said_at": session.date} if session.date else {}
    return [
        {"role": turn.role, "speaker": turn.speaker, "content": turn.text, **when}
        for turn in session.turns
    ]
