"""Lets a chat model call the tools of a profile; its arguments are untrusted input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from remembrancer.assistant.commands import asks_to_change_memory
from remembrancer.assistant.events import ChatEvent, MemoriesUsed, MemoryChanged
from remembrancer.errors import RemembrancerError
from remembrancer.llm.chat import ToolCall, ToolDefinition
from remembrancer.remember.all_memories import names_everything
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import (
    ForgetResult,
    MemoryListResult,
    ToolResult,
    WriteResult,
    format_error,
    quote_content,
)
from remembrancer.tools.tool import ToolEffect
from remembrancer.tools.toolsets import select_tools
from remembrancer.types import Turn

UNKNOWN_TOOL = "There is no such tool."
MALFORMED_ARGUMENTS = "The arguments are not a JSON object; the tool was not called."
FORGET_ALL_ASKED = "The user is being asked whether to forget everything. Nothing is forgotten yet."


class Toolbox:
    """The tools that a model can call on one user's memory.

    Whatever they write cites the user's message, which `store_message` stores before.
    """

    def __init__(self, caller: Caller, store_message: Callable[[], Turn]) -> None:
        self._caller = caller
        self._store_message = store_message
        self._tools = select_tools(caller.profile)
        self.is_everything_to_be_forgotten = False
        """True once the model has called for it; only the user's answer carries it out."""

    def list_tools(self) -> tuple[ToolDefinition, ...]:
        """The tool definitions, always in the same order so that the prompt prefix stays cached."""
        if not self._caller.memory.is_enabled:
            return ()
        profile, agent = self._caller.profile, self._caller.must_name_agent
        return tuple(
            ToolDefinition(tool.name, tool.description, tool.input_schema(profile, agent=agent))
            for tool in self._tools.values()
        )

    def call_tool(self, call: ToolCall) -> tuple[str, tuple[ChatEvent, ...]]:
        """Run a tool call; returns the result for the model and the events for the user."""
        tool = self._tools.get(call.name) if self._caller.memory.is_enabled else None
        if tool is None:
            return UNKNOWN_TOOL, ()
        if call.arguments is None:
            return MALFORMED_ARGUMENTS, ()
        if tool.effect is ToolEffect.ENDS and _names_everything(call.arguments):
            self.is_everything_to_be_forgotten = True
            return FORGET_ALL_ASKED, ()
        try:
            caller = self._caller if tool.effect is ToolEffect.READS else self._cite_message()
            result = tool.call(caller, call.arguments)
        except RemembrancerError as error:
            return format_error(error), ()
        return result.to_text(), tuple(_to_chat_events(result))

    def _cite_message(self) -> Caller:
        """The caller for a write, which cites the message."""
        message = self._store_message()
        is_requested = not message.tainted and asks_to_change_memory(message.content)
        return replace(
            self._caller, memory=self._caller.memory.citing(message, is_requested=is_requested)
        )


def _names_everything(arguments: Mapping[str, Any]) -> bool:
    texts = [one for one in arguments.values() if isinstance(one, str)]
    return bool(arguments.get("all")) or any(map(names_everything, texts))


def _to_chat_events(result: ToolResult) -> Iterator[ChatEvent]:
    match result:
        case WriteResult(event=str(event)):
            yield MemoryChanged(result.describe_change(), event)
        case ForgetResult(event=str(event), content=str(content)):
            yield MemoryChanged(f"{result.done.capitalize()}: {quote_content(content)}", event)
        case MemoryListResult(items=[_, *_]):
            yield MemoriesUsed(tuple(one.id for one in result.items))
