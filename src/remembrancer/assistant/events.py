"""What an answer is made of, for a surface to show as it comes. Pure."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A quiet line about a change of memory, and the event by which it is undone."""

    text: str
    event: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A quiet line about the answer itself, such as why there is none."""

    text: str


@dataclass(frozen=True, slots=True)
class MemoriesUsed:
    """The ids of memories that the answer was made with."""

    memories: tuple[str, ...]


ChatEvent = TextChunk | MemoryChanged | Notice | MemoriesUsed
ChatEventStream = Generator[ChatEvent, None, None]
