"""Edits one table of a TOML file as text and keeps every byte outside of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.types import Json


def set_table(text: str, path: tuple[str, ...], values: Mapping[str, Json] | None) -> str:
    """Replace the table at a path; None removes it."""
    known = _get_path(_parse(text), path)
    if known == values:
        return text
    name = ".".join(path)
    section = re.compile(
        rf"\n?^\[{re.escape(name)}\][^\n]*\n?(?:^[\w\"-]+ *=[^\n]*\n?)*"
        rf"(?:\n*^\[{re.escape(name)}\.[^\n]*\n?(?:^[\w\"-]+ *=[^\n]*\n?)*)*",
        re.MULTILINE,
    )
    text = section.sub("", text)
    if _get_path(_parse(text), path) is not None:
        raise InvalidInput(f"{name} is not a table of its own; edit it by hand")
    if values is None:
        return text
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    return f"{text}{gap}[{name}]\n{''.join(lines)}"


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"which is not TOML: {error}") from None


def _get_path(values: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        values = values.get(step) if isinstance(values, dict) else None
    return values
