"""MemPalace, as its assistants file and search; runs in an environment of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bench.data import History, Session, Turn
from bench.systems import Found, Query, found
from bench.systems.minilm import SETTINGS, place_in


def start(place: str) -> MemPalace:
    beside = {**SETTINGS, "vocab.txt": ""}
    place_in(Path(place) / ".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx", beside)
    palace = Path(place) / "palace"
    os.environ["MEMPALACE_PALACE_PATH"] = str(palace)
    os.environ["MEMPALACE_LANG"] = "en"
    return MemPalace(palace)


class MemPalace:
    """A wing for each history and a room for each session; long turns are filed in pieces."""

    def __init__(self, palace: Path) -> None:
        from mempalace.embedding import (  # type: ignore[import-not-found]
            get_embedding_function,
        )
        from mempalace.mcp_server import tool_add_drawer  # type: ignore[import-not-found]
        from mempalace.searcher import search_memories  # type: ignore[import-not-found]

        self._palace = str(palace)
        self._add: Any = tool_add_drawer
        self._search: Any = search_memories
        self._embedder: Any = get_embedding_function()
        self._turns: dict[str, str] = {}

    def embed(self, text: str) -> object:
        return self._embedder([text])

    def add(self, history: History) -> None:
        for session in history.sessions:
            for turn in session.turns:
                self._turns.setdefault(self._file(history, session, turn), turn.id)

    def search(self, query: Query, limit: int) -> Found:
        answer = self._search(query.text, self._palace, wing=query.history, n_results=limit)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        ranked = [(self._turns[hit["drawer_id"]], hit["text"]) for hit in answer["results"]]
        return found(ranked, not ranked)

    def close(self) -> None:
        pass

    def _file(self, history: History, session: Session, turn: Turn) -> str:
        done = self._add(history.id, session.id, turn.line, source_file=None, added_by=turn.speaker)
        if not done["success"]:
            raise RuntimeError(done["error"])
        return str(done["drawer_id"])
