"""Memory for the agents of LangChain's `create_agent`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ModelRequest, ModelResponse, PrivateStateAttr
from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.channels import UntrackedValue
from langgraph.config import get_config
from langgraph.runtime import Runtime

from remembrancer.integrations.langgraph.messages import (
    NOTE_NAME,
    merge_system_messages,
    read_messages,
)
from remembrancer.integrations.langgraph.nodes import (
    NoteOptions,
    check_resolver,
    get_thread,
    learn_messages,
    write_note,
)
from remembrancer.types import Kind

if TYPE_CHECKING:
    from remembrancer.integrations.langgraph.nodes import MemoryResolver


class RememberedState(AgentState[Any]):
    """The state of an agent with the note of the run in progress, which no checkpoint has."""

    memory_note: NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[RememberedState, Any, Any]):
    """Recalls once before the agent's models run, and learns from the messages afterwards.

    The note is part of the system message of each request, after the agent's own prompt, and not a
    message of the thread. `tools` are offered to the model, such as those of `memory_tools`.
    """

    state_schema = RememberedState

    def __init__(
        self,
        memory_of: MemoryResolver,
        *,
        tools: Sequence[BaseTool] = (),
        limit: int = 5,
        budget: int = 1000,
        scope: str | None = None,
        kinds: Sequence[Kind | str] | None = None,
        minimum_importance: float | None = None,
    ) -> None:
        check_resolver(memory_of)
        self.tools = tools
        self._memory_of = memory_of
        self._scope = scope
        self._options = NoteOptions(limit, budget, scope, kinds, minimum_importance)

    def before_agent(self, state: RememberedState, runtime: Runtime[Any]) -> dict[str, Any]:
        return self._recall(state, get_config())

    async def abefore_agent(self, state: RememberedState, runtime: Runtime[Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self._recall, state, get_config())

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._add_note(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(await asyncio.to_thread(self._add_note, request))

    def after_agent(self, state: RememberedState, runtime: Runtime[Any]) -> None:
        self._learn(state, get_config())

    async def aafter_agent(self, state: RememberedState, runtime: Runtime[Any]) -> None:
        await asyncio.to_thread(self._learn, state, get_config())

    def _recall(self, state: RememberedState, config: RunnableConfig) -> dict[str, Any]:
        get_thread(config)  # refuses a run that could not be learned from
        return {"memory_note": self._write_note(state, config)}

    def _write_note(self, state: AgentState[Any], config: RunnableConfig) -> str:
        memory, thread = self._memory_of(config), get_thread(config)
        return write_note(memory, read_messages(state), self._options, thread)

    def _learn(self, state: RememberedState, config: RunnableConfig) -> None:
        memory = self._memory_of(config)
        learn_messages(memory, config, read_messages(state), scope=self._scope)

    def _add_note(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        note = request.state.get("memory_note")
        if not isinstance(note, str):  # a run that goes on after an interrupt
            note = self._write_note(request.state, get_config())
        return _join_note(request, note) if note else request


def _join_note(request: ModelRequest[Any], note: str) -> ModelRequest[Any]:
    prompt = [request.system_message] if request.system_message else []
    (merged,) = merge_system_messages([*prompt, SystemMessage(note, name=NOTE_NAME)])
    assert isinstance(merged, SystemMessage)
    return request.override(system_message=merged)
