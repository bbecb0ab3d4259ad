"""What is kept of an exchange: its words as they may be kept, and what it did. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from remembrancer.assistant import commands
from remembrancer.assistant.events import Notice, Part, Status, Text, Used
from remembrancer.types import Json, Turn

ASKS, EVENTS, MEMORIES, UNDID = "asks", "events", "memories", "undid"
"""Keys in a turn's metadata: what the assistant waits for, changed, used, and took back."""


@dataclass(frozen=True, slots=True)
class Wipe:
    """Forget everything: the person was asked and has agreed."""


Meant = commands.Command | Wipe | None


@dataclass(slots=True)
class Exchange:
    """What was said and what came of it, until it is kept."""

    text: str = ""
    metadata: dict[str, Json] = field(default_factory=dict)

    def take(self, part: Part) -> None:
        """Note a part of the answer."""
        match part:
            case Text():
                self.text += part.text
            case Status():
                self._add(EVENTS, (part.event,))
            case Used():
                self._add(MEMORIES, part.memories)
            case Notice():
                pass
            case _:
                assert_never(part)

    def _add(self, key: str, ids: Sequence[str]) -> None:
        known = self.metadata.get(key, [])
        assert isinstance(known, list)
        self.metadata[key] = list(dict.fromkeys([*known, *ids]))


def recorded(meant: commands.Command | Wipe, said: str, told: str) -> tuple[str, str]:
    """How a command is kept: not in the words of what is to be forgotten, nor with a whole list."""
    match meant:
        case commands.Forget():
            return "/forget", "Done."
        case Wipe():
            return "/forget", told
        case commands.Tell():
            return said, "(I listed what I remember.)"
        case commands.Why():
            return said, "(I said which memories I had used.)"
        case _:
            return said, told


def changes(turns: Sequence[Turn]) -> Iterator[str]:
    """The events of a conversation that were not taken back in it, the last one first."""
    undone = {one.metadata.get(UNDID) for one in turns}
    for turn in reversed(turns):
        events = turn.metadata.get(EVENTS)
        if isinstance(events, list) and not turn.metadata.get(UNDID):
            yield from (str(one) for one in reversed(events) if one not in undone)
