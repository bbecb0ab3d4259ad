"""mcp-memory-service's SQLite storage; runs in an environment of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from bench.systems.mcp_memory_service import open_storage, prepare

Result = TypeVar("Result")


def start(place: str) -> McpMemoryServiceNotes:
    prepare(place)
    return McpMemoryServiceNotes(Path(place) / "notes.db")


class McpMemoryServiceNotes:
    """One event loop in a thread of its own serves all callers, as in its server."""

    def __init__(self, path: Path) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._storage = self._run(open_storage(path))

    def write(self, text: str) -> None:
        from mcp_memory_service.models.memory import Memory  # type: ignore[import-not-found]
        from mcp_memory_service.utils.hashing import (  # type: ignore[import-not-found]
            generate_content_hash,
        )

        memory = Memory(content=text, content_hash=generate_content_hash(text))
        stored, message = self._run(self._storage.store(memory, skip_semantic_dedup=True))
        if not stored and "duplicate" not in message.lower():
            raise RuntimeError(message)

    def write_untrusted(self, text: str) -> None:
        self.write(text)

    def texts(self) -> list[str]:
        return [memory.content for memory in self._run(self._storage.get_all_memories())]

    def search(self, query: str) -> str:
        found = self._run(self._storage.retrieve(query, n_results=20))
        return "\n".join(one.memory.content for one in found)

    def delete_all(self) -> None:
        for memory in self._run(self._storage.get_all_memories()):
            self._run(self._storage.delete(memory.content_hash))

    def purge(self) -> None:
        self._run(self._storage.purge_deleted(older_than_days=0))

    def close(self) -> None:
        self._run(self._storage.close())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
