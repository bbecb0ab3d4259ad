"""What is found in a file: memories, conversations, and what is left out and why. Plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.remember.statement import FactFields
    from remembrancer.sessions.turns import TurnInput


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where something stands: the file, and where in it."""

    file: str
    where: str

    def __str__(self) -> str:
        return f"{self.file}, {self.where}"

    def at(self, where: str) -> FileLocation:
        """A place within this one."""
        return FileLocation(self.file, f"{self.where}, {where}")

    def to_error(self, what: str) -> InvalidInput:
        """An error that names the place, for whoever has to mend the file."""
        return InvalidInput(f"{self}: {what}")


def _no_details() -> FactFields:
    return {}


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory. `key` is what its source calls it: the same whenever it is read again.

    `whose` is the person or the part of the source that it belongs to, where there are several;
    `links` are the keys of what it is related to.
    """

    place: FileLocation
    key: str
    content: str
    details: FactFields = field(default_factory=_no_details)
    source_owner: str | None = None
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnItem:
    """One turn, and what it is called within its conversation."""

    place: FileLocation
    key: str
    turn: TurnInput


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """Turns in the order in which they were said."""

    place: FileLocation
    key: str
    turns: tuple[TurnItem, ...]
    title: str | None = None
    source_owner: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """Something that is not brought in, and why not."""

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
    """The pieces of one conversation: what is beside it first, and then its turns if it has any."""
    turns: list[TurnItem] = []
    for one in found:
        if isinstance(one, TurnItem):
            turns.append(one)
        else:
            yield one
    called = title.strip() if isinstance(title, str) and title.strip() else None
    if turns:
        yield ConversationItem(place, key, tuple(turns), called, source_owner)
    else:
        yield SkippedItem(place, "a conversation in which nobody says anything")
