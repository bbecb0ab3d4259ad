"""Removes the rows of one author from the rows of an instance. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from remembrancer.remember.provenance import EPISODES_KEY
from remembrancer.store.contract import DumpRow
from remembrancer.store.rows import AUTHOR_KEY
from remembrancer.types import Json

RowChange = Callable[[str, Mapping[str, Json]], Mapping[str, Json] | None]
"""Returns the columns of a row as they stay, or None to remove the row."""

REFERENCES = ("id", "memory_id", "source", "target", "rule_id")
"""The columns by which a row belongs to a memory."""


def build_author_removal(rows: Sequence[DumpRow], author: str) -> RowChange:
    """The change that removes what an author wrote, and what was learned from it."""
    memories = [columns for _, columns in rows if "lineage" in columns]
    own = {one["id"] for one in memories if author in _list_authors(one)}
    removed = [one for one in memories if one["id"] in own or _cites(one, own)]
    ids = {one["id"] for one in removed}
    touched = {one["session_id"] for one in removed} - {None}
    kept = {
        columns["session_id"]
        for table, columns in rows
        if table == "turns" and columns["id"] not in ids
    }

    def change(table: str, columns: Mapping[str, Json]) -> Mapping[str, Json] | None:
        match table:
            case "changes":
                return columns
            case "rejections":
                return None if columns["session_id"] in touched else columns
            case "sessions" if columns["id"] in touched:
                untitled = {**columns, "title": None, "summary": None, "summarised": 0}
                return untitled if columns["id"] in kept else None
        if any(columns.get(name) in ids for name in REFERENCES):
            return None
        return {**columns, "supersedes": None} if columns.get("supersedes") in ids else columns

    return change


def _list_authors(columns: Mapping[str, Json]) -> list[Json]:
    metadata = columns["metadata"]
    return [metadata.get(AUTHOR_KEY)] if isinstance(metadata, dict) else []


def _cites(columns: Mapping[str, Json], ids: set[Json]) -> bool:
    evidence, metadata = columns["evidence"], columns["metadata"]
    turns = (
        [one.get("turn_id") for one in evidence if isinstance(one, dict)]
        if isinstance(evidence, list)
        else []
    )
    episodes = metadata.get(EPISODES_KEY) if isinstance(metadata, dict) else None
    return any(one in ids for one in (*turns, *(episodes if isinstance(episodes, list) else ())))
