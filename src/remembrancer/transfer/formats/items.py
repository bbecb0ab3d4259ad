"""Values that readers yield: memories, conversations, and skipped items with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.remember.statement import FactFields
    from remembrancer.sessions.turns import TurnInput


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A position in a file, for error messages and provenance."""

    file: str
    where: str

    def __str__(self) -> str:
        return f"{self.file}, {self.where}"

    def at(self, where: str) -> FileLocation:
        """Return a location within this one."""
        return FileLocation(self.file, f"{self.where}, {where}")

    def to_error(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self}: {what}")


def _no_details() -> FactFields:
    return {}


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """What a program kept under a key of a namespace, and until when."""

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory; `key` identifies it in its source, however often it is read.

    `source_owner` is the person or namespace that it belongs to, if the source has several;
    `links` are the keys of related memories. `entry` is what the memory was in a program's store.
    """

    place: FileLocation
    key: str
    content: str
    details: FactFields = field(default_factory=_no_details)
    source_owner: str | None = None
    links: tuple[str, ...] = ()
    entry: StoreEntry | None = None


@dataclass(frozen=True, slots=True)
class TurnItem:
    """One turn; `key` identifies it within its conversation."""

    place: FileLocation
    key: str
    turn: TurnInput


@dataclass(frozen=True, slots=True)
class ConversationItem:
    place: FileLocation
    key: str
    turns: tuple[TurnItem, ...]
    title: str | None = None
    source_owner: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedItem:
    place: FileLocation
    reason: str


ImportItem = MemoryItem | ConversationItem | SkippedItem


def build_conversation(
    place: FileLocation,
    key: str,
    found: Iterable[TurnItem | MemoryItem | SkippedItem],
    *,
    title: object = None,
    source_owner: str | None = None,
) -> Iterable[ImportItem]:
    """Yield the memories and skipped items of a conversation, then the conversation itself."""
    turns: list[TurnItem] = []
    for one in found:
        if isinstance(one, TurnItem):
            turns.append(one)
        else:
            yield one
    stripped = title.strip() if isinstance(title, str) else ""
    if turns:
        yield ConversationItem(place, key, tuple(turns), stripped or None, source_owner)
    else:
        yield SkippedItem(place, "a conversation without messages")
