"""Prints results as one JSON document, with the field names of the library."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remembrancer.types import Record


def to_json_value(value: Any) -> Any:
    """Convert to lists, dicts, strings and numbers; times are ISO 8601 in UTC."""
    if is_dataclass(value):
        values = {
            field.name: to_json_value(getattr(value, field.name))
            for field in fields(value)
            if field.repr
        }
        return {"kind": str(value.kind), **values} if isinstance(value, Record) else values
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case Mapping():
            return {str(key): to_json_value(inner) for key, inner in value.items()}
        case frozenset():
            return sorted(to_json_value(inner) for inner in value)
        case list() | tuple():
            return [to_json_value(inner) for inner in value]
        case str() | Path():
            return str(value)
        case _:
            return value


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print the value as JSON; without an indent, on one line."""
    is_ascii = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(to_json_value(value), indent=indent, ensure_ascii=is_ascii))
