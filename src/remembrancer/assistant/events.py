"""Events that a chat answer streams to the surface that shows it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A status line about a change of memory; `event` is the id that undoes it."""

    text: str
    event: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A status line about the answer itself, such as why there is none."""

    text: str


@dataclass(frozen=True, slots=True)
class MemoriesUsed:
    """The ids of the memories behind the answer."""

    memories: tuple[str, ...]


ChatEvent = TextChunk | MemoryChanged | Notice | MemoriesUsed
ChatEventStream = Generator[ChatEvent, None, None]
