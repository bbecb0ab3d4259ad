"""Nodes of a graph: recall before the model speaks, learn afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.shared_store import SURFACE, get_person
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
"""The name of the system message that tells what is remembered."""

ROLE_BY_MESSAGE_TYPE = {"human": "user", "ai": "assistant", "tool": "tool"}


def of_run(people: Remembrancer) -> MemoryResolver:
    """Whose memory a run works with: that of the `org_id` and `user_id` it is configured with."""

    def memory_of(config: RunnableConfig) -> MemoryHandle:
        person = get_person(config)
        if person is None:
            raise InvalidInput("Say for whom a graph runs: org_id and user_id, as configurable.")
        org, user = person
        return people.for_user(user, tenant=org, surface=SURFACE)

    return memory_of


def recall_node(
    memory_of: MemoryResolver, *, limit: int = 5, budget: int = 1000
) -> Callable[[Mapping[str, Any], RunnableConfig], StateUpdate]:
    """A node that puts what the latest message brings to mind before the model, as a note.

    The note of an earlier turn is taken away.
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
    """A node that hands over what was said, to be learned from after so many turns or an action.

    How many is the profile's choice; that there was an action is told by a tool's message, or by
    `has_acted`. Every message is handed over once, however often a graph is resumed or branched.
    """

    def learn(state: Mapping[str, Any], config: RunnableConfig) -> StateUpdate:
        memory = memory_of(config)
        session = config["configurable"]["thread_id"]
        heard = {turn.metadata.get("message") for turn in memory.turns(session)}
        said = [
            one for one in to_turns(state["messages"]) if one["metadata"]["message"] not in heard
        ]
        if said:
            memory.learn(said, session)
            if has_acted(state):
                memory.close(session)
        return {}

    return learn


def is_note(message: BaseMessage) -> bool:
    """Whether a message is what we told a model."""
    return message.type == "system" and message.name == NOTE_NAME


def latest_user_text(messages: Sequence[BaseMessage]) -> str:
    """The words of the person that came last."""
    theirs = (one.text.strip() for one in reversed(messages) if one.type == "human")
    return next((text for text in theirs if text), "")[:MAX_QUERY_CHARS]


def to_turns(messages: Sequence[AnyMessage]) -> list[TurnInput]:
    """What was said by someone, in words."""
    return [
        {
            "role": ROLE_BY_MESSAGE_TYPE[one.type],
            "content": one.text,
            "metadata": {"message": one.id},
        }
        for one in messages
        if one.type in ROLE_BY_MESSAGE_TYPE and one.text.strip()
    ]
