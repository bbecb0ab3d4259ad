"""LangGraph's SQLite store with its vector index; runs in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.data import History, Session
from bench.systems import Found, Query, found
from bench.systems.loadable import need_extensions
from bench.systems.minilm import DIMENSIONS, MiniLM


def start(place: str) -> LangGraph:
    return LangGraph(Path(place))


class LangGraph:
    """A namespace for each history; only the turn's line is indexed, the rest is kept beside it."""

    def __init__(self, place: Path) -> None:
        self._open = ExitStack()
        self._store, self.embed = open_store(place, self._open)

    def add(self, history: History) -> None:
        for session in history.sessions:
            self._store.batch(_puts(history.id, session))

    def search(self, query: Query, limit: int) -> Found:
        items = self._store.search((query.history,), query=query.text, limit=limit)
        return found([(item.key, item.value["text"]) for item in items], not items)

    def close(self) -> None:
        self._open.close()


def open_store(place: Path, opened: ExitStack) -> tuple[Any, Callable[[str], object]]:
    """Its store in this directory, and the embedding that it uses."""
    need_extensions()
    from langgraph.store.sqlite import SqliteStore

    model = MiniLM()
    index: Any = {"dims": DIMENSIONS, "embed": model.embed_all, "text_fields": ["text"]}
    store = SqliteStore.from_conn_string(str(place / "store.db"), index=index)
    entered: Any = opened.enter_context(store)
    entered.setup()
    return entered, model.embed


def _puts(history: str, session: Session) -> list[Any]:
    from langgraph.store.base import PutOp

    date = session.date.isoformat() if session.date else None
    beside = {"session": session.id, "date": date}
    return [
        PutOp(
            namespace=(history,),
            key=turn.id,
            value={"text": turn.line, "speaker": turn.speaker, "role": turn.role, **beside},
        )
        for turn in session.turns
    ]
