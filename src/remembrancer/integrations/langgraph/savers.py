"""Opens the SQLite or PostgreSQL checkpointer of LangGraph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langgraph.checkpoint.base import BaseCheckpointSaver


@contextmanager
def open_saver(place: str | Path) -> Iterator[BaseCheckpointSaver[str]]:
    """Open a saver for a file or a `postgresql://` URL; creates its tables if necessary."""
    if str(place).startswith(("postgresql://", "postgres://")):
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(str(place)) as saver:
            saver.setup()
            yield saver
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver

        with SqliteSaver.from_conn_string(str(place)) as saver:
            yield saver
