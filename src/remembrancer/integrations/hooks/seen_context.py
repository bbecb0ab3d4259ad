"""Remembers which memories a session has seen, so that prompts do not repeat them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path


def filter_seen(file: Path, text: str, memories: Sequence[str], *, reset: bool) -> str:
    """Return the text without the memories that the session has seen; `reset` clears these."""
    before = [] if reset else _read_seen(file)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_text(json.dumps([*{*before, *memories}]), "utf-8")
    return drop_entries(text, memories, before)


def drop_entries(text: str, memories: Sequence[str], seen: Collection[str]) -> str:
    """Remove entries from a block; its entries are in the order of `memories`."""
    ids = iter(memories)
    left = [line for line in text.split("\n") if not _is_entry(line) or next(ids, None) not in seen]
    return "\n".join(left) if any(map(_is_entry, left)) else ""


def _is_entry(line: str) -> bool:
    return line.startswith("- ")


def _read_seen(file: Path) -> list[str]:
    try:
        return list(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return []
