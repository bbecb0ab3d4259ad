"""Reads the messages of a graph's state, and joins notes with the system prompt of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    MessageLikeRepresentation,
    SystemMessage,
    convert_to_messages,
)

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.stored_messages import identify_message
from remembrancer.recall.filters import MAX_QUERY_CHARS
from remembrancer.sessions.turns import TurnInput

NOTE_NAME = "memory"
"""Name of the system message with the recalled memories."""

ROLE_BY_MESSAGE_TYPE = {"human": "user", "ai": "assistant", "tool": "tool"}


def read_messages(state: Any) -> list[BaseMessage]:
    """Return the messages of a state, which can also be dictionaries or pairs."""
    messages = (
        state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    )
    if messages is None:
        raise InvalidInput("The graph's state has no messages: give it a channel named 'messages'.")
    if isinstance(messages, str):
        messages = [messages]
    try:
        return convert_to_messages(messages)
    except (ValueError, NotImplementedError, TypeError):
        raise InvalidInput(
            "The graph's state has a message that cannot be read: each is a LangChain message "
            'or {"role": "user", "content": "…"}.'
        ) from None


def is_note(message: BaseMessage) -> bool:
    """True if a message was added by `recall_node`."""
    return message.type == "system" and message.name == NOTE_NAME


def latest_user_text(messages: Sequence[BaseMessage]) -> str:
    texts = (one.text.strip() for one in reversed(messages) if one.type == "human")
    return next((text for text in texts if text), "")[:MAX_QUERY_CHARS]


def to_turns(messages: Iterable[BaseMessage]) -> list[TurnInput]:
    """Return what was said as turns, each with what its message is known by."""
    said = (one for one in messages if one.type in ROLE_BY_MESSAGE_TYPE and one.text.strip())
    return [_to_turn(ROLE_BY_MESSAGE_TYPE[one.type], one.text, one.id) for one in said]


def _to_turn(role: str, text: str, message_id: str | None) -> TurnInput:
    metadata = identify_message(role, text, message_id)
    return {"role": role, "content": text, "metadata": metadata}


def merge_system_messages(messages: Iterable[MessageLikeRepresentation]) -> list[BaseMessage]:
    """Return the messages with one system message, for models that accept only one.

    It is the first message. Notes come last in it, so that what a provider caches of the prompt
    before them stays valid.
    """
    given = convert_to_messages([*messages])
    system = sorted((one for one in given if one.type == "system"), key=is_note)
    merged = [_join(system)] if system else []
    return [*merged, *(one for one in given if one.type != "system")]


def _join(messages: Sequence[BaseMessage]) -> SystemMessage:
    """Join the contents, as text if all are text; blocks stay as they are."""
    contents = [one.content for one in messages]
    if all(isinstance(one, str) for one in contents):
        return SystemMessage("\n\n".join(map(str, contents)), id=messages[0].id)
    blocks: list[str | dict[Any, Any]] = []
    for one in contents:
        blocks += [{"type": "text", "text": one}] if isinstance(one, str) else one
    return SystemMessage(blocks, id=messages[0].id)
