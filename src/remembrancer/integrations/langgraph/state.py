"""The state of an assistant's graph, and how what parallel nodes say of it comes together. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

Value = TypeVar("Value")


def take_latest(_: Value, new: Value) -> Value:
    """What is new replaces what was."""
    return new


def merge_by_id(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Any]:
    """One entry for each id, at the place of the first and as the last one says."""
    return list({one["id"]: one for one in (*old, *new)}.values())


def merge_deep(old: Any, new: Any) -> Any:
    """Mappings by their keys, however deep; lists with what they lack; else what is new."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        both = {key: merge_deep(old[key], new[key]) for key in old.keys() & new.keys()}
        return {**old, **new, **both}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(one for one in new if one not in old)]
    return new


class AssistantState(TypedDict, total=False):
    """What a conversation's graph knows: messages append, a plan is replaced, results merge."""

    messages: Annotated[list[AnyMessage], add_messages]
    plan: Annotated[list[dict[str, Any]], take_latest]
    previews: Annotated[list[dict[str, Any]], merge_by_id]
    artifacts: Annotated[dict[str, Any], merge_deep]
