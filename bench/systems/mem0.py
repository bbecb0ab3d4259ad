"""mem0 without a language model: every turn as it is; runs in an environment of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bench.data import History, Session
from bench.systems import Found, Query, found
from bench.systems.minilm import DIMENSIONS, place_in

STOPWORDS = (
    "a about above after again against all am an and any are as at be because been before being "
    "below between both but by can did do does doing don down during each few for from further had "
    "has have having he her here hers herself him himself his how i if in into is it its itself "
    "just me more most my myself no nor not now of off on once only or other our ours ourselves "
    "out over own same she should so some such than that the their theirs them themselves then "
    "there these they this those through to too under until up very was we were what when where "
    "which while who whom why will with you your yours yourself yourselves"
)
LANGUAGES = (
    "arabic danish dutch english finnish french german greek hungarian italian norwegian "
    "portuguese romanian russian spanish swedish turkish"
)


def start(place: str) -> Mem0:
    return Mem0(open_memory(place))


def open_memory(place: str) -> Any:
    """mem0's memory in this directory, with its models brought along."""
    cache = Path(place) / "fastembed"
    os.environ["FASTEMBED_CACHE_PATH"] = str(cache)
    os.environ["MEM0_DIR"] = place
    if not cache.exists():
        place_in(_snapshot(cache, "all-MiniLM-L6-v2-onnx"))
        _place_bm25(_snapshot(cache, "bm25"))
    from mem0 import Memory  # type: ignore[import-not-found]

    return Memory.from_config(_config(Path(place)))


class Mem0:
    """A user for each history, with the speaker as the actor and the session beside it."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.embed = self._memory.embedding_model.embed
        self._turns: dict[str, str] = {}

    def add(self, history: History) -> None:
        for session in history.sessions:
            stored = self._memory.add(
                _messages(session),
                user_id=history.id,
                metadata=_metadata(session),
                infer=False,
            )
            ids = [one["id"] for one in stored["results"]]
            self._turns.update(zip(ids, (turn.id for turn in session.turns), strict=True))

    def search(self, query: Query, limit: int) -> Found:
        filters = {"user_id": query.history}
        results = self._memory.search(query.text, top_k=limit, filters=filters)["results"]
        return found([(self._turns[one["id"]], one["memory"]) for one in results], not results)

    def close(self) -> None:
        self._memory.close()


def _config(place: Path) -> dict[str, Any]:
    """All local. The language model is named because one must be, and never called."""
    return {
        "embedder": {
            "provider": "fastembed",
            "config": {"model": "sentence-transformers/all-MiniLM-L6-v2"},
        },
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "path": str(place / "qdrant"),
                "on_disk": True,
                "embedding_model_dims": DIMENSIONS,
            },
        },
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "history_db_path": str(place / "history.db"),
    }


def _messages(session: Session) -> list[dict[str, str]]:
    return [
        {"role": turn.role, "name": turn.speaker, "content": turn.line} for turn in session.turns
    ]


def _metadata(session: Session) -> dict[str, str]:
    date = {"date": session.date.isoformat()} if session.date else {}
    return {"session": session.id, **date}


def _snapshot(cache: Path, model: str) -> Path:
    """Where the hub's cache keeps a model, with the note of which version is current."""
    home = cache / f"models--Qdrant--{model}"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text("local")
    return home / "snapshots" / "local"


def _place_bm25(folder: Path) -> None:
    """The keyword model is nothing but lists of words to leave out."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    for language in LANGUAGES.split():
        words = STOPWORDS.split() if language == "english" else []
        (folder / f"{language}.txt").write_text("\n".join(words))
