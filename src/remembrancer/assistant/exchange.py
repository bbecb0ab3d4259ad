"""What is kept of an exchange: its words as they may be kept, and what it did. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from remembrancer.assistant import commands
from remembrancer.assistant.events import ChatEvent, MemoriesUsed, MemoryChanged, Notice, TextChunk
from remembrancer.types import Json, Turn

AWAITS_CONFIRMATION_KEY, EVENTS_KEY, MEMORIES_KEY, UNDONE_EVENT_KEY = (
    "asks",
    "events",
    "memories",
    "undid",
)
"""Keys in a turn's metadata: what the assistant waits for, changed, used, and took back."""


@dataclass(frozen=True, slots=True)
class ForgetAllConfirmed:
    """Forget everything: the person was asked and has agreed."""


ParsedCommand = commands.Command | ForgetAllConfirmed | None


@dataclass(slots=True)
class Exchange:
    """What was said and what came of it, until it is kept."""

    text: str = ""
    metadata: dict[str, Json] = field(default_factory=dict)

    def collect(self, part: ChatEvent) -> None:
        """Note a part of the answer."""
        match part:
            case TextChunk():
                self.text += part.text
            case MemoryChanged():
                self._append_ids(EVENTS_KEY, (part.event,))
            case MemoriesUsed():
                self._append_ids(MEMORIES_KEY, part.memories)
            case Notice():
                pass
            case _:
                assert_never(part)

    def _append_ids(self, key: str, ids: Sequence[str]) -> None:
        known = self.metadata.get(key, [])
        assert isinstance(known, list)
        self.metadata[key] = list(dict.fromkeys([*known, *ids]))


def redact_command(
    meant: commands.Command | ForgetAllConfirmed, said: str, told: str
) -> tuple[str, str]:
    """How a command is kept: not in the words of what is to be forgotten, nor with a whole list."""
    match meant:
        case commands.Forget():
            return "/forget", "Done."
        case ForgetAllConfirmed():
            return "/forget", told
        case commands.ListMemories():
            return said, "(I listed what I remember.)"
        case commands.Explain():
            return said, "(I said which memories I had used.)"
        case _:
            return said, told


def list_undoable_events(turns: Sequence[Turn]) -> Iterator[str]:
    """The events of a conversation that were not taken back in it, the last one first."""
    undone = {one.metadata.get(UNDONE_EVENT_KEY) for one in turns}
    for turn in reversed(turns):
        events = turn.metadata.get(EVENTS_KEY)
        if isinstance(events, list) and not turn.metadata.get(UNDONE_EVENT_KEY):
            yield from (str(one) for one in reversed(events) if one not in undone)
