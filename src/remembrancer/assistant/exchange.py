"""Builds the record of one exchange: its redacted text and the metadata of its turns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from remembrancer.assistant import commands
from remembrancer.assistant.events import ChatEvent, MemoriesUsed, MemoryChanged, Notice, TextChunk
from remembrancer.sessions.turns import MEMORIES_KEY
from remembrancer.types import Json, Origin, Turn

AWAITS_CONFIRMATION_KEY, EVENTS_KEY = "asks", "events"
UNDONE_EVENT_KEY = "undid"
"""Metadata keys of a turn: it asks for confirmation, the events it made, the change it undid."""

DELETES_KEY = "deletes"
"""Metadata key of a turn for the id of the memory that it asks whether to delete for good."""

PROPOSAL_KEY = "proposal"
"""Metadata key of a turn for the id of the team fact that it proposed."""


@dataclass(frozen=True, slots=True)
class ForgetAllConfirmed:
    """Forget everything; the user has confirmed it."""


@dataclass(frozen=True, slots=True)
class DeletionConfirmed:
    """Delete a memory for good; the user has confirmed it."""

    memory_id: str


Confirmed = ForgetAllConfirmed | DeletionConfirmed
ParsedCommand = commands.Command | Confirmed | None


@dataclass(slots=True)
class Exchange:
    """Collects the text and the metadata of an answer while it streams.

    `message` is the user's turn if it was stored before the answer, `is_learned` is True if it was
    learned from as well, and `is_first` if only small talk and commands precede it. The `origin` is
    that of the user's message, which they may have forwarded.
    """

    text: str = ""
    metadata: dict[str, Json] = field(default_factory=dict)
    message: Turn | None = None
    is_learned: bool = False
    is_first: bool = False
    origin: Origin = Origin.USER

    def collect(self, event: ChatEvent) -> None:
        match event:
            case TextChunk():
                self.text += event.text
            case MemoryChanged():
                self._append_ids(EVENTS_KEY, (event.event,))
            case MemoriesUsed():
                self._append_ids(MEMORIES_KEY, event.memories)
            case Notice():
                pass
            case _:
                assert_never(event)

    def _append_ids(self, key: str, ids: Sequence[str]) -> None:
        known = self.metadata.get(key, [])
        assert isinstance(known, list)
        self.metadata[key] = list(dict.fromkeys([*known, *ids]))


def redact_command(
    command: commands.Command | Confirmed, message: str, answer: str
) -> tuple[str, str]:
    """The message and the answer to store.

    The text of a forgotten memory and the listed memories are left out.
    """
    match command:
        case commands.Forget():
            return "/forget", "Done."
        case commands.DeleteForGood():
            return "/forget", "Forgotten. Delete it for good?"
        case ForgetAllConfirmed() | DeletionConfirmed():
            return "/forget", answer
        case commands.ListMemories():
            return message, "(I listed what I remember.)"
        case commands.Explain():
            return message, "(I listed the memories behind my answer.)"
        case _:
            return message, answer


def list_undoable_changes(turns: Sequence[Turn]) -> Iterator[str]:
    """The events and the proposals to the team that were not undone, the latest first."""
    undone = {turn.metadata.get(UNDONE_EVENT_KEY) for turn in turns}
    for turn in reversed(turns):
        if not turn.metadata.get(UNDONE_EVENT_KEY):
            changes = (change for change in reversed(_list_changes(turn)) if change not in undone)
            yield from changes


def _list_changes(turn: Turn) -> list[str]:
    events, proposal = turn.metadata.get(EVENTS_KEY), turn.metadata.get(PROPOSAL_KEY)
    changes = events if isinstance(events, list) else []
    return [str(change) for change in (*changes, proposal) if change]
