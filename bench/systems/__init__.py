"""The systems that are compared: what each must do, and the list of them.

Imports the standard library only: this package is also read by the peers' own interpreters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bench.data import History

CONTEXT = 10
"""How many of the first results are taken to be what a model would be given."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a system may know of a question: never the answer."""

    history: str
    text: str
    date: datetime | None


@dataclass(frozen=True, slots=True)
class Found:
    """Turns, best first; whether the system said that there is nothing, if it ever says so."""

    turn_ids: tuple[str, ...]
    nothing_relevant: bool | None
    context_chars: int


class System(Protocol):
    """A memory with some histories in it. One call at a time."""

    def add(self, history: History) -> None: ...

    def search(self, query: Query, limit: int) -> Found:
        """The `limit` best turns of the query's own history."""
        ...

    @property
    def embed(self) -> Callable[[str], object] | None:
        """The bare embedding of a query as the system computes it, if it does."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A system's name, how it was set up, and what its own environment must have installed."""

    name: str
    settings: str
    packages: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return f"bench.systems.{self.name.replace('-', '_')}"


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("grep", "distinct words of the question that occur, newest first"),
        Entry("fts5", "SQLite FTS5, porter, any word of the question"),
        Entry("bm25", "Okapi, k1 1.2, b 0.75, our terms"),
        Entry("dense", "exact cosine, our embedder"),
        Entry("rrf", "reciprocal ranks of bm25 and dense, k 60"),
        Entry("ours", "default settings, turns only"),
        Entry(
            "langgraph",
            "SqliteStore with its vector index over the turn's line",
            (
                "langgraph",
                "langgraph-checkpoint-sqlite",
                "pysqlite3",
                "onnxruntime",
                "tokenizers",
                "numpy",
            ),
        ),
        Entry(
            "mem0",
            "infer off, local Qdrant, fastembed provider, its hybrid with BM25",
            ("mem0ai", "fastembed"),
        ),
        Entry(
            "mcp-memory-service",
            "sqlite-vec, hybrid search with rrf, its ONNX embedder, a database for each history",
            ("mcp-memory-service[sqlite]", "pysqlite3"),
        ),
        Entry(
            "mempalace",
            "default search in English, its ONNX embedder, a wing for each history",
            ("mempalace",),
        ),
    )
}


def found(ranked: Sequence[tuple[str, str]], nothing_relevant: bool | None = None) -> Found:
    """From ids and texts, best first."""
    chars = sum(len(text) for _, text in ranked[:CONTEXT])
    return Found(tuple(id for id, _ in ranked), nothing_relevant, chars)
