"""Talking with a language model: what it is told, and its answer as it comes; knows no protocol."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from remembrancer.llm.json_answer import parse_json
from remembrancer.types import Json


@dataclass(frozen=True, slots=True)
class ToolDefinition:
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
    def parse(cls, id: str, name: str, arguments: str) -> ToolCall:
        """A call whose arguments came as text."""
        try:
            value = parse_json(arguments or "{}")
        except ValueError:
            value = None
        return cls(id, name, value if isinstance(value, dict) else None)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What one of the two said earlier."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ToolRound:
    """What the model said before it called tools, the calls, and what came of each."""

    text: str
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """All that the model is told, in the order in which it is sent.

    The system's words, the offers and the history are the same bytes in the next prompt, and may
    be cached; the note belongs to what is said now, and never stands before that.
    """

    system: str
    message: str
    note: str = ""
    history: tuple[ChatMessage, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    tool_rounds: tuple[ToolRound, ...] = ()
    allow_tool_calls: bool = True

    @property
    def latest_message(self) -> str:
        """What is said now, after the note for it."""
        return f"{self.note}\n\n{self.message}" if self.note else self.message


ReplyStream = Generator[str | ToolCall, None, None]


class ChatModel(Protocol):
    """Rules: may be called from many threads, and fails with the two errors of `llm` only.

    No error quotes the key, the prompt or what the model said.
    """

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        """The answer, piece by piece, then the calls that it ends with.

        Whoever closes the iterator ends the answer; a deadline is for the whole of it.
        """
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...
