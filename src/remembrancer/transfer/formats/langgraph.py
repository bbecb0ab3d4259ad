"""Reads LangGraph stores: the table of SqliteStore and PostgresStore, or items as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.guard.quarantine import choose_origin
from remembrancer.remember.items import render_value
from remembrancer.store import external_db
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import (
    FileLocation,
    ImportItem,
    MemoryItem,
    SkippedItem,
    StoreEntry,
)
from remembrancer.transfer.formats.json_stream import first_text, read_entries, try_parse_json
from remembrancer.transfer.formats.timestamps import parse_timestamp

TABLE = "store"
COLUMNS = ("prefix", "key", "value", "updated_at")
EXPIRY = "expires_at"
"""A column that the tables of older versions do not have."""

CONTENT_KEYS = ("content", "text", "memory", "data", "fact", "value")


def read(source: ImportSource) -> Iterator[ImportItem]:
    """Yield the items of all namespaces; the owner of an item is its namespace, as `users/ada`."""
    if source.database_url is not None:
        yield from _read_table(source.name, source.database_url)
    for file in source.files:
        if file.begins_with(external_db.SQLITE_HEADER):
            yield from _read_table(file.name, get_database_path(file))
        elif file.name.lower().endswith((".json", ".jsonl")):
            for where, one in read_entries(file, "items"):
                yield _parse_item(FileLocation(file.name, where), one)


def get_database_path(file: SourceFile) -> Path:
    """Return the path of a database; raises `InvalidInput` if it is inside a zip."""
    if file.path is None:
        raise InvalidInput(f"{file.name} is a database inside a zip; extract it first.")
    file.was_read = True
    return file.path


def _read_table(name: str, place: str | Path) -> Iterator[ImportItem]:
    expiry = (EXPIRY,) if EXPIRY in external_db.list_columns(place, TABLE) else ()
    rows = external_db.read_rows(place, TABLE, (*COLUMNS, *expiry), ("prefix", "key"))
    for number, (prefix, key, value, at, *expires_at) in enumerate(rows, 1):
        item = {
            "namespace": str(prefix).split("."),
            "key": key,
            "value": try_parse_json(value) if isinstance(value, str | bytes) else value,
            "updated_at": at,
            EXPIRY: expires_at[0] if expires_at else None,
        }
        yield _parse_item(FileLocation(name, f"row {number}"), item)


def _parse_item(place: FileLocation, item: Any) -> MemoryItem | SkippedItem:
    if not isinstance(item, dict) or item.get("value") in (None, ""):
        return SkippedItem(place, "an item without a value")
    parts, key = item.get("namespace"), str(item.get("key"))
    labels = tuple(map(str, parts)) if isinstance(parts, list | tuple) else (str(parts),)
    namespace = "/".join(labels)
    value, text = item["value"], _render_value(item["value"])
    details: Any = {
        "origin": choose_origin(f"{text}\n{render_value(value)}"),
        "metadata": {"namespace": namespace, "key": key},
    }
    at = parse_timestamp(item.get("updated_at")) or parse_timestamp(item.get("created_at"))
    details |= {"valid_from": at} if at else {}
    entry = StoreEntry(
        labels,
        key,
        value if isinstance(value, Mapping) else {"value": value},
        parse_timestamp(item.get(EXPIRY)),
    )
    return MemoryItem(place, f"{namespace}\n{key}", text, details, namespace, entry=entry)


def _render_value(value: Any) -> str:
    """Return the text in a value, or all its fields as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = next(
            (value[key] for key in CONTENT_KEYS if isinstance(value.get(key), Mapping)), None
        )
        return (
            first_text(value, *CONTENT_KEYS)
            or first_text(inner, *CONTENT_KEYS)
            or _render_fields(value)
        )
    return json.dumps(value, ensure_ascii=False, default=str)


def _render_fields(value: Mapping[str, Any]) -> str:
    plain = {
        key: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str)
        for key, one in value.items()
    }
    return "; ".join(f"{key}: {one}" for key, one in plain.items())
