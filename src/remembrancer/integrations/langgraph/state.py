"""The state of an assistant's graph, with reducers for parallel nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

Value = TypeVar("Value")


def take_latest(_: Value, new: Value) -> Value:
    return new


def merge_by_id(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return one entry for each id: the last one, at the position of the first."""
    return list({one["id"]: one for one in (*old, *new)}.values())


def merge_deep(old: Any, new: Any) -> Any:
    """Merge mappings recursively and lists without duplicates; otherwise return `new`."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        both = {key: merge_deep(old[key], new[key]) for key in old.keys() & new.keys()}
        return {**old, **new, **both}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(one for one in new if one not in old)]
    return new


class AssistantState(TypedDict, total=False):
    """The state of a conversation: messages append, a plan is replaced, results merge."""

    messages: Annotated[list[AnyMessage], add_messages]
    plan: Annotated[list[dict[str, Any]], take_latest]
    previews: Annotated[list[dict[str, Any]], merge_by_id]
    artifacts: Annotated[dict[str, Any], merge_deep]
