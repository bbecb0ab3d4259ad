"""Matches items and namespaces against the filters and conditions of LangGraph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph.store.base import ListNamespacesOp, MatchCondition

from remembrancer.integrations.langgraph.items import Namespace, normalise_labels
from remembrancer.integrations.langgraph.misuse import InvalidItem

ORDER_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}

OPERATORS = ("$eq", "$ne", "$in", *ORDER_OPERATORS)


def check_filter(filter: object) -> None:
    """Raise InvalidItem for a filter that cannot be meant."""
    if filter is None:
        return
    if not isinstance(filter, Mapping):
        raise InvalidItem(f"The filter must be a mapping from fields to values, not {filter!r}.")
    for name, expected in filter.items():
        if not isinstance(name, str):
            raise InvalidItem(f"A field of the filter must be text, not {name!r}.")
        if name.startswith("$") and name not in OPERATORS:
            raise InvalidItem(f"Filters have {', '.join(OPERATORS)}, not {name}.")
        if name == "$in" and not isinstance(expected, list | tuple | set | frozenset):
            raise InvalidItem(f"$in must be a list of values: pass [{expected!r}].")
        for inner in expected if isinstance(expected, list | tuple) else (expected,):
            if isinstance(inner, Mapping):
                check_filter(inner)


def matches_filter(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    return all(
        _matches_value(_get_path(value, path), expected)
        for path, expected in (filter or {}).items()
    )


def select_namespaces(namespaces: Iterable[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """Return one page of the matching namespaces, sorted and cut at the maximum depth."""
    conditions = op.match_conditions or ()
    found = {
        one[: op.max_depth]
        for one in namespaces
        if all(_matches_condition(one, condition) for condition in conditions)
    }
    return sorted(found)[op.offset : op.offset + op.limit]


def _get_path(value: Any, path: str) -> Any:
    """Return the value under a key, or under a dotted path."""
    if not isinstance(value, Mapping):
        return None
    if path in value or "." not in path:
        return value.get(path)
    name, _, rest = path.partition(".")
    return _get_path(value.get(name), rest)


def _matches_value(value: Any, expected: Any) -> bool:
    match expected:
        case dict() if any(name.startswith("$") for name in expected):
            return all(
                _matches_operator(value, name, operand) for name, operand in expected.items()
            )
        case dict():
            return isinstance(value, Mapping) and all(
                _matches_value(value.get(name), inner) for name, inner in expected.items()
            )
        case list() | tuple():
            return (
                isinstance(value, list | tuple)
                and len(value) == len(expected)
                and all(map(_matches_value, value, expected))
            )
        case _:
            # In JSON, true is not one.
            return bool(value == expected) and isinstance(value, bool) == isinstance(expected, bool)


def _matches_operator(value: Any, name: str, expected: Any) -> bool:
    if name == "$eq":
        return _matches_value(value, expected)
    if name == "$ne":
        return not _matches_value(value, expected)
    if name == "$in":
        return any(_matches_value(value, one) for one in expected)
    return _are_comparable(value, expected) and ORDER_OPERATORS[name](value, expected)


def _are_comparable(one: Any, other: Any) -> bool:
    """True for two numbers or two strings."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers or (isinstance(one, str) and isinstance(other, str))


def _matches_condition(namespace: Namespace, condition: MatchCondition) -> bool:
    """True if a namespace has the prefix or suffix; `*` matches any one label."""
    path = normalise_labels(condition.path)
    if len(path) > len(namespace):
        return False
    is_prefix = condition.match_type == "prefix"
    part = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return all(expected in ("*", label) for expected, label in zip(path, part, strict=True))
