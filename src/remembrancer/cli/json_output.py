"""Results as one JSON document: the fields of the library's values under their own names."""

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
    """The value in lists, dicts, strings and numbers; moments are ISO 8601 in UTC."""
    if is_dataclass(value):
        found = {field.name: to_json_value(getattr(value, field.name)) for field in fields(value)}
        return {"kind": str(value.kind), **found} if isinstance(value, Record) else found
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
    """Print the value, and nothing else; without an indent, on one line."""
    narrow = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(to_json_value(value), indent=indent, ensure_ascii=narrow))
