"""LangGraph's SQLite store with its vector index; runs in an environment of its own."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from pathlib import Path

from bench.systems.langgraph import open_store

NAMESPACE = ("ada",)


def start(place: str) -> LangGraphNotes:
    return LangGraphNotes(Path(place))


class LangGraphNotes:
    """A random key for each note, as its documentation shows it."""

    def __init__(self, place: Path) -> None:
        self._open = ExitStack()
        self._store, _ = open_store(place, self._open)

    def write(self, text: str) -> None:
        self._store.put(NAMESPACE, str(uuid.uuid4()), {"text": text})

    def write_untrusted(self, text: str) -> None:
        self.write(text)

    def texts(self) -> list[str]:
        return [item.value["text"] for item in self._store.search(NAMESPACE, limit=100_000)]

    def search(self, query: str) -> str:
        found = self._store.search(NAMESPACE, query=query, limit=20)
        return "\n".join(item.value["text"] for item in found)

    def delete_all(self) -> None:
        for item in self._store.search(NAMESPACE, limit=100_000):
            self._store.delete(NAMESPACE, item.key)

    def purge(self) -> None:
        """It has no such call."""

    def close(self) -> None:
        self._open.close()
