"""mcp-memory-service's storage and hybrid search; runs in an environment of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from bench.data import History, Session
from bench.systems import Found, Query, found
from bench.systems.loadable import need_extensions
from bench.systems.minilm import place_in

Result = TypeVar("Result")


def start(place: str) -> McpMemoryService:
    prepare(place)
    return McpMemoryService(Path(place))


def prepare(place: str) -> None:
    """Bring its model along and set what it reads from the environment."""
    models = Path(place) / ".cache/mcp_memory/onnx_models/all-MiniLM-L6-v2/onnx"
    if not models.exists():
        place_in(models)
    os.environ["MCP_MEMORY_ONNX_ALLOW_DOWNLOAD"] = "0"
    os.environ["MCP_MEMORY_BASE_DIR"] = place
    # The default, a weighted average, found two points less in a trial.
    os.environ["MCP_HYBRID_FUSION_METHOD"] = "rrf"
    need_extensions()


async def open_storage(path: Path) -> Any:
    """Its storage in this file."""
    from mcp_memory_service.storage.sqlite_vec import (  # type: ignore[import-not-found]
        SqliteVecMemoryStorage,
    )

    storage = SqliteVecMemoryStorage(str(path))
    await storage.initialize()
    return storage


class McpMemoryService:
    """A database for each history, as its keyword search knows no users."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._loop = asyncio.new_event_loop()
        self._histories: dict[str, Any] = {}
        self._turns: dict[tuple[str, str], str] = {}

    def embed(self, text: str) -> object:
        storage = next(iter(self._histories.values()))
        return storage.embedding_model.encode([text])

    def add(self, history: History) -> None:
        path = self._place / f"{len(self._histories)}.db"
        storage = self._histories[history.id] = self._run(open_storage(path))
        for session in history.sessions:
            memories = _memories(session)
            for turn, memory in zip(session.turns, memories, strict=True):
                # What is word for word the same is kept once, as its first turn.
                self._turns.setdefault((history.id, memory.content_hash), turn.id)
            self._run(storage.store_batch(memories))

    def search(self, query: Query, limit: int) -> Found:
        storage = self._histories[query.history]
        answer = self._run(storage.search_memories(query=query.text, mode="hybrid", limit=limit))
        ranked = [
            (self._turns[query.history, memory["content_hash"]], memory["content"])
            for memory in answer["memories"]
        ]
        return found(ranked, not ranked)

    def close(self) -> None:
        for storage in self._histories.values():
            self._run(storage.close())
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._loop.run_until_complete(work)


def _memories(session: Session) -> list[Any]:
    from mcp_memory_service.models.memory import Memory  # type: ignore[import-not-found]
    from mcp_memory_service.utils.hashing import (  # type: ignore[import-not-found]
        generate_content_hash,
    )

    said = session.date.timestamp() if session.date else None
    return [
        Memory(
            content=turn.line,
            content_hash=generate_content_hash(turn.line),
            tags=[session.id, turn.speaker],
            metadata={"role": turn.role},
            created_at=said,
        )
        for turn in session.turns
    ]
