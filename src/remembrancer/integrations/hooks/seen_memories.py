"""Keeps the ids of the memories that a session has seen, so that prompts do not repeat them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from remembrancer.environment import create_private_directory, open_private

MAX_SEEN = 10_000
"""The most ids that a request may exclude; the oldest are dropped."""


def load_seen(file: Path) -> list[str]:
    """The ids in the order they were seen; none if the file is missing or damaged."""
    try:
        return [str(one) for one in json.loads(file.read_text("utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def save_seen(file: Path, memories: Iterable[str]) -> None:
    create_private_directory(file.parent)
    seen = list(dict.fromkeys(memories))[-MAX_SEEN:]
    with open(file, "w", encoding="utf-8", opener=open_private) as out:
        json.dump(seen, out)
