"""Checks named values against the types that a signature gives them, before they are used."""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from remembrancer.errors import InvalidInput

ItemT = TypeVar("ItemT")

PLAIN_TYPES: Mapping[type, tuple[type, str]] = {
    bool: (bool, "true or false"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "text"),
    datetime: (datetime, "a datetime"),
}
"""What counts as a value of a type, and what it is called."""

MAX_ITEMS = 100
"""How many values a list may have."""

UNLIMITED = ("evidence",)
"""Lists that no caller writes by hand."""


def check_options(given: Mapping[str, object], known: type) -> None:
    """Raise InvalidInput for an option that `known` has not, or with a value of another type."""
    hints = _get_hints(known)
    for name, value in given.items():
        if name not in hints:
            close = difflib.get_close_matches(str(name), hints, 1, 0.5)
            hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(hints)}."
            raise InvalidInput(f"There is no option {name!r}. {hint}")
        if value is not None:
            check_value(name, value, hints[name])


def check_value(name: str, value: object, hint: Any) -> None:
    """Raise InvalidInput unless a value has the type; types that are not plain are not checked."""
    if _is_iterable(value) and isinstance(value, Collection) and name not in UNLIMITED:
        _check_length(name, value)
    if _matches(value, hint):
        return
    if isinstance(value, str) and any(_is_list(one) for one in _list_alternatives(hint)):
        raise InvalidInput(f"{name} must be a list: pass [{value!r}].")
    raise InvalidInput(f"{name} must be {_describe(hint)}, not {value!r}.")


def collect_items(name: str, values: Iterable[ItemT]) -> tuple[ItemT, ...]:
    """The values of a list; raises InvalidInput if there are too many, also from a generator."""
    found = tuple(islice(values, MAX_ITEMS + 1))
    _check_length(name, found)
    return found


def _check_length(name: str, value: Collection[object]) -> None:
    if len(value) > MAX_ITEMS:
        raise InvalidInput(f"{name} has too many values: at most {MAX_ITEMS}.")


@cache
def _get_hints(known: type) -> Mapping[str, Any]:
    return get_type_hints(known)


def _matches(value: object, hint: Any) -> bool:
    return any(_matches_one(value, one) for one in _list_alternatives(hint))


def _matches_one(value: object, hint: Any) -> bool:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return value in get_args(hint)
    if kind is Callable:
        return callable(value)
    if _is_list(hint):
        return _is_iterable(value) and (
            not isinstance(value, Collection)
            or all(_matches(one, get_args(hint)[0]) for one in value)
        )
    if kind is Mapping or is_typeddict(kind):
        return isinstance(value, Mapping)
    if kind in PLAIN_TYPES:
        is_number = kind in (int, float)
        return isinstance(value, PLAIN_TYPES[kind][0]) and not (
            is_number and isinstance(value, bool)
        )
    if kind is type(None):
        return value is None
    return not _is_enum(kind)


def _list_alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is_list(hint: Any) -> bool:
    kind = get_origin(hint)
    return isinstance(kind, type) and issubclass(kind, Iterable) and kind is not Mapping


def _is_iterable(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _describe(hint: Any) -> str:
    told = (_describe_one(one) for one in _list_alternatives(hint) if one is not type(None))
    return " or ".join(dict.fromkeys(filter(None, told)))


def _describe_one(hint: Any) -> str:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if kind is Callable:
        return "a function"
    if _is_list(hint):
        inner = _describe(get_args(hint)[0])
        return f"a list of {inner}" if inner else "a list"
    if kind is Mapping or is_typeddict(kind):
        return "a mapping"
    return PLAIN_TYPES[kind][1] if kind in PLAIN_TYPES else ""
