"""The prompt and the streamed reply of a chat model, independent of any provider."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from remembrancer.llm import Model
from remembrancer.llm.json_answer import declined_error, empty_answer_error, parse_json
from remembrancer.types import Json


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool that the model can call; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the model; `arguments` is None if they were not a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Json] | None

    @classmethod
    def parse(cls, id: str, name: str, arguments: str) -> ToolCall:
        try:
            value = parse_json(arguments or "{}")
        except ValueError:
            value = None
        return cls(id, name, value if isinstance(value, dict) else None)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ToolRound:
    """The model's text before it called tools, the calls, and the result of each."""

    text: str
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """Everything that is sent to the model, in this order.

    The system prompt, the tools and the history are the same bytes in the next prompt, so that
    providers can cache them. The note belongs to the current message and is never sent before it.
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
        """The current message, preceded by its note."""
        return f"{self.note}\n\n{self.message}" if self.note else self.message


@dataclass(slots=True)
class StreamState:
    """The state of a streamed reply; `calls` has id, name and arguments by position."""

    has_text: bool = False
    declined: bool = False
    calls: dict[int, list[str]] = field(default_factory=dict)

    def finish(self) -> Iterator[ToolCall]:
        """The completed tool calls; raises InvalidModelResponse if the answer was empty."""
        if not (self.has_text or self.calls):
            raise declined_error() if self.declined else empty_answer_error()
        for position, (id, name, arguments) in sorted(self.calls.items()):
            yield ToolCall.parse(id or f"call_{position}", name, arguments)


ReplyStream = Generator[str | ToolCall, None, None]


class ChatModel(Protocol):
    """Can be called from many threads. Raises only ModelUnavailable and InvalidModelResponse.

    No error quotes the key, the prompt or the model's answer.
    """

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        """Stream the answer as pieces of text, followed by the tool calls it ends with.

        Closing the iterator cancels the answer. A deadline covers the whole answer.
        """
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class LanguageModel(Model, ChatModel, Protocol):
    """A model that answers questions with JSON and chats."""
