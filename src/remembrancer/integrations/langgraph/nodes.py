"""Graph nodes that recall before the model runs and learn afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from remembrancer.integrations.langgraph.run_person import (
    SURFACE,
    PersonOf,
    named_person,
    read_run,
    require_person,
)
from remembrancer.recall.filters import MAX_QUERY_CHARS
from remembrancer.recall.prompt_block import BlockLayout, PromptEntry, build_block
from remembrancer.recall.prompt_lines import render_memory
from remembrancer.sessions.turns import TurnInput

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory

    MemoryHandle = Memory | RemoteMemory
    MemoryResolver = Callable[[RunnableConfig], MemoryHandle]

StateUpdate = dict[str, Any]
NOTE_NAME = "memory"
"""Name of the system message with the recalled memories."""

ROLE_BY_MESSAGE_TYPE = {"human": "user", "ai": "assistant", "tool": "tool"}


def of_run(people: Remembrancer, *, person_of: PersonOf = named_person) -> MemoryResolver:
    """Return a resolver for the memory of the person that a run is for."""

    def memory_of(config: RunnableConfig) -> MemoryHandle:
        person = require_person(read_run(config), people.settings.tenant, person_of)
        return people.for_user(person.user, tenant=person.tenant, surface=SURFACE)

    return memory_of


def recall_node(
    memory_of: MemoryResolver, *, limit: int = 5, budget: int = 1000
) -> Callable[[Mapping[str, Any], RunnableConfig], StateUpdate]:
    """Return a node that adds a note with the memories that fit the latest user message.

    It removes the note of the previous turn.
    """

    def recall(state: Mapping[str, Any], config: RunnableConfig) -> StateUpdate:
        messages: Sequence[BaseMessage] = state["messages"]
        earlier = [RemoveMessage(id=one.id or "") for one in messages if is_note(one)]
        query = latest_user_text(messages)
        found = memory_of(config).recall(query, limit=limit) if query else ()
        entries = [PromptEntry(one.memory.id, render_memory(one.memory)) for one in found]
        note = build_block(
            BlockLayout("## What you remember about this user"), entries, budget
        ).text
        return {"messages": [*earlier, *([SystemMessage(note, name=NOTE_NAME)] if note else [])]}

    return recall


def learn_node(
    memory_of: MemoryResolver, *, has_acted: Callable[[Mapping[str, Any]], bool] = lambda _: False
) -> Callable[[Mapping[str, Any], RunnableConfig], StateUpdate]:
    """Return a node that stores the messages, to learn from after some turns or an action.

    The profile sets the number of turns. An action is a tool message, or `has_acted` returning
    True. Each message is stored once, however often a graph is resumed or branched.
    """

    def learn(state: Mapping[str, Any], config: RunnableConfig) -> StateUpdate:
        memory = memory_of(config)
        session = config["configurable"]["thread_id"]
        stored = {turn.metadata.get("message") for turn in memory.turns(session)}
        new = [
            one for one in to_turns(state["messages"]) if one["metadata"]["message"] not in stored
        ]
        if new:
            memory.learn(new, session)
            if has_acted(state):
                memory.close(session)
        return {}

    return learn


def is_note(message: BaseMessage) -> bool:
    """True if a message was added by `recall_node`."""
    return message.type == "system" and message.name == NOTE_NAME


def latest_user_text(messages: Sequence[BaseMessage]) -> str:
    texts = (one.text.strip() for one in reversed(messages) if one.type == "human")
    return next((text for text in texts if text), "")[:MAX_QUERY_CHARS]


def to_turns(messages: Sequence[AnyMessage]) -> list[TurnInput]:
    return [
        {
            "role": ROLE_BY_MESSAGE_TYPE[one.type],
            "content": one.text,
            "metadata": {"message": one.id},
        }
        for one in messages
        if one.type in ROLE_BY_MESSAGE_TYPE and one.text.strip()
    ]
