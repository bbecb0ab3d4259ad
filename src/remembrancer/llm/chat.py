"""Talking with a language model: what it is told, and its answer as it comes; knows no protocol."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from remembrancer.llm.json_answer import loaded
from remembrancer.types import Json


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that the model may call, and the JSON schema of what it takes."""

    name: str
    description: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model wants to be made; without arguments where it gave no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Json] | None

    @classmethod
    def read(cls, id: str, name: str, arguments: str) -> ToolCall:
        """A call whose arguments came as text."""
        try:
            value = loaded(arguments or "{}")
        except ValueError:
            value = None
        return cls(id, name, value if isinstance(value, dict) else None)


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one of the two said earlier."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """What the model said before it called tools, the calls, and what came of each."""

    text: str
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that the model is told, in the order in which it is sent.

    The system's words, the offers and the history are the same bytes in the next prompt, and may
    be cached; the note belongs to what is said now, and never stands before that.
    """

    system: str
    said: str
    note: str = ""
    history: tuple[Utterance, ...] = ()
    offers: tuple[Offer, ...] = ()
    steps: tuple[Step, ...] = ()
    may_call: bool = True

    @property
    def latest(self) -> str:
        """What is said now, after the note for it."""
        return f"{self.note}\n\n{self.said}" if self.note else self.said


Pieces = Generator[str | ToolCall, None, None]


class ChatModel(Protocol):
    """Rules: may be called from many threads, and fails with the two errors of `llm` only.

    No error quotes the key, the prompt or what the model said.
    """

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    def reply(self, prompt: Prompt) -> Pieces:
        """The answer, piece by piece, then the calls that it ends with.

        Whoever closes the iterator ends the answer; a deadline is for the whole of it.
        """
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...
