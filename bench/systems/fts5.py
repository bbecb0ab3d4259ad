"""SQLite's own full-text search, with a table for each history."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from bench.data import History
from bench.systems import Found, Query, found

WORD = re.compile(r"\w+")


def start(place: str) -> Fts5:
    return Fts5(sqlite3.connect(Path(place) / "fts5.db"))


class Fts5:
    embed = None

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tables: dict[str, str] = {}

    def add(self, history: History) -> None:
        table = self._tables[history.id] = f"history_{len(self._tables)}"
        with self._connection as connection:
            connection.execute(
                f"CREATE VIRTUAL TABLE {table} "
                "USING fts5(turn UNINDEXED, line, tokenize = 'porter unicode61')"
            )
            rows = ((turn.id, turn.line) for turn in history.turns)
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)

    def search(self, query: Query, limit: int) -> Found:
        table = self._tables[query.history]
        words = " OR ".join(f'"{word}"' for word in WORD.findall(query.text))
        rows = self._connection.execute(
            f"SELECT turn, line FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?",
            (words, limit),
        ).fetchall()
        return found(rows, not rows)

    def close(self) -> None:
        self._connection.close()
