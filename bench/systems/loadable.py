"""Gives peers an SQLite that loads extensions, on interpreters that were built without."""

from __future__ import annotations

import sqlite3
import sys


def need_extensions() -> None:
    """To be called before a peer is imported."""
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        import pysqlite3  # type: ignore[import-not-found]

        sys.modules["sqlite3"] = pysqlite3
        sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
