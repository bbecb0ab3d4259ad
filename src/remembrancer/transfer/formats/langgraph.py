"""LangGraph's stores: the table of SqliteStore and PostgresStore, or their items as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.store import external_db
from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Stated
from remembrancer.transfer.formats.json_stream import listed, parsed, words
from remembrancer.transfer.formats.timestamps import moment

TABLE = "store"
COLUMNS = ("prefix", "key", "value", "updated_at")
CONTENT = ("content", "text", "memory", "data", "fact", "value")


def read(source: Source) -> Iterator[Piece]:
    """The items of all namespaces; a namespace is told as `users/ada`."""
    if source.address is not None:
        yield from _stored(source.name, source.address)
    for file in source.files:
        if file.begins_with(external_db.SQLITE):
            yield from _stored(file.name, database(file))
        elif file.name.lower().endswith((".json", ".jsonl")):
            for where, one in listed(file, "items"):
                yield _item(Place(file.name, where), one)


def database(file: File) -> Path:
    """Where a database lies; inside a zip it cannot be read."""
    if file.path is None:
        raise InvalidInput(f"{file.name} is a database inside a zip; unpack it first.")
    file.was_read = True
    return file.path


def _stored(name: str, place: str | Path) -> Iterator[Piece]:
    rows = external_db.rows(place, TABLE, COLUMNS, ("prefix", "key"))
    for number, (prefix, key, value, at) in enumerate(rows, 1):
        item = {
            "namespace": str(prefix).split("."),
            "key": key,
            "value": parsed(value) if isinstance(value, str | bytes) else value,
            "updated_at": at,
        }
        yield _item(Place(name, f"row {number}"), item)


def _item(place: Place, item: Any) -> Stated | LeftOut:
    if not isinstance(item, dict) or item.get("value") in (None, {}, ""):
        return LeftOut(place, "an item without a value")
    parts, key = item.get("namespace"), str(item.get("key"))
    namespace = "/".join(map(str, parts)) if isinstance(parts, list) else str(parts)
    details: Any = {
        "origin": "assistant",
        "metadata": {"namespace": namespace, "key": key},
    }
    at = moment(item.get("updated_at")) or moment(item.get("created_at"))
    details |= {"valid_from": at} if at else {}
    return Stated(place, f"{namespace}\n{key}", _content(item["value"]), details, namespace)


def _content(value: Any) -> str:
    """A value in words: the text in it, or all its fields."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = next((value[key] for key in CONTENT if isinstance(value.get(key), Mapping)), None)
        return words(value, *CONTENT) or words(inner, *CONTENT) or _fields(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _fields(value: Mapping[str, Any]) -> str:
    plain = {
        key: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str)
        for key, one in value.items()
    }
    return "; ".join(f"{key}: {one}" for key, one in plain.items())
