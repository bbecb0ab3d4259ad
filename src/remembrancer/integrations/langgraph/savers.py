"""LangGraph's own checkpointers, by the place where the state of graphs is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langgraph.checkpoint.base import BaseCheckpointSaver


@contextmanager
def open_saver(place: str | Path) -> Iterator[BaseCheckpointSaver[str]]:
    """A saver over a file, or over a `postgresql://` address; its tables are made if need be."""
    if str(place).startswith(("postgresql://", "postgres://")):
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(str(place)) as saver:
            saver.setup()
            yield saver
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver

        with SqliteSaver.from_conn_string(str(place)) as saver:
            yield saver
