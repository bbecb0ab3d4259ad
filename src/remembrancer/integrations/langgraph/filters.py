"""Which items and namespaces are meant, by LangGraph's filters and conditions. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph.store.base import ListNamespacesOp, MatchCondition

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.items import Namespace, normalise_labels

ORDER_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has all that a filter asks for."""
    return all(
        _matches_value(_get_path(value, path), asked) for path, asked in (wanted or {}).items()
    )


def select_namespaces(namespaces: Iterable[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """The namespaces that are asked for, in order, cut off at the depth and to the page."""
    conditions = op.match_conditions or ()
    found = {
        one[: op.max_depth]
        for one in namespaces
        if all(_matches_condition(one, condition) for condition in conditions)
    }
    return sorted(found)[op.offset : op.offset + op.limit]


def _get_path(value: Any, path: str) -> Any:
    """What is under a name, or under the names between the dots."""
    if not isinstance(value, Mapping):
        return None
    if path in value or "." not in path:
        return value.get(path)
    name, _, rest = path.partition(".")
    return _get_path(value.get(name), rest)


def _matches_value(held: Any, asked: Any) -> bool:
    match asked:
        case dict() if any(name.startswith("$") for name in asked):
            return all(_matches_operator(held, name, with_) for name, with_ in asked.items())
        case dict():
            return isinstance(held, Mapping) and all(
                _matches_value(held.get(name), inner) for name, inner in asked.items()
            )
        case list() | tuple():
            return (
                isinstance(held, list | tuple)
                and len(held) == len(asked)
                and all(map(_matches_value, held, asked))
            )
        case _:
            # In JSON, true is not one.
            return bool(held == asked) and isinstance(held, bool) == isinstance(asked, bool)


def _matches_operator(held: Any, name: str, asked: Any) -> bool:
    if name == "$eq":
        return _matches_value(held, asked)
    if name == "$ne":
        return not _matches_value(held, asked)
    if name not in ORDER_OPERATORS:
        raise InvalidInput(f"A filter knows $eq, $ne, {', '.join(ORDER_OPERATORS)}, not {name}.")
    return _are_comparable(held, asked) and ORDER_OPERATORS[name](held, asked)


def _are_comparable(one: Any, other: Any) -> bool:
    """Whether one can be more than the other: two numbers, or two texts."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers or (isinstance(one, str) and isinstance(other, str))


def _matches_condition(namespace: Namespace, condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as asked; a star stands for any one label."""
    path = normalise_labels(condition.path)
    if len(path) > len(namespace):
        return False
    is_prefix = condition.match_type == "prefix"
    part = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return all(asked in ("*", label) for asked, label in zip(path, part, strict=True))
