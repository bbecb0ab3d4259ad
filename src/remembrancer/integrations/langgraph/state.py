"""The state of an assistant's graph, with reducers for parallel nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from remembrancer.errors import InvalidInput

Value = TypeVar("Value")


def take_latest(_: Value, new: Value) -> Value:
    return new


def merge_by_id(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return one entry for each `actionId` or `id`: the last one, at the position of the first."""
    return list({_get_id(one): one for one in (*old, *new)}.values())


def merge_deep(old: Any, new: Any) -> Any:
    """Merge mappings recursively and lists without duplicates; otherwise return `new`."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        both = {key: merge_deep(old[key], new[key]) for key in old.keys() & new.keys()}
        return {**old, **new, **both}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(one for one in new if one not in old)]
    return new


class AssistantState(TypedDict, total=False):
    """The state of a conversation.

    Messages append, previews have one entry for each action, artifacts and the context of the user
    merge, and everything else is replaced.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    plan: Annotated[list[dict[str, Any]], take_latest]
    cursor: Annotated[int, take_latest]
    previews: Annotated[list[dict[str, Any]], merge_by_id]
    approvals: Annotated[dict[str, Any], take_latest]
    artifacts: Annotated[dict[str, Any], merge_deep]
    intent: Annotated[str, take_latest]
    kb: Annotated[list[Any], take_latest]
    userContext: Annotated[dict[str, Any], merge_deep]


def _get_id(entry: object) -> Any:
    if isinstance(entry, Mapping):
        for name in ("actionId", "id"):
            if isinstance(entry.get(name), str | int):
                return entry[name]
    raise InvalidInput(
        "A preview needs an actionId or an id, text or a number, so that a later one can "
        "replace it."
    )
